#define ROUTINE ZHERK
#define NAME    zherk
#define REAL    double
#define IS_COMPLEX
#define REAL_SCALARS
#include "compat/rank_k_abi.h"
