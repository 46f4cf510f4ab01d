#define ROUTINE DGEMM
#define NAME    dgemm
#define REAL    double
#include "compat/gemm_abi.h"
