#define ROUTINE ZGEMM_BATCH
#define NAME    zgemm_batch
#define REAL    double
#define IS_COMPLEX
#include "compat/gemm_batch_abi.h"
