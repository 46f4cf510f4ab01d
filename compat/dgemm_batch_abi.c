#define ROUTINE DGEMM_BATCH
#define NAME    dgemm_batch
#define REAL    double
#include "compat/gemm_batch_abi.h"
