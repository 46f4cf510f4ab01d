/* Q of reflectors, H1 H2 ..., of which A has as many columns: some columns after others, and for these block of reflectors after block, the last
 * one first, which changes no columns before its own, and no rows before its first:
 *
 *     Q = 1                    and 0
 *     V = | L1 1 |             a block's columns of A, with their ones and zeros: L1 is what A1 has below its diagonal, and ones
 *         | A2 1 |
 *     T = D (1 + U D)^-1       tau is D's diagonal, and U what V' V has above its own
 *     W = V' Q                 of the block's columns and those behind it, so many at a time
 *     Q -= V (T W)
 *
 * By rows V is the adjoint of a block's rows, and Q's adjoint is made.
 *
 * T is the inverse of D^-1 + U: Puglisi, Modification of the Householder Method Based on the Compact WY Representation (1992). Written like
 * this it is right where tau is 0, too. What looks like a copy is a product with the identity.
 */
#include "sequences/generate.h"

#include "words/integers.h"

#include <string.h>

/* ---- Memory ------------------------------------------------------------------------------------------------ */

#define SQUARE (TB_QR_BLOCK * TB_QR_BLOCK)

/* The identity's square, and for each reflector a column of its block's. */
size_t tb_q_given_bytes(const tb_factor *factor)
{
    return (size_t)(SQUARE + TB_QR_BLOCK * tb_factor_order(factor)) * tb_bytes_of(factor->a.element);
}

void tb_write_q_given(const tb_factor *factor, void *given)
{
    const tb_matrix all = {.data = given, .ld = TB_QR_BLOCK, .element = factor->a.element};
    const size_t bytes = tb_bytes_of(all.element);
    const double wide = 1;
    const float narrow = 1;
    const bool is_wide = tb_real_of(all.element) == TB_FP64;
    memset(given, 0, tb_q_given_bytes(factor));
    for (int64_t i = 0; i < TB_QR_BLOCK; i++)
        memcpy(tb_at(&all, i, i), is_wide ? (const void *)&wide : &narrow,
               is_wide ? sizeof wide : sizeof narrow);
    for (int64_t i = 0; i < tb_factor_order(factor); i++)
        memcpy(tb_at(&all, i % TB_QR_BLOCK, TB_QR_BLOCK + i),
               (const char *)factor->reflectors.tau + (size_t)i * bytes, bytes);
}

size_t tb_q_workspace(const tb_factor *factor)
{
    return tb_q_given_bytes(factor) + tb_qr_workspace(factor);
}

void tb_place_q(tb_factor *factor, void *workspace)
{
    factor->reflectors.identity = workspace;
    factor->reflectors.diagonals = (char *)workspace + SQUARE * tb_bytes_of(factor->a.element);
    tb_place_reflectors(factor, (char *)workspace + tb_q_given_bytes(factor));
}

static tb_matrix square_of(const tb_factor *factor, void *data, int64_t first, int64_t order)
{
    const tb_matrix all = {.data = data, .ld = TB_QR_BLOCK, .element = factor->a.element};
    return tb_rectangle(&all, 0, first, order, order);
}

static tb_matrix identity_of(const tb_factor *factor, int64_t order)
{
    return square_of(factor, factor->reflectors.identity, 0, order);
}

