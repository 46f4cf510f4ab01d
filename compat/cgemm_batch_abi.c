#define ROUTINE CGEMM_BATCH
#define NAME    cgemm_batch
#define REAL    float
#define IS_COMPLEX
#include "compat/gemm_batch_abi.h"
