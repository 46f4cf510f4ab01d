#define ROUTINE SSYRK
#define NAME    ssyrk
#define REAL    float
#include "compat/rank_k_abi.h"
