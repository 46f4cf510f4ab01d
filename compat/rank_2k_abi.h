/* SYR2K and HER2K: updates by two matrices. Included once for each routine by a file of its own. */
#define OF_B(...) __VA_ARGS__
#define OPERANDS  a, b, c

#include "compat/update_abi.h"
