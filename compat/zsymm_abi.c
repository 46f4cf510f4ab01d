#define ROUTINE ZSYMM
#define NAME    zsymm
#define REAL    double
#define IS_COMPLEX
#include "compat/symm_abi.h"
