#define ROUTINE SGEMM
#define NAME    sgemm
#define REAL    float
#include "compat/gemm_abi.h"
