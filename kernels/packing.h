/* How unpack is launched. */
#ifndef TB_KERNELS_PACKING_H
#define TB_KERNELS_PACKING_H

#include "lib/packed.h"

#define TB_UNPACK_THREADS 256

#endif
