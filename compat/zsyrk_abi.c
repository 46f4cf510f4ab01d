#define ROUTINE ZSYRK
#define NAME    zsyrk
#define REAL    double
#define IS_COMPLEX
#include "compat/rank_k_abi.h"
