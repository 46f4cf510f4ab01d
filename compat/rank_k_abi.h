/* SYRK and HERK: updates by one matrix. Included once for each routine by a file of its own. */
#define OF_B(...)
#define OPERANDS a, a, c

#include "compat/update_abi.h"
