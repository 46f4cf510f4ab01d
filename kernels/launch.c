#include "kernels/launch.h"

tb_status tb_launch_tiles(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                          void *workspace)
{
    (void)workspace;
    int64_t tiles_m = tb_pieces(problem->m, kernel->tile_m), tiles_n = tb_pieces(problem->n, kernel->tile_n);
    if (tiles_m > TB_BLOCKS_MAXIMUM / tiles_n)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, &kernel->entries[tb_transposition(problem)], tiles_m * tiles_n,
                            kernel->threads, kernel->shared_bytes, problem);
}
