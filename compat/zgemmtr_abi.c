#define ROUTINE ZGEMMTR
#define NAME    zgemmtr
#define REAL    double
#define IS_COMPLEX
#include "compat/triangle_abi.h"
