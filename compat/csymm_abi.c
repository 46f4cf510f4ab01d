#define ROUTINE CSYMM
#define NAME    csymm
#define REAL    float
#define IS_COMPLEX
#include "compat/symm_abi.h"
