#define ROUTINE DSYMM
#define NAME    dsymm
#define REAL    double
#include "compat/symm_abi.h"
