#define ROUTINE SGEMMTR
#define NAME    sgemmtr
#define REAL    float
#include "compat/triangle_abi.h"
