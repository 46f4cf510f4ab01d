#define ROUTINE ZGEMM_BATCH_STRIDED
#define NAME    zgemm_batch_strided
#define REAL    double
#define IS_COMPLEX
#include "compat/gemm_batch_strided_abi.h"
