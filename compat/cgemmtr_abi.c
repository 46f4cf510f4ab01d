#define ROUTINE CGEMMTR
#define NAME    cgemmtr
#define REAL    float
#define IS_COMPLEX
#include "compat/triangle_abi.h"
