#define ROUTINE DGEMMT
#define NAME    dgemmt
#define REAL    double
#include "compat/triangle_abi.h"
