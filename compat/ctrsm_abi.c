#define ROUTINE CTRSM
#define NAME    ctrsm
#define REAL    float
#define IS_COMPLEX
#include "compat/triangular_abi.h"
