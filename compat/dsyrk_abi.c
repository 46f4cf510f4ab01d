#define ROUTINE DSYRK
#define NAME    dsyrk
#define REAL    double
#include "compat/rank_k_abi.h"
