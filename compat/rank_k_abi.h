/* SYRK and HERK: updates by one matrix. Included once for each routine by a file that the build writes. */
#define OF_B(...)
#define OPERANDS a, a, c

#include "compat/update_abi.h"
