/* Cholesky's factorization, L L' = A or U' U = A, block of columns after block of columns. Of L a block needs no columns behind it:
 *
 *     | L00         |   A11, A21 -= L10 L10', L20 L10'      an update by the columns that are finished
 *     | L10 L11     |   A11 = L11 L11', L21 = A21 L11'^-1   by halves, where the second one is updated by the first, down to panels,
 *     | L20 L21 L22 |                                       which solve for the rows below them, too
 *
 * And of U, which is L transposed:
 *
 *     | U11 U12 |   A11 = U11' U11, U12 = U11'^-1 A12
 *     |     U22 |   A22 -= U12' U12      an update, of which the rest is to be factored
 */
#include "sequences/cholesky.h"

#include "words/integers.h"

static tb_factor part_of(const tb_factor *factor, tb_range range)
{
    tb_factor part = *factor;
    part.m = part.n = range.count;
    part.a = tb_rectangle(&factor->a, range.first, range.first, range.count, range.count);
    return part;
}

/* What the rest's rows have in the columns, or of U the rest's columns in the rows. */
static tb_matrix between(const tb_factor *factor, tb_range columns, tb_range rest)
{
    return factor->stored == TB_LOWER
               ? tb_rectangle(&factor->a, rest.first, columns.first, rest.count, columns.count)
               : tb_rectangle(&factor->a, columns.first, rest.first, columns.count, rest.count);
}

/* From the range's first row and column on, as far as the matrix goes. */
static tb_range onward(const tb_factor *factor, tb_range range)
{
    return (tb_range){range.first, factor->n - range.first};
}

static tb_product solve_of(const tb_factor *factor, tb_range columns, tb_range rest)
{
    const bool lower = factor->stored == TB_LOWER, is_complex = tb_is_complex(factor->a.element);
    const tb_matrix triangle = part_of(factor, columns).a, solved = between(factor, columns, rest);
    const tb_scalar one = {1, 0};
    return tb_triangular(TB_SOLVES, factor->a.element, !lower, factor->stored, true, is_complex, false,
                         solved.rows, solved.columns, one, triangle.data, triangle.ld, solved.data,
                         solved.ld);
}

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give_solve(const tb_factor *factor, tb_range columns,
                                                      tb_range rest, tb_visitor *visitor)
{
    const tb_sequence_step step = {
        .kind = TB_STEP_PRODUCT, .size = columns.count, .product = solve_of(factor, columns, rest)};
    return visitor->visit(visitor, &step);
}

/* Of what is to be factored from there on so many columns, or of U rows. */
static __attribute__((noinline)) tb_status give_update(const tb_factor *factor, tb_range finished,
                                                       tb_range updated, tb_visitor *visitor)
{
    static const tb_routine updates[TB_ELEMENTS] = {[TB_FP32] = TB_SSYRK,
                                                    [TB_FP64] = TB_DSYRK,
                                                    [TB_COMPLEX_FP32] = TB_CHERK,
                                                    [TB_COMPLEX_FP64] = TB_ZHERK};
    const bool upper = factor->stored == TB_UPPER;
    const tb_range rest = onward(factor, updated), part = {0, updated.count};
    const tb_matrix by = between(factor, finished, rest), c = part_of(factor, rest).a;
    const tb_product all = tb_rank_k(updates[factor->a.element], factor->stored, upper, rest.count,
                                     finished.count, -1, by.data, by.ld, 1, c.data, c.ld);
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = finished.count,
                                   .product = upper ? tb_rows_of(&all, part) : tb_columns_of(&all, part)};
    return visitor->visit(visitor, &step);
}

/* With all rows below it, or of U columns to its right. */
static __attribute__((noinline)) tb_status give_panel(const tb_factor *factor, tb_range range,
                                                      tb_range finished, tb_visitor *visitor)
{
    const tb_range rest = onward(factor, range);
    const bool lower = factor->stored == TB_LOWER;
    tb_sequence_step step = {
        .kind = TB_STEP_PANEL, .panel = *factor, .position = range.first, .finished = finished};
    step.panel.m = lower ? rest.count : range.count;
    step.panel.n = lower ? range.count : rest.count;
    step.panel.a = tb_rectangle(&factor->a, range.first, range.first, step.panel.m, step.panel.n);
    return visitor->visit(visitor, &step);
}

static const tb_range none = {0, 0};

/* By halves, but for what is one panel. The last one finishes the columns. */
static tb_status factor_halves(const tb_factor *factor, tb_range range, int64_t panel, tb_range finished,
                               tb_visitor *visitor)
{
    if (range.count <= panel)
        return give_panel(factor, range, finished, visitor);
    const int64_t half = tb_round_up(tb_ceil_div(range.count, 2), panel);
    const tb_range first = {range.first, half}, second = {range.first + half, range.count - half};
    TB_TRY(factor_halves(factor, first, panel, none, visitor));
    TB_TRY(give_update(factor, first, second, visitor));
    return factor_halves(factor, second, panel, finished, visitor);
}

static tb_status walk_lower(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    if (columns.first > 0)
        TB_TRY(give_update(factor, (tb_range){0, columns.first}, columns, visitor));
    return factor_halves(factor, columns, panel, columns, visitor);
}

static tb_status walk_upper(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    const int64_t end = columns.first + columns.count;
    const tb_range rest = {end, factor->n - end};
    TB_TRY(factor_halves(factor, columns, panel, columns, visitor));
    return rest.count > 0 ? give_update(factor, columns, rest, visitor) : TB_OK;
}

tb_status tb_walk_cholesky_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                 tb_visitor *visitor)
{
    return factor->stored == TB_LOWER ? walk_lower(factor, columns, panel, visitor)
                                      : walk_upper(factor, columns, panel, visitor);
}

tb_status tb_walk_cholesky(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    for (int64_t first = 0; first < factor->n; first += block) {
        const tb_range columns = {first, tb_smaller(block, factor->n - first)};
        TB_TRY(tb_walk_cholesky_block(factor, columns, panel, visitor));
    }
    return TB_OK;
}

tb_status tb_resume_cholesky(const tb_factor *factor, int64_t done, tb_visitor *visitor)
{
    const tb_range columns = {0, done}, rest = {done, factor->n - done};
    if (done > 0 && factor->stored == TB_UPPER) /* rows of U go on beyond the columns that are finished */
        TB_TRY(give_solve(factor, columns, rest, visitor));
    if (done > 0)
        TB_TRY(give_update(factor, columns, rest, visitor));
    return give_panel(factor, rest, none, visitor);
}

tb_factor tb_cholesky_triangle(const tb_factor *panel)
{
    return part_of(panel, (tb_range){0, tb_factor_order(panel)});
}

tb_product tb_cholesky_solve(const tb_factor *panel)
{
    const int64_t order = tb_factor_order(panel);
    return solve_of(panel, (tb_range){0, order}, (tb_range){order, tb_larger(panel->m, panel->n) - order});
}
