#define ROUTINE CGEMM
#define NAME    cgemm
#define REAL    float
#define IS_COMPLEX
#include "compat/gemm_abi.h"
