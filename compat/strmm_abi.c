#define ROUTINE STRMM
#define NAME    strmm
#define REAL    float
#include "compat/triangular_abi.h"
