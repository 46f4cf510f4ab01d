#define ROUTINE ZHEMM
#define NAME    zhemm
#define REAL    double
#define IS_COMPLEX
#include "compat/symm_abi.h"