tb_matrix tb_given_diagonal(const tb_factor *factor, tb_range block)
{
    return square_of(factor, factor->reflectors.diagonals, block.first, block.count);
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static const tb_range none = {0, 0};

tb_status tb_give_copy(const tb_factor *factor, const tb_matrix *from, const tb_matrix *to, tb_range finished,
                       tb_visitor *visitor)
{
    const tb_matrix identity = identity_of(factor, from->columns);
    return tb_give_product(1, from, false, &identity, 0, to, finished, visitor);
}

/* By a triangle whose diagonal is one of ones: C := L C, C := U C, or C := C U^-1. Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give_triangular(tb_in_place in_place, const tb_matrix *triangle,
                                                           tb_triangle stored, const tb_matrix *c,
                                                           tb_visitor *visitor)
{
    const tb_scalar one = {1, 0};
    const tb_sequence_step step = {
        .kind = TB_STEP_PRODUCT,
        .size = triangle->rows,
        .product = tb_triangular(in_place, c->element, in_place == TB_MULTIPLIES, stored, false, false, true,
                                 c->rows, c->columns, one, triangle->data, triangle->ld, c->data, c->ld)};
    return visitor->visit(visitor, &step);
}

/* A square on Q's diagonal, where it is 0. */
static tb_status give_identity(const tb_factor *factor, tb_range square, tb_range finished,
                               tb_visitor *visitor)
{
    const tb_matrix identity = identity_of(factor, square.count),
                    q = tb_rectangle(&factor->b, square.first, square.first, square.count, square.count);
    return tb_give_copy(factor, &identity, &q, finished, visitor);
}

/* Its adjoint is V where the diagonal is ones and what is left of it zeros. */
static tb_status make_v_of_rows(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    const int64_t length = tb_reflector_length(factor) - block.first;
    const tb_operand rows = {.matrix =
                                 tb_rectangle(&factor->a, block.first, block.first, block.count, length),
                             .transposed = true,
                             .conjugated = tb_is_complex(factor->a.element),
                             .structure = TB_TRIANGULAR,
                             .stored = TB_UPPER,
                             .unit_diagonal = true};
    const tb_matrix v = tb_part_of_v(factor, 0, (tb_range){0, block.count}, length);
    return tb_give_move(&rows, &v, visitor);
}

/* Nothing is read of what A has on its diagonal and above it. */
static tb_status make_v(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    const int64_t order = block.count, end = block.first + order, below = tb_reflector_length(factor) - end;
    if (tb_is_by_rows(factor))
        return make_v_of_rows(factor, block, visitor);
    const tb_range columns = {0, order};
    const tb_matrix identity = identity_of(factor, order),
                    a1 = tb_rectangle(&factor->a, block.first, block.first, order, order),
                    a2 = tb_rectangle(&factor->a, end, block.first, below, order),
                    v1 = tb_part_of_v(factor, 0, columns, order),
                    v2 = tb_part_of_v(factor, order, columns, below);
    TB_TRY(tb_give_copy(factor, &identity, &v1, none, visitor));
    TB_TRY(give_triangular(TB_MULTIPLIES, &a1, TB_LOWER, &v1, visitor));
    return below > 0 ? tb_give_copy(factor, &a2, &v2, none, visitor) : TB_OK;
}

/* D becomes D + U D, of which a solve reads what is above the diagonal. */
static tb_status make_t(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    const int64_t order = block.count;
    const tb_range columns = {0, order};
    const tb_matrix v = tb_part_of_v(factor, 0, columns, tb_reflector_length(factor) - block.first),
                    d = tb_given_diagonal(factor, block), products = tb_between(factor, 0, order, order),
                    t = tb_part_of_t(factor, columns, columns);
    TB_TRY(tb_give_product(1, &v, true, &v, 0, &products, none, visitor));
    TB_TRY(tb_give_copy(factor, &d, &t, none, visitor));
    TB_TRY(give_triangular(TB_MULTIPLIES, &products, TB_UPPER, &d, visitor));
    return give_triangular(TB_SOLVES, &d, TB_UPPER, &t, visitor);
}

/* ---- Walks ------------------------------------------------------------------------------------------------- */

tb_status tb_make_reflectors(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    TB_TRY(make_v(factor, block, visitor));
    return make_t(factor, block, visitor);
}

/* V is below these, as it is in A. */
tb_status tb_keep_reflectors(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    const tb_range all = {0, block.count};
    const tb_matrix v = tb_part_of_v(factor, 0, all, block.count), t = tb_part_of_t(factor, all, all),
                    a = tb_rectangle(&factor->a, block.first, block.first, block.count, block.count),
                    d = tb_given_diagonal(factor, block);
    TB_TRY(tb_give_copy(factor, &v, &a, none, visitor));
    return tb_give_copy(factor, &t, &d, none, visitor);
}

tb_factor tb_with_kept(const tb_factor *factor, tb_range block)
{
    tb_factor kept = *factor;
    const tb_matrix t = tb_given_diagonal(factor, block);
    kept.reflectors.v = tb_at(&factor->a, block.first, block.first);
    kept.reflectors.ld_of_v = factor->a.ld;
    kept.reflectors.t = t.data;
    kept.reflectors.ld_of_t = t.ld;
    return kept;
}

tb_status tb_walk_q_block(const tb_factor *factor, tb_range block, tb_visitor *visitor)
{
    TB_TRY(give_identity(factor, block, none, visitor));
    return tb_make_reflectors(factor, block, visitor);
}

tb_status tb_walk_q_columns(const tb_factor *factor, tb_range block, tb_range columns, tb_visitor *visitor)
{
    const tb_range reflectors = {0, block.count};
    const tb_matrix q = tb_rectangle(&factor->b, block.first, columns.first,
                                     tb_reflector_length(factor) - block.first, columns.count);
    return tb_give_reflected(factor, reflectors, false, &q, block.first == 0 ? columns : none, visitor);
}

/* To those of some columns that it changes, its own and those behind. */
static tb_status apply_block(const tb_factor *factor, tb_range block, tb_range columns, tb_visitor *visitor)
{
    const int64_t end = columns.first + columns.count;
    for (int64_t first = tb_larger(block.first, columns.first); first < end; first += TB_QR_BEHIND) {
        const tb_range some = {first, tb_smaller(TB_QR_BEHIND, end - first)};
        TB_TRY(tb_walk_q_columns(factor, block, some, visitor));
    }
    return TB_OK;
}

/* Blocks of these columns are made, and kept for those behind; others have been. */
static tb_status walk_columns(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    const int64_t end = columns.first + columns.count, order = tb_smaller(tb_factor_order(factor), end);
    for (int64_t i = tb_ceil_div(order, TB_QR_BLOCK) - 1; i >= 0; i--) {
        const tb_range block = {i * TB_QR_BLOCK, tb_smaller(TB_QR_BLOCK, order - i * TB_QR_BLOCK)};
        if (block.first < columns.first) {
            const tb_factor kept = tb_with_kept(factor, block);
            TB_TRY(apply_block(&kept, block, columns, visitor));
            continue;
        }
        TB_TRY(tb_walk_q_block(factor, block, visitor));
        if (end < tb_reflected_lines(factor))
            TB_TRY(tb_keep_reflectors(factor, block, visitor));
        TB_TRY(apply_block(factor, block, columns, visitor));
    }
    return TB_OK;
}

/* Columns that have no reflector. */
static tb_status begin(const tb_factor *factor, tb_visitor *visitor)
{
    const int64_t order = tb_factor_order(factor), all = tb_reflected_lines(factor);
    TB_TRY(tb_give_zeros(&factor->b, visitor));
    for (int64_t first = order; first < all; first += TB_QR_BLOCK) {
        const tb_range some = {first, tb_smaller(TB_QR_BLOCK, all - first)};
        TB_TRY(give_identity(factor, some, order == 0 ? some : none, visitor));
    }
    return TB_OK;
}

/* Columns are finished some at a time, by reflectors of their own and those before: more need not have come. By rows V is not kept. */
tb_status tb_walk_q(const tb_factor *factor, tb_visitor *visitor)
{
    const int64_t all = tb_reflected_lines(factor), few = tb_is_by_rows(factor) ? all : TB_QR_BEHIND;
    TB_TRY(begin(factor, visitor));
    for (int64_t first = 0; first < all; first += few)
        TB_TRY(walk_columns(factor, (tb_range){first, tb_smaller(few, all - first)}, visitor));
    return tb_is_by_rows(factor) ? tb_give_adjoint(&factor->b, &factor->a, visitor) : TB_OK;
}
