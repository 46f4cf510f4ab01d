#define ROUTINE ZTRSM
#define NAME    ztrsm
#define REAL    double
#define IS_COMPLEX
#include "compat/triangular_abi.h"
