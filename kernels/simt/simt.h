/* What the SIMT family's launch functions pass to its kernels. Shared by C and CUDA. */
#ifndef TB_SIMT_H
#define TB_SIMT_H

#include "lib/problem.h"

/* Batches lie stride elements apart. The product along k is cut into splits pieces of chunk steps of k each
 * (the last may be shorter); with more than one, a split writes its plain sum of products to
 * partial[split][n][m] and sgemm_simt_reduce makes C of them, always adding in the order of the splits. */
typedef struct tb_simt_arguments {
    tb_problem problem;
    int64_t stride_a, stride_b, stride_c;
    int64_t chunk;
    float *partial;
    int32_t batches, splits;
} tb_simt_arguments;

#endif
