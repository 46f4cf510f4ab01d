/* LU with partial pivoting, by halves of the columns, each of which is factored likewise until it is some panels: Toledo, Locality of
 * Reference in LU Decomposition with Partial Pivoting (1997). A is m x n; its left half's rows are as many as it has columns, and the
 * rest.
 *
 *     | A11 A12 |    P1 | L11 | U11 = | A11 |        the left half is factored
 *     | A21 A22 |       | L21 |       | A21 |
 *                    A12, A22 = P1' of themselves    its exchanges of rows
 *                    U12 = L11^-1 A12                a solve
 *                    A22 -= L21 U12                  a product
 *                    P2 L22 U22 = A22                the right half, without the rows of U12, is factored
 *                    L21 = P2' L21                   its exchanges
 *
 * Some panels are factored one after the other, each followed by an exchange of the others' rows, which solves those to its right, and a
 * product, which brings these up to date. Columns to the right of a wide matrix's square are like a right half that has no rows left to be factored.
 */
#include "sequences/lu.h"

#include "words/integers.h"

static tb_range behind(tb_range columns, int64_t end)
{
    const int64_t first = columns.first + columns.count;
    return (tb_range){first, end - first};
}

static tb_matrix columns_of(const tb_factor *factor, tb_range columns)
{
    return tb_rectangle(&factor->a, 0, columns.first, factor->m, columns.count);
}

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give_panel(const tb_factor *factor, tb_range columns,
                                                      tb_visitor *visitor)
{
    const int64_t first = columns.first;
    tb_sequence_step step = {.kind = TB_STEP_PANEL, .panel = *factor, .position = first};
    step.panel.m = factor->m - first;
    step.panel.n = columns.count;
    step.panel.a = tb_rectangle(&factor->a, first, first, step.panel.m, columns.count);
    step.panel.pivots = tb_pivots_from(factor->pivots, first);
    return visitor->visit(visitor, &step);
}

/* Of these columns' rows, by the pivots of those. */
static __attribute__((noinline)) tb_status give_exchange(const tb_factor *factor, tb_range columns,
                                                         tb_range pivots, bool backwards, tb_visitor *visitor)
{
    const tb_sequence_step step = {.kind = TB_STEP_EXCHANGE,
                                   .exchange = {.matrix = columns_of(factor, columns),
                                                .first = pivots.first,
                                                .count = pivots.count,
                                                .pivots = tb_pivots_from(factor->pivots, pivots.first),
                                                .backwards = backwards}};
    return columns.count > 0 && pivots.count > 0 ? visitor->visit(visitor, &step) : TB_OK;
}

/* Of all columns but the panel's, by its pivots; those behind it are solved. */
static __attribute__((noinline)) tb_status give_panel_exchange(const tb_factor *factor, tb_range columns,
                                                               tb_range panel, tb_visitor *visitor)
{
    const tb_sequence_step step = {.kind = TB_STEP_EXCHANGE,
                                   .exchange = {.matrix = columns_of(factor, columns),
                                                .first = panel.first,
                                                .count = panel.count,
                                                .pivots = tb_pivots_from(factor->pivots, panel.first),
                                                .has_panel = true,
                                                .panel = panel.first - columns.first}};
    return columns.count > panel.count ? visitor->visit(visitor, &step) : TB_OK;
}

static __attribute__((noinline)) tb_status give_solve(const tb_factor *factor, tb_range left, tb_range right,
                                                      tb_visitor *visitor)
{
    const int64_t order = left.count;
    const tb_matrix triangle = tb_rectangle(&factor->a, left.first, left.first, order, order),
                    solved = tb_rectangle(&factor->a, left.first, right.first, order, right.count);
    const tb_scalar one = {1, 0};
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = order,
                                   .product =
                                       tb_triangular(TB_SOLVES, factor->a.element, true, TB_LOWER, false,
                                                     false, true, solved.rows, solved.columns, one,
                                                     triangle.data, triangle.ld, solved.data, solved.ld)};
    return visitor->visit(visitor, &step);
}

