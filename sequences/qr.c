/* QR, block of columns after block of columns, each of which is some panels: Schreiber and Van Loan, A Storage-Efficient WY Representation
 * for Products of Householder Transformations (1989). A panel makes R, V and T of its own:
 *
 *     A1 = (I - V T V') R      a panel; V as a matrix, with its ones and zeros
 *     W = V' A2                what is behind it, of the block's columns after each panel, of all others after the block,
 *     A2 -= V (T' W)           so many at a time
 *
 *     T = | T1 T12 |           a block's T is joined of its panels'
 *         |    T2  |   T12 = -T1 (V1' V2) T2
 *
 * V's rows begin with the block's first: so what lies above the panels' diagonals lies in the same place in each block, and is 0 from the
 * beginning, as is what lies below T's diagonal.
 */
#include "sequences/qr.h"

#include "words/integers.h"

static const tb_range none = {0, 0};

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static void *tau_from(const tb_factor *factor, int64_t first)
{
    return (char *)factor->reflectors.tau + (size_t)first * tb_bytes_of(factor->a.element);
}

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status
give_panel(const tb_factor *factor, int64_t block, tb_range columns, tb_range finished, tb_visitor *visitor)
{
    const int64_t first = columns.first, rows = factor->m - first;
    const tb_range in_block = {first - block, columns.count};
    tb_sequence_step step = {
        .kind = TB_STEP_PANEL, .panel = *factor, .position = first, .finished = finished};
    tb_reflectors *reflectors = &step.panel.reflectors;
    step.panel.m = rows;
    step.panel.n = columns.count;
    step.panel.a = tb_rectangle(&factor->a, first, first, rows, columns.count);
    reflectors->tau = tau_from(factor, first);
    reflectors->t = tb_part_of_t(factor, in_block, in_block).data;
    reflectors->v = tb_part_of_v(factor, first - block, in_block, rows).data;
    reflectors->products = NULL;
    return visitor->visit(visitor, &step);
}

/* Of a block's first columns' T and that of some behind them one T. */
static tb_status join(const tb_factor *factor, int64_t block, tb_range left, tb_range right,
                      tb_visitor *visitor)
{
    const int64_t rows = factor->m - block - right.first;
    const tb_matrix v1 = tb_part_of_v(factor, right.first, left, rows),
                    v2 = tb_part_of_v(factor, right.first, right, rows),
                    t1 = tb_part_of_t(factor, left, left), t2 = tb_part_of_t(factor, right, right),
                    t12 = tb_part_of_t(factor, left, right),
                    products = tb_between(factor, 0, left.count, right.count),
                    times_t1 = tb_between(factor, 1, left.count, right.count);
    TB_TRY(tb_give_product(1, &v1, true, &v2, 0, &products, none, visitor));
    TB_TRY(tb_give_product(1, &t1, false, &products, 0, &times_t1, none, visitor));
    return tb_give_product(-1, &times_t1, false, &t2, 0, &t12, none, visitor);
}

/* Columns of A from a row of the block on, by reflectors that begin there. */
static tb_status reflect(const tb_factor *factor, int64_t block, tb_range reflectors, tb_range columns,
                         tb_range finished, tb_visitor *visitor)
{
    const int64_t first = block + reflectors.first, rows = factor->m - first;
    const tb_matrix a = tb_rectangle(&factor->a, first, columns.first, rows, columns.count);
    return tb_give_reflected(factor, reflectors, true, &a, finished, visitor);
}

/* ---- Walks ------------------------------------------------------------------------------------------------- */

/* The last panel has no columns of the block behind it. */
static tb_status factor_panels(const tb_factor *factor, tb_range columns, int64_t panel, bool joined,
                               tb_visitor *visitor)
{
    for (int64_t first = 0; first < columns.count; first += panel) {
        const tb_range own = {first, tb_smaller(panel, columns.count - first)}, before = {0, first},
                       in_matrix = {columns.first + first, own.count};
        const int64_t end = in_matrix.first + own.count, behind = columns.first + columns.count - end;
        TB_TRY(give_panel(factor, columns.first, in_matrix, behind == 0 ? columns : none, visitor));
        if (behind > 0)
            TB_TRY(reflect(factor, columns.first, own, (tb_range){end, behind}, none, visitor));
        if (joined && first > 0)
            TB_TRY(join(factor, columns.first, before, own, visitor));
    }
    return TB_OK;
}

