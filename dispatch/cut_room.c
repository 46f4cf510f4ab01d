/* What all ways of cutting ask of a tiling: how wide a swath is worth its launch, and whether there is room. */
#include "dispatch/cut_room.h"

#include "dispatch/plan.h"
#include "dispatch/schedule.h"
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

static double workspace_by_steps(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    const int64_t count = tb_step_count(product, tiling);
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(product, tiling, i);
        for (int64_t column = 0; column < step.columns.count; column += step.swath_n) {
            const tb_product part = tb_step_part(&step, product, tiling, tb_swath_at(&step, column));
            if (tb_is_masked_out(&part))
                continue;
            const double bytes =
                (double)tb_make_schedule(budget->kernel, &part, tb_target_of(budget->chip)).workspace;
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

/* What the kernel needs beside its operands, for any product that the tiling makes it multiply: smaller ones may need
 * more, where they are shared out. */
static double workspace_bytes(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    if (!tb_has_forecast(budget->kernel))
        return 0;
    tb_tiling complete = *tiling;
    if (tb_depends_on_place(product, tiling))
        return workspace_by_steps(budget, product, tiling);
    if (!tiling->whole)
        complete.swath_n = tb_choose_swath(budget, tiling->band_m, tiling->block_n, tiling->slab_k);
    tb_launch_size sizes[TB_LAUNCH_SIZES];
    const int count = tb_tiling_sizes(product, &complete, sizes);
    double most = 0;
    for (int i = 0; i < count; i++) {
        tb_product part = tb_nominal_subproduct(product, sizes[i].rows, sizes[i].columns, sizes[i].k);
        part.beta = sizes[i].beta;
        const double bytes =
            (double)tb_make_schedule(budget->kernel, &part, tb_target_of(budget->chip)).workspace;
        most = bytes > most ? bytes : most;
    }
    return most;
}

double tb_tiling_needs(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    return tb_tiling_bytes(product, tiling) + workspace_bytes(budget, product, tiling);
}

bool tb_tiling_fits(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling)
{
    return tb_tiling_bytes(product, tiling) <= budget->bytes &&
           tb_tiling_needs(budget, product, tiling) <= budget->bytes;
}
