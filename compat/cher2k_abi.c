#define ROUTINE CHER2K
#define NAME    cher2k
#define REAL    float
#define IS_COMPLEX
#define REAL_BETA
#include "compat/rank_2k_abi.h"
