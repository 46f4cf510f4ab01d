#define ROUTINE SGEMM_BATCH
#define NAME    sgemm_batch
#define REAL    float
#include "compat/gemm_batch_abi.h"
