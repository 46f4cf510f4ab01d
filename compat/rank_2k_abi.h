/* SYR2K and HER2K: updates by two matrices. Included once for each routine by a file of its own. */
#define OF_B(...)         __VA_ARGS__
#define OPERANDS          a, b, c
#define update_of_cblas   tb_rank_2k_of_cblas
#define update_of_fortran tb_rank_2k_of_fortran

#include "compat/update_abi.h"
