/* Launch functions that catalog rows share. */
#ifndef TB_LAUNCH_H
#define TB_LAUNCH_H

#include "kernels/catalog.h"

/* gridDim.x of every architecture served. */
#define TB_BLOCKS_MAXIMUM INT64_C(0x7fffffff)

/* One block per tile of C, in a one-dimensional grid: the kernel itself maps blocks to tiles. */
tb_status tb_launch_tiles(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                          void *workspace);

/* So many clusters of so many blocks run at a time where `blocks` fit a multiprocessor. Where the device's are not known, as few
 * as on any device. */
int64_t tb_clusters_at_a_time(int cluster, int blocks, tb_target target);

#endif
