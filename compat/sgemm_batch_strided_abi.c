#define ROUTINE SGEMM_BATCH_STRIDED
#define NAME    sgemm_batch_strided
#define REAL    float
#include "compat/gemm_batch_strided_abi.h"
