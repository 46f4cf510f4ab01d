/* What all ways of cutting ask of a tiling: how wide a swath is worth its launch, and whether there is room. */
#include "dispatch/cut_room.h"

#include "dispatch/part_schedules.h"
#include "dispatch/plan.h"
#include "words/integers.h"

/* Multiply-adds of a swath: 60 to 160 microseconds on an H200. */
#define SWATH_VOLUME_LEAST INT64_C(4000000000)

int64_t tb_blocks_at_a_time(const tb_budget *budget)
{
    return (int64_t)budget->chip->multiprocessors * tb_larger(budget->kernel->blocks, 1);
}

int64_t tb_choose_swath(const tb_budget *budget, int64_t rows, int64_t columns, int64_t k)
{
    const tb_kernel *kernel = budget->kernel;
    int64_t tiles = tb_larger(tb_blocks_at_a_time(budget) / tb_ceil_div(rows, kernel->tile_m), 1);
    tiles = tb_larger(tiles, tb_ceil_div(tb_ceil_div(columns, TB_SWATHS_MAXIMUM), kernel->tile_n));
    tiles = tb_larger(tiles, SWATH_VOLUME_LEAST / tb_larger(rows * k, 1) / kernel->tile_n);
    return tb_smaller(tiles * kernel->tile_n, columns);
}

double tb_tiling_needs(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    return tb_tiling_bytes(product, tiling) + tb_nominal_workspace(product, tiling, budget);
}

bool tb_tiling_fits(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    return tb_tiling_bytes(product, tiling) <= budget->bytes &&
           tb_tiling_needs(budget, product, tiling) <= budget->bytes;
}
