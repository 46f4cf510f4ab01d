/* SYRK and HERK: updates by one matrix. Included once for each routine by a file of its own. */
#define OF_B(...)
#define OPERANDS          a, a, c
#define update_of_cblas   tb_rank_k_of_cblas
#define update_of_fortran tb_rank_k_of_fortran

#include "compat/update_abi.h"