static __attribute__((noinline)) tb_status give_product(const tb_factor *factor, tb_range left,
                                                        tb_range right, tb_visitor *visitor)
{
    const int64_t below = left.first + left.count, rows = factor->m - below;
    const tb_matrix a = tb_rectangle(&factor->a, below, left.first, rows, left.count),
                    b = tb_rectangle(&factor->a, left.first, right.first, left.count, right.count),
                    c = tb_rectangle(&factor->a, below, right.first, rows, right.count);
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = left.count,
                                   .product =
                                       tb_gemm(tb_gemm_routine(a.element), false, false, rows, right.count,
                                               left.count, -1, a.data, a.ld, b.data, b.ld, 1, c.data, c.ld)};
    return rows > 0 && right.count > 0 ? visitor->visit(visitor, &step) : TB_OK;
}

/* Brings columns up to date with those to their left, which are factored. */
static tb_status update(const tb_factor *factor, tb_range left, tb_range right, tb_visitor *visitor)
{
    if (left.count == 0 || right.count == 0)
        return TB_OK;
    TB_TRY(give_exchange(factor, right, left, false, visitor));
    TB_TRY(give_solve(factor, left, right, visitor));
    return give_product(factor, left, right, visitor);
}

/* Panels at a time. */
#define PANELS 8

static tb_range left_half(tb_range columns, int64_t panel)
{
    return (tb_range){columns.first, tb_round_up(tb_ceil_div(columns.count, 2), PANELS * panel)};
}

/* with: the panels are factored. */
static tb_status factor_panels(const tb_factor *factor, tb_range columns, int64_t panel, bool with,
                               tb_visitor *visitor)
{
    const int64_t end = columns.first + columns.count;
    for (int64_t first = columns.first; first < end; first += panel) {
        const tb_range own = {first, tb_smaller(panel, end - first)}, right = behind(own, end);
        if (with)
            TB_TRY(give_panel(factor, own, visitor));
        TB_TRY(give_panel_exchange(factor, columns, own, visitor));
        TB_TRY(give_product(factor, own, right, visitor));
    }
    return TB_OK;
}

static tb_status factor_columns(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    if (columns.count <= PANELS * panel)
        return factor_panels(factor, columns, panel, true, visitor);
    const tb_range left = left_half(columns, panel), right = behind(left, columns.first + columns.count);
    TB_TRY(factor_columns(factor, left, panel, visitor));
    TB_TRY(update(factor, left, right, visitor));
    TB_TRY(factor_columns(factor, right, panel, visitor));
    return give_exchange(factor, left, right, false, visitor);
}

int64_t tb_lu_block(int64_t panel)
{
    return PANELS * panel;
}

tb_status tb_walk_lu(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    const tb_range square = {0, tb_factor_order(factor)};
    (void)block;
    TB_TRY(factor_columns(factor, square, panel, visitor));
    return update(factor, square, behind(square, factor->n), visitor);
}

tb_status tb_walk_lu_halves(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    const tb_range square = {0, tb_factor_order(factor)};
    const int64_t end = columns.first + columns.count;
    if (end > square.count)
        return update(factor, square, behind(square, end), visitor);
    if (columns.count <= PANELS * panel)
        return factor_panels(factor, columns, panel, false, visitor);
    const tb_range left = left_half(columns, panel), right = behind(left, end);
    TB_TRY(update(factor, left, right, visitor));
    return give_exchange(factor, left, right, false, visitor);
}

tb_status tb_resume_lu(const tb_factor *factor, int64_t done, tb_visitor *visitor)
{
    const int64_t all = tb_factor_order(factor);
    const tb_range left = {0, tb_smaller(done, all)}, beyond = behind(left, all), finished = {0, done},
                   rest = behind(finished, factor->n);
    TB_TRY(
        give_exchange(factor, left, beyond, true, visitor)); /* later exchanges of the finished are undone */
    TB_TRY(update(factor, left, rest, visitor));
    if (done >= all)
        return TB_OK;
    TB_TRY(give_panel(factor, rest, visitor));
    return give_exchange(factor, left, beyond, false, visitor);
}
