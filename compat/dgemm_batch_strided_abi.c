#define ROUTINE DGEMM_BATCH_STRIDED
#define NAME    dgemm_batch_strided
#define REAL    double
#include "compat/gemm_batch_strided_abi.h"
