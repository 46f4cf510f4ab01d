#define ROUTINE SGEMMT
#define NAME    sgemmt
#define REAL    float
#include "compat/triangle_abi.h"
