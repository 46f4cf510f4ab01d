#define ROUTINE ZGEMMT
#define NAME    zgemmt
#define REAL    double
#define IS_COMPLEX
#include "compat/triangle_abi.h"
