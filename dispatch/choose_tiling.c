/* Which tiling a product gets: everything on the device (cut_whole.c), or else blocks of C that fit. */
#include "dispatch/cut_room.h"
#include "dispatch/plan.h"
#include "words/integers.h"

/* A slab of about this size keeps the link and the device busy, and is little to wait for at the start. */
#define SLAB_BYTES ((int64_t)64 << 20)
/* Each slab makes the kernel read and write C once more: 1024 steps of k outweigh that twenty to one on an H200. */
#define SLAB_K_LEAST 1024
#define SLAB_K_MOST  2048
/* So many slabs at least, where k allows it, or there is nothing to overlap. */
#define SLABS_LEAST 4

/* Slabs on the device when not all of them fit: one multiplied, one loaded, one to spare. */
#define RING 3

/* Products with fewer multiply-adds are over before a second block could overlap with the first. */
#define TWO_BLOCKS_VOLUME 1e9

/* Blocks are not cut finer than this, and only at multiples of it: where an operand lies on the device already,
 * its parts stay as aligned as it is. */
#define BLOCK_LEAST 16

static int64_t choose_slab(const tb_product *product)
{
    int64_t k = tb_larger(product->k, 1);
    int64_t slab = SLAB_BYTES / ((int64_t)tb_bytes_of(tb_element_of(product)) * (product->m + product->n));
    slab = tb_smaller(tb_larger(slab, SLAB_K_LEAST), SLAB_K_MOST);
    return tb_smaller(tb_round_up(tb_smaller(slab, tb_ceil_div(k, SLABS_LEAST)), TB_SLAB_K_MULTIPLE), k);
}

/* With all_of_a, A's slabs stay for the blocks to the right; otherwise they are loaded for each block anew, as B's are. */
static void set_block(const tb_product *product, int64_t block_m, int64_t block_n, bool all_of_a,
                      int64_t ring, const tb_budget *budget, tb_tiling *tiling)
{
    tiling->slabs = tb_ceil_div(tb_larger(product->k, 1), tiling->slab_k);
    tiling->block_m = tiling->band_m = block_m;
    tiling->block_n = block_n;
    tiling->next_n = block_n;
    tiling->swath_n = tiling->next_swath_n = tb_choose_swath(budget, block_m, block_n, tiling->slab_k);
    tiling->ring_b = tb_smaller(ring, tiling->slabs);
    tiling->ring_a = all_of_a ? tiling->slabs : tiling->ring_b;
    tiling->ring_c = block_n < product->n ? 2 : 1;
}

/* Halves what is larger until the tiling fits; with all_of_a, A's rows are the last to be given up. */
static bool shrink(const tb_product *product, int64_t block_m, int64_t block_n, bool all_of_a,
                   const tb_budget *budget, tb_tiling *tiling)
{
    for (;;) {
        set_block(product, block_m, block_n, all_of_a, RING, budget, tiling);
        if (tb_tiling_fits(budget, product, tiling))
            return true;
        if (block_n > BLOCK_LEAST && (all_of_a || block_n >= block_m))
            block_n = tb_round_up(tb_ceil_div(block_n, 2), BLOCK_LEAST);
        else if (block_m > BLOCK_LEAST)
            block_m = tb_round_up(tb_ceil_div(block_m, 2), BLOCK_LEAST);
        else
            return false;
    }
}

/* The better of keeping A and loading it again for every block, with slabs of the given size. */
static bool choose_blocks(const tb_product *product, int64_t block_m, int64_t block_n,
                          const tb_budget *budget, tb_tiling *tiling)
{
    tb_tiling kept = *tiling, reloaded = *tiling;
    bool keeps = shrink(product, block_m, block_n, true, budget, &kept);
    bool reloads = shrink(product, block_m, block_n, false, budget, &reloaded);
    if (keeps && (!reloads || tb_tiling_traffic(product, &kept) <= tb_tiling_traffic(product, &reloaded)))
        *tiling = kept;
    else
        *tiling = reloaded;
    return keeps || reloads;
}

bool tb_choose_tiling(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    const tb_kernel *kernel = budget->kernel;
    const int64_t rows_most = tb_in_slot(budget, product);
    if (product->in_place != TB_OUT_OF_PLACE)
        return tb_cut_in_place(product, budget, tiling);
    if (tb_cut_whole(product, budget, tiling))
        return true;
    *tiling = (tb_tiling){.slab_k = choose_slab(product)};
    const bool in_one = tb_volume(product) < TWO_BLOCKS_VOLUME || tb_has_one_operand(product);
    int64_t blocks = in_one ? 1 : 2;
    int64_t block_m = tb_smaller(product->m, rows_most);
    int64_t block_n = tb_smaller(tb_round_up(tb_ceil_div(product->n, blocks), kernel->tile_n), product->n);
    block_n = tb_smaller(block_n, rows_most);

    set_block(product, block_m, block_n, true, TB_RING_MAXIMUM, budget, tiling);
    bool found = tb_tiling_fits(budget, product, tiling);
    for (; !found && tiling->slab_k > 0; tiling->slab_k /= 2)
        if ((found = choose_blocks(product, block_m, block_n, budget, tiling)))
            break;
    return found;
}
