/* What the launch function passes to copy_pitched. Shared by C and CUDA. */
#ifndef TB_COPY_PITCHED_H
#define TB_COPY_PITCHED_H

#include <stdint.h>

/* A strip is up to 32 neighbours of a column, one for each lane; a warp copies so many. */
#define TB_COPY_STRIPS  8
#define TB_COPY_THREADS 256

typedef struct tb_copy_arguments {
    const float *from;
    float *to;
    int64_t from_ld, to_ld; /* distance between columns, in floats */
    int64_t rows, columns;
    int64_t strips; /* of a column */
} tb_copy_arguments;

#endif
