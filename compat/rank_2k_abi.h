/* SYR2K and HER2K: updates by two matrices. Included once for each routine by a file that the build writes. */
#define OF_B(...) __VA_ARGS__
#define OPERANDS  a, b, c

#include "compat/update_abi.h"
