#define ROUTINE CGEMM_BATCH_STRIDED
#define NAME    cgemm_batch_strided
#define REAL    float
#define IS_COMPLEX
#include "compat/gemm_batch_strided_abi.h"
