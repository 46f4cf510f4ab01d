#define ROUTINE SSYMM
#define NAME    ssymm
#define REAL    float
#include "compat/symm_abi.h"
