/* Cholesky's factorization, L L' = A or U' U = A, block of columns after block of columns. Of L a block needs no columns behind it:
 *
 *     | L00         |   A11 -= L10 L10'      updates by the columns that are finished
 *     | L10 L11     |   A21 -= L20 L10'
 *     | L20 L21 L22 |   A11 = L11 L11'       a triangle on the diagonal
 *                       L21 = A21 L11'^-1    a solve; these columns are finished
 *
 * On the diagonal by halves, and of U, which is L transposed, block after block too: there
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

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give_solve(const tb_factor *factor, tb_range columns,
                                                      tb_range rest, tb_range finished, tb_visitor *visitor)
{
    const bool lower = factor->stored == TB_LOWER, is_complex = tb_is_complex(factor->a.element);
    const tb_matrix triangle = part_of(factor, columns).a, solved = between(factor, columns, rest);
    const tb_scalar one = {1, 0};
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = columns.count,
                                   .product =
                                       tb_triangular(TB_SOLVES, factor->a.element, !lower, factor->stored,
                                                     true, is_complex, false, solved.rows, solved.columns,
                                                     one, triangle.data, triangle.ld, solved.data, solved.ld),
                                   .finished = finished};
    return visitor->visit(visitor, &step);
}

static __attribute__((noinline)) tb_status give_update(const tb_factor *factor, tb_range columns,
                                                       tb_range rest, tb_visitor *visitor)
{
    static const tb_routine updates[TB_ELEMENTS] = {[TB_FP32] = TB_SSYRK,
                                                    [TB_FP64] = TB_DSYRK,
                                                    [TB_COMPLEX_FP32] = TB_CHERK,
                                                    [TB_COMPLEX_FP64] = TB_ZHERK};
    const tb_matrix solved = between(factor, columns, rest), updated = part_of(factor, rest).a;
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = columns.count,
                                   .product =
                                       tb_rank_k(updates[factor->a.element], factor->stored,
                                                 factor->stored == TB_UPPER, rest.count, columns.count, -1,
                                                 solved.data, solved.ld, 1, updated.data, updated.ld)};
    return visitor->visit(visitor, &step);
}

static __attribute__((noinline)) tb_status give_panel(const tb_factor *factor, tb_range range,
                                                      tb_visitor *visitor)
{
    const tb_sequence_step step = {
        .kind = TB_STEP_PANEL, .panel = part_of(factor, range), .position = range.first};
    return visitor->visit(visitor, &step);
}

static const tb_range none = {0, 0};

/* By halves, but for what is one panel. */
static tb_status factor_diagonal(const tb_factor *factor, tb_range range, int64_t panel, tb_visitor *visitor)
{
    if (range.count <= panel)
        return give_panel(factor, range, visitor);
    const int64_t half = tb_round_up(tb_ceil_div(range.count, 2), panel);
    const tb_range first = {range.first, half}, second = {range.first + half, range.count - half};
    TB_TRY(factor_diagonal(factor, first, panel, visitor));
    TB_TRY(give_solve(factor, first, second, none, visitor));
    TB_TRY(give_update(factor, first, second, visitor));
    return factor_diagonal(factor, second, panel, visitor);
}

/* What rows of L below the columns have in these: less what the columns before them contribute. */
static __attribute__((noinline)) tb_status give_product(const tb_factor *factor, tb_range before,
                                                        tb_range columns, tb_range below, tb_visitor *visitor)
{
    const tb_matrix a = between(factor, before, below), b = between(factor, before, columns),
                    c = between(factor, columns, below);
    tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                             .size = before.count,
                             .product =
                                 tb_gemm(tb_gemm_routine(a.element), false, true, c.rows, c.columns,
                                         before.count, -1, a.data, a.ld, b.data, b.ld, 1, c.data, c.ld)};
    step.product.b.conjugated = tb_is_complex(a.element);
    return visitor->visit(visitor, &step);
}

static tb_status walk_lower(const tb_factor *factor, tb_range columns, tb_range rest, int64_t panel,
                            tb_visitor *visitor)
{
    const tb_range before = {0, columns.first};
    if (before.count > 0) {
        TB_TRY(give_update(factor, before, columns, visitor));
        TB_TRY(give_product(factor, before, columns, rest, visitor));
    }
    TB_TRY(factor_diagonal(factor, columns, panel, visitor));
    return give_solve(factor, columns, rest, columns, visitor);
}

static tb_status walk_upper(const tb_factor *factor, tb_range columns, tb_range rest, int64_t panel,
                            tb_visitor *visitor)
{
    TB_TRY(factor_diagonal(factor, columns, panel, visitor));
    TB_TRY(give_solve(factor, columns, rest, columns, visitor));
    return give_update(factor, columns, rest, visitor);
}

tb_status tb_walk_cholesky_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                 tb_visitor *visitor)
{
    const int64_t end = columns.first + columns.count;
    const tb_range rest = {end, factor->n - end};
    return factor->stored == TB_LOWER ? walk_lower(factor, columns, rest, panel, visitor)
                                      : walk_upper(factor, columns, rest, panel, visitor);
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
        TB_TRY(give_solve(factor, columns, rest, none, visitor));
    if (done > 0)
        TB_TRY(give_update(factor, columns, rest, visitor));
    return give_panel(factor, rest, visitor);
}
