/* Launching the SIMT family. */
#ifndef TB_LAUNCH_SIMT_H
#define TB_LAUNCH_SIMT_H

#include "kernels/catalog.h"

/* Position in a row's entries of the kernels that copy 16 bytes at a time; those before take any address. */
#define TB_SIMT_VECTOR 4

/* A stage holds both panels, their rows padded by 4 floats. */
#define TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k)                                                          \
    ((tile_k) * ((tile_m) + (tile_n) + 8) * (int)sizeof(float))

int tb_simt_splits(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors);
size_t tb_simt_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem);
tb_status tb_launch_simt(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                         void *workspace);

/* batches products of the same shape whose operands lie the strides apart, in elements; one launch (and one
 * for the second pass where k is split). The workspace is that of a single product times batches. */
tb_status tb_launch_simt_batched(const tb_launcher *launcher, const tb_kernel *kernel,
                                 const tb_problem *problem, int32_t batches, int64_t stride_a,
                                 int64_t stride_b, int64_t stride_c, void *workspace);

#endif
