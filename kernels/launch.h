/* Launch functions that catalog rows share. */
#ifndef TB_LAUNCH_H
#define TB_LAUNCH_H

#include "kernels/catalog.h"

/* gridDim.x of every architecture served. */
#define TB_BLOCKS_MAXIMUM INT64_C(0x7fffffff)

/* One block per tile of C, in a one-dimensional grid: the kernel itself maps blocks to tiles. */
tb_status tb_launch_tiles(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                          void *workspace);

/* A cluster that every device with clusters runs. */
#define TB_CLUSTER_BLOCKS_MAXIMUM 8

/* So many blocks, in clusters of `cluster`, certainly run at a time where `blocks` fit a multiprocessor. */
int64_t tb_blocks_in_clusters(int cluster, int blocks, int multiprocessors);

#endif
