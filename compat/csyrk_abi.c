#define ROUTINE CSYRK
#define NAME    csyrk
#define REAL    float
#define IS_COMPLEX
#include "compat/rank_k_abi.h"
