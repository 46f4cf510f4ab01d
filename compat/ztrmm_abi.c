#define ROUTINE ZTRMM
#define NAME    ztrmm
#define REAL    double
#define IS_COMPLEX
#include "compat/triangular_abi.h"
