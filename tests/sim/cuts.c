/* Linked into tests in front of tb_choose_tiling: products that fit the device as a whole are cut at random, as products that
 * are small enough for tests are hardly ever cut. */
#include "dispatch/tiling.h"
#include "words/integers.h"

#include <stdint.h>

/* Where operands lie on the device already, their parts are to be as aligned as they are. */
#define MULTIPLE 16

bool __real_tb_choose_tiling(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);
bool __wrap_tb_choose_tiling(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

/* The same for the same product, whichever thread asks. */
static uint64_t state_of(const tb_product *product)
{
    uint64_t state = 88172645463325252u;
    const int64_t extents[] = {product->m,
                               product->n,
                               product->k,
                               product->a.transposed,
                               product->b.transposed,
                               !tb_is_zero(product->beta)};
    for (int i = 0; i < 6; i++)
        state = (state ^ (uint64_t)extents[i]) * 6364136223846793005u + 1442695040888963407u;
    return state;
}

static int64_t below(uint64_t *state, int64_t end)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int64_t)((*state >> 11) % (uint64_t)end);
}

/* A multiple of it below most, or most. */
static int64_t some(uint64_t *state, int64_t most)
{
    return tb_smaller(MULTIPLE * (1 + below(state, tb_ceil_div(most, MULTIPLE))), most);
}

bool __wrap_tb_choose_tiling(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    if (!__real_tb_choose_tiling(product, budget, tiling))
        return false;
    const int64_t m = product->m, n = product->n, k = product->k;
    uint64_t state = state_of(product);
    /* Half of the memory is for workspaces. */
    if (!tiling->whole || tb_tiling_bytes(product, tiling) > budget->bytes / 2)
        return true;
    if (product->in_place != TB_OUT_OF_PLACE && tb_goes_by_columns(product)) {
        tiling->block_n = some(&state, n);
        tiling->next_n = some(&state, n);
        tiling->swath_n = some(&state, tiling->block_n);
        tiling->next_swath_n = some(&state, tiling->next_n);
        return true;
    }
    if (product->in_place != TB_OUT_OF_PLACE) {
        tiling->band_m = tiling->piece_m = some(&state, tiling->band_m);
        tiling->apart = budget->passages[TB_C] != TB_NO_PASSAGE;
        return true;
    }
    const bool one_operand = tb_has_one_operand(product);
    if (product->mask != TB_FULL && m == n && below(&state, 2) == 0) {
        const int64_t grown = some(&state, n);
        *tiling = (tb_tiling){.whole = true, .grows = true, .block_m = n, .block_n = n, .next_n = grown};
        tiling->band_m = product->mask == TB_LOWER ? grown : n;
        tiling->piece_m = tiling->band_m;
        tiling->next_swath_n = some(&state, n);
        tiling->slab_k = tb_larger(k, 1);
        tiling->slabs = 1;
        return true;
    }
    *tiling = (tb_tiling){.whole = true, .block_m = m, .band_m = some(&state, m), .block_n = some(&state, n)};
    if (one_operand)
        tiling->band_m = m;
    tiling->slab_k = some(&state, tb_larger(k, 1));
    tiling->slabs = tb_ceil_div(tb_larger(k, 1), tiling->slab_k);
    tiling->apart = budget->passages[TB_C] != TB_NO_PASSAGE;
    tiling->piece_m = product->a.transposed && !one_operand ? some(&state, tiling->band_m) : tiling->band_m;
    tiling->b_by_slabs = tiling->piece_m == tiling->band_m && below(&state, 2) == 0;
    tiling->next_n = some(&state, n);
    tiling->swath_n = some(&state, tiling->block_n);
    tiling->next_swath_n = some(&state, tiling->next_n);
    return true;
}
