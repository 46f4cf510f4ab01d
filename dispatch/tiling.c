/* What a tiling takes: room on the device, traffic on the link, and its steps. */
#include "dispatch/tiling.h"

int64_t tb_pitched(int64_t rows, tb_element element)
{
    /* A line of 128 bytes; short columns would be mostly padding, and need 16 bytes for vectors. */
    enum { LINE = 128, VECTOR = 16, SHORT = 512 };
    const int64_t size = (int64_t)tb_bytes_of(element);
    return tb_round_up(rows, (rows * size < SHORT ? VECTOR : LINE) / size);
}

int64_t tb_slab_bytes(int64_t outer, int64_t k, tb_element element)
{
    enum { LINE = 128 };
    const int64_t elements = tb_larger(tb_pitched(outer, element) * k, tb_pitched(k, element) * outer);
    return tb_round_up(elements * (int64_t)tb_bytes_of(element), LINE);
}

static double matrix_bytes(int64_t rows, int64_t columns, tb_element element)
{
    return (double)tb_bytes_of(element) * (double)tb_pitched(rows, element) * (double)columns;
}

/* All of both are there with whole, and also where one block of C has all rows and columns, so that their slabs are one. */
bool tb_shares_operand(const tb_product *product, const tb_tiling *tiling)
{
    const bool one_block = tiling->block_m >= product->m && tiling->block_n >= product->n;
    return (tiling->whole || one_block) && tb_has_one_operand(product);
}

bool tb_is_in_bands(const tb_product *product, const tb_tiling *tiling, tb_role role)
{
    return tiling->apart &&
           (role == TB_C || (role == TB_A && !product->a.transposed && !tb_shares_operand(product, tiling)));
}

int64_t tb_ld_there(const tb_product *product, const tb_tiling *tiling, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    return tb_pitched(tb_is_in_bands(product, tiling, role) ? tiling->band_m : tb_larger(operand->rows, 1),
                      operand->element);
}

void tb_place_there(const tb_product *product, const tb_tiling *tiling, tb_role role, void *there,
                    int64_t row, int64_t column, tb_matrix *rectangle)
{
    const int64_t band = tb_is_in_bands(product, tiling, role) ? row / tiling->band_m : 0;
    rectangle->data = there;
    rectangle->ld = tb_pitched(rectangle->rows, rectangle->element);
    if (!tiling->whole && role != TB_C)
        return;
    rectangle->ld = tb_ld_there(product, tiling, role);
    rectangle->data =
        tb_at(rectangle, row - band * tiling->band_m, band * product->operands[role].columns + column);
}

tb_product tb_rows_of_tiling(const tb_product *product, const tb_tiling *tiling, int64_t row, tb_tiling *own)
{
    const int64_t rows = tb_smaller(product->m - row, tiling->block_m);
    *own = *tiling;
    if (product->in_place != TB_OUT_OF_PLACE) /* the last block may be lower than a band */
        own->band_m = own->piece_m = tb_smaller(own->band_m, rows);
    return tb_rows_of(product, (tb_range){row, rows});
}

double tb_bytes_there(const tb_product *product, const tb_tiling *tiling, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    const tb_element element = operand->element;
    const bool in_bands = tb_is_in_bands(product, tiling, role);
    const int64_t bands = in_bands ? tb_ceil_div(operand->rows, tiling->band_m) : 1,
                  rows = in_bands ? tiling->band_m : tb_larger(operand->rows, 1);
    if (tiling->whole)
        return matrix_bytes(rows, bands * tb_larger(operand->columns, 1), element);
    if (role == TB_C)
        return matrix_bytes(tb_smaller(tiling->block_m, rows), tiling->ring_c * tiling->block_n, element);
    return role == TB_A
               ? (double)tiling->ring_a * (double)tb_slab_bytes(tiling->block_m, tiling->slab_k, element)
               : (double)tiling->ring_b * (double)tb_slab_bytes(tiling->block_n, tiling->slab_k, element);
}

/* In C's place, of the triangle and what is there of C at a time. */
double tb_tiling_bytes(const tb_product *product, const tb_tiling *tiling)
{
    if (product->in_place != TB_OUT_OF_PLACE) {
        tb_tiling own;
        const tb_product rows = tb_rows_of_tiling(product, tiling, 0, &own);
        return matrix_bytes(product->k, product->k, tb_element_of(product)) +
               tb_bytes_there(&rows, &own, TB_C);
    }
    const double b = tb_shares_operand(product, tiling) ? 0 : tb_bytes_there(product, tiling, TB_B);
    return tb_bytes_there(product, tiling, TB_A) + b + tb_bytes_there(product, tiling, TB_C);
}

double tb_tiling_traffic(const tb_product *product, const tb_tiling *tiling)
{
    const double loads_a =
        tiling->ring_a < tiling->slabs ? (double)tb_ceil_div(product->n, tiling->block_n) : 1;
    if (tb_shares_operand(product, tiling))
        return tb_bytes_read(product, TB_A);
    return tb_bytes_read(product, TB_A) * loads_a +
           tb_bytes_read(product, TB_B) * (double)tb_ceil_div(product->m, tiling->block_m);
}

