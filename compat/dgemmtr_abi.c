#define ROUTINE DGEMMTR
#define NAME    dgemmtr
#define REAL    double
#include "compat/triangle_abi.h"
