#define ROUTINE DSYR2K
#define NAME    dsyr2k
#define REAL    double
#include "compat/rank_2k_abi.h"