tb_product tb_nominal_subproduct(const tb_product *product, int64_t m, int64_t n, int64_t k)
{
    tb_product part =
        tb_sized_like(product, m, n, k, tb_pitched(tb_larger(tb_larger(m, n), k), tb_element_of(product)));
    part.mask = TB_FULL; /* where it lies in a triangle nobody says */
    return part;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* Pieces of A that the first block waits for. */
static int64_t first_steps(const tb_tiling *tiling)
{
    return tiling->piece_m < tiling->band_m ? tb_ceil_div(tiling->band_m, tiling->piece_m) : tiling->slabs;
}

int64_t tb_step_count(const tb_product *product, const tb_tiling *tiling)
{
    if (!tiling->whole)
        return tb_ceil_div(product->n, tiling->block_n) * tiling->slabs;
    if (tiling->grows)
        return tb_ceil_div(product->n, tiling->next_n);
    return first_steps(tiling) + tb_ceil_div(product->n - tiling->block_n, tiling->next_n) +
           tb_ceil_div(product->m, tiling->band_m) - 1;
}

const tb_role tb_bringing_order[TB_ROLES] = {TB_C, TB_B, TB_A};

bool tb_step_brings(const tb_step *step, const tb_product *product, tb_role role, tb_range *rows,
                    tb_range *columns, tb_range *k)
{
    const bool grows = step->grown.count > 0, by_rows = product->mask == TB_LOWER;
    *k = role == TB_B ? step->b_k : step->k;
    *rows = role == TB_A && grows ? step->grown : step->rows;
    *columns = role == TB_B && grows ? step->grown : step->columns;
    if (role == TB_C && grows && by_rows)
        *columns = (tb_range){0, step->grown.first + step->grown.count};
    switch (role) {
    case TB_A:
        return step->brings_a;
    case TB_B:
        return step->b_k.count > 0;
    default:
        return step->brings_c && !tb_is_zero(product->beta);
    }
}

static tb_range range_at(int64_t first, int64_t most, int64_t end)
{
    return (tb_range){first, tb_smaller(most, end - first)};
}

/* A piece of A, for the first block. */
static tb_step first_step(const tb_product *product, const tb_tiling *tiling, int64_t index)
{
    const int64_t count = first_steps(tiling);
    const tb_range all_k = {0, product->k};
    tb_step step = {.columns = {0, tiling->block_n},
                    .brings_a = true,
                    .brings_c = index == 0,
                    .swath_n = tiling->block_n,
                    .completes = index + 1 == count};
    if (tiling->piece_m < tiling->band_m) {
        step.rows = range_at(index * tiling->piece_m, tiling->piece_m, tiling->band_m);
        step.k = all_k;
        step.brings_c = true;
        step.b_k = index == 0 ? all_k : (tb_range){0};
        return step;
    }
    step.rows = (tb_range){0, tiling->band_m};
    step.k = range_at(index * tiling->slab_k, tiling->slab_k, product->k);
    if (tiling->b_by_slabs)
        step.b_k = step.k;
    else if (index == 0)
        step.b_k = all_k;
    if (step.completes)
        step.swath_n = tiling->swath_n;
    return step;
}

/* A slab of k for a block of C; all rows, as a product that is cut so has as many as a block. */
static tb_step slab_step(const tb_product *product, const tb_tiling *tiling, int64_t index)
{
    const int64_t block = index / tiling->slabs, slab = index % tiling->slabs;
    const tb_range columns = range_at(block * tiling->block_n, tiling->block_n, product->n);
    const tb_range k = range_at(slab * tiling->slab_k, tiling->slab_k, product->k);
    const bool completes = slab + 1 == tiling->slabs;
    return (tb_step){.rows = {0, product->m},
                     .columns = columns,
                     .k = k,
                     .brings_a = block == 0 || tiling->ring_a < tiling->slabs,
                     .b_k = k,
                     .brings_c = slab == 0,
                     .swath_n = completes ? tiling->swath_n : columns.count,
                     .completes = completes};
}

/* A lower triangle's next rows, or an upper one's next columns. */
static tb_step grown_step(const tb_product *product, const tb_tiling *tiling, int64_t index)
{
    const tb_range grown = range_at(index * tiling->next_n, tiling->next_n, product->n),
                   so_far = {0, grown.first + grown.count}, all_k = {0, product->k};
    const bool by_rows = product->mask == TB_LOWER;
    return (tb_step){.rows = by_rows ? grown : so_far,
                     .columns = by_rows ? (tb_range){0, product->n} : grown,
                     .k = all_k,
                     .grown = grown,
                     .brings_a = true,
                     .b_k = all_k,
                     .brings_c = true,
                     .swath_n = tiling->next_swath_n,
                     .completes = true};
}

tb_step tb_step_at(const tb_product *product, const tb_tiling *tiling, int64_t index)
{
    if (!tiling->whole)
        return slab_step(product, tiling, index);
    if (tiling->grows)
        return grown_step(product, tiling, index);
    const int64_t m = product->m, n = product->n;
    const tb_range k = {0, product->k};
    if (index < first_steps(tiling))
        return first_step(product, tiling, index);
    index -= first_steps(tiling);
    const int64_t blocks = tb_ceil_div(n - tiling->block_n, tiling->next_n);
    if (index < blocks)
        return (tb_step){.rows = {0, tiling->band_m},
                         .columns = range_at(tiling->block_n + index * tiling->next_n, tiling->next_n, n),
                         .k = k,
                         .b_k = k,
                         .brings_c = true,
                         .swath_n = tiling->next_swath_n,
                         .completes = true};
    index -= blocks;
    return (tb_step){.rows = range_at((index + 1) * tiling->band_m, tiling->band_m, m),
                     .columns = {0, n},
                     .k = k,
                     .brings_a = true,
                     .brings_c = true,
                     .swath_n = tiling->swath_n,
                     .completes = true};
}
