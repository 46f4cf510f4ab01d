#define ROUTINE CGEMMT
#define NAME    cgemmt
#define REAL    float
#define IS_COMPLEX
#include "compat/triangle_abi.h"
