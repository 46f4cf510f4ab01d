#define ROUTINE ZGEMM
#define NAME    zgemm
#define REAL    double
#define IS_COMPLEX
#include "compat/gemm_abi.h"
