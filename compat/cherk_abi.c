#define ROUTINE CHERK
#define NAME    cherk
#define REAL    float
#define IS_COMPLEX
#define REAL_SCALARS
#include "compat/rank_k_abi.h"
