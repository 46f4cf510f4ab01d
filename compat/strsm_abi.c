#define ROUTINE STRSM
#define NAME    strsm
#define REAL    float
#include "compat/triangular_abi.h"
