#define ROUTINE CHEMM
#define NAME    chemm
#define REAL    float
#define IS_COMPLEX
#include "compat/symm_abi.h"
