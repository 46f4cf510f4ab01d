#define ROUTINE DTRSM
#define NAME    dtrsm
#define REAL    double
#include "compat/triangular_abi.h"
