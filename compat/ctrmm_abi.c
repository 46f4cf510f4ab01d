#define ROUTINE CTRMM
#define NAME    ctrmm
#define REAL    float
#define IS_COMPLEX
#include "compat/triangular_abi.h"
