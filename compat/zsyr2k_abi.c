#define ROUTINE ZSYR2K
#define NAME    zsyr2k
#define REAL    double
#define IS_COMPLEX
#include "compat/rank_2k_abi.h"
