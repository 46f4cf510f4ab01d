#define ROUTINE DTRMM
#define NAME    dtrmm
#define REAL    double
#include "compat/triangular_abi.h"
