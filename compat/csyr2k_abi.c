#define ROUTINE CSYR2K
#define NAME    csyr2k
#define REAL    float
#define IS_COMPLEX
#include "compat/rank_2k_abi.h"
