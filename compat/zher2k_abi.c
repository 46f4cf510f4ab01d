#define ROUTINE ZHER2K
#define NAME    zher2k
#define REAL    double
#define IS_COMPLEX
#define REAL_BETA
#include "compat/rank_2k_abi.h"