tb_status tb_walk_qr_behind(const tb_factor *factor, tb_range columns, tb_range behind, tb_visitor *visitor)
{
    const bool is_last = columns.first + columns.count == tb_factor_order(factor);
    return reflect(factor, columns.first, (tb_range){0, columns.count}, behind, is_last ? behind : none,
                   visitor);
}

/* Right-hand sides, of which there may be some, as what is behind. */
static tb_status reflect_b(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    const int64_t rows = factor->m - columns.first;
    for (int64_t first = 0; first < factor->b.columns; first += TB_QR_BEHIND) {
        const tb_matrix some = tb_rectangle(&factor->b, columns.first, first, rows,
                                            tb_smaller(TB_QR_BEHIND, factor->b.columns - first));
        TB_TRY(tb_give_reflected(factor, (tb_range){0, columns.count}, true, &some, none, visitor));
    }
    return TB_OK;
}

tb_status tb_walk_qr_block(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    const int64_t order = tb_factor_order(factor), count = tb_smaller(columns.count, order - columns.first),
                  end = columns.first + count;
    const tb_range own = {columns.first, count};
    if (count <= 0)
        return TB_OK;
    TB_TRY(factor_panels(factor, own, panel, end < factor->n || factor->b.columns > 0, visitor));
    for (int64_t first = end; first < factor->n; first += TB_QR_BEHIND) {
        const tb_range some = {first, tb_smaller(TB_QR_BEHIND, factor->n - first)};
        TB_TRY(tb_walk_qr_behind(factor, own, some, visitor));
    }
    return reflect_b(factor, own, visitor);
}

tb_status tb_walk_qr(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    const int64_t order = tb_factor_order(factor), columns = tb_smaller(order, TB_QR_BLOCK);
    const tb_range triangle = {0, columns};
    const tb_matrix t = tb_part_of_t(factor, triangle, triangle),
                    v = tb_part_of_v(factor, 0, triangle, columns);
    (void)block;
    TB_TRY(tb_give_zeros(&t, visitor));
    TB_TRY(tb_give_zeros(&v, visitor));
    for (int64_t first = 0; first < order; first += TB_QR_BLOCK)
        TB_TRY(tb_walk_qr_block(factor, (tb_range){first, TB_QR_BLOCK}, panel, visitor));
    return TB_OK;
}

static __attribute__((noinline)) tb_status give_rest(const tb_factor *factor, int64_t done,
                                                     tb_visitor *visitor)
{
    tb_sequence_step step = {.kind = TB_STEP_PANEL, .panel = *factor, .position = done};
    step.panel.m = factor->m - done;
    step.panel.n = factor->n - done;
    step.panel.a = tb_rectangle(&factor->a, done, done, step.panel.m, step.panel.n);
    step.panel.reflectors = (tb_reflectors){.tau = tau_from(factor, done)};
    return visitor->visit(visitor, &step);
}

static __attribute__((noinline)) tb_status give_reflectors(const tb_factor *factor, int64_t done,
                                                           tb_visitor *visitor)
{
    const int64_t columns = tb_smaller(done, tb_factor_order(factor));
    tb_sequence_step step = {.kind = TB_STEP_REFLECT, .panel = *factor};
    step.panel.n = columns;
    step.panel.a = tb_rectangle(&factor->a, 0, 0, factor->m, columns);
    step.panel.b = tb_rectangle(&factor->a, 0, done, factor->m, factor->n - done);
    return columns > 0 ? visitor->visit(visitor, &step) : TB_OK;
}

tb_status tb_resume_qr(const tb_factor *factor, int64_t done, tb_visitor *visitor)
{
    TB_TRY(give_reflectors(factor, done, visitor));
    return done < tb_factor_order(factor) ? give_rest(factor, done, visitor) : TB_OK;
}
