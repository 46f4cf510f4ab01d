#define ROUTINE SSYR2K
#define NAME    ssyr2k
#define REAL    float
#include "compat/rank_2k_abi.h"
