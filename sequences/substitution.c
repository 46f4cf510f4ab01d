/* Solves by factors, of some columns of B, each of which becomes the solution:
 *
 *     A X = B            A' X = B
 *     L Y = P' B         U' Y = B        of LU, P by its exchanges; A' is transposed, or conjugated, too
 *     U X = Y            L' Z = Y
 *                        X = P Z
 *     L Y = B, L' X = Y                  of Cholesky's lower factor; of the upper one U' Y = B, U X = Y
 */
#include "sequences/substitution.h"

typedef struct triangle {
    tb_triangle stored;
    bool transposed, conjugated, unit_diagonal;
} triangle;

static tb_matrix columns_of(const tb_factor *factor, tb_range columns)
{
    return tb_rectangle(&factor->b, 0, columns.first, factor->n, columns.count);
}

static const tb_range none = {0, 0};

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give_solve(const tb_factor *factor, triangle by, tb_range columns,
                                                      tb_range finished, tb_visitor *visitor)
{
    const tb_matrix b = columns_of(factor, columns);
    const tb_scalar one = {1, 0};
    const tb_sequence_step step = {.kind = TB_STEP_PRODUCT,
                                   .size = factor->n,
                                   .product =
                                       tb_triangular(TB_SOLVES, b.element, true, by.stored, by.transposed,
                                                     by.conjugated, by.unit_diagonal, b.rows, b.columns, one,
                                                     factor->a.data, factor->a.ld, b.data, b.ld),
                                   .finished = finished};
    return visitor->visit(visitor, &step);
}

static __attribute__((noinline)) tb_status give_exchange(const tb_factor *factor, tb_range columns,
                                                         bool backwards, tb_range finished,
                                                         tb_visitor *visitor)
{
    const tb_sequence_step step = {.kind = TB_STEP_EXCHANGE,
                                   .exchange = {.matrix = columns_of(factor, columns),
                                                .count = factor->n,
                                                .pivots = factor->pivots,
                                                .backwards = backwards},
                                   .finished = finished};
    return visitor->visit(visitor, &step);
}

static tb_status walk_lu(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    const bool transposed = factor->transposed, conjugated = factor->conjugated;
    const triangle l = {TB_LOWER, transposed, conjugated, true},
                   u = {TB_UPPER, transposed, conjugated, false};
    if (!transposed) {
        TB_TRY(give_exchange(factor, columns, false, none, visitor));
        TB_TRY(give_solve(factor, l, columns, none, visitor));
        return give_solve(factor, u, columns, columns, visitor);
    }
    TB_TRY(give_solve(factor, u, columns, none, visitor));
    TB_TRY(give_solve(factor, l, columns, none, visitor));
    return give_exchange(factor, columns, true, columns, visitor);
}

static tb_status walk_cholesky(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    const bool lower = factor->stored == TB_LOWER, is_complex = tb_is_complex(factor->a.element);
    const triangle plain = {factor->stored, false, false, false},
                   adjoint = {factor->stored, true, is_complex, false};
    TB_TRY(give_solve(factor, lower ? plain : adjoint, columns, none, visitor));
    return give_solve(factor, lower ? adjoint : plain, columns, columns, visitor);
}

tb_status tb_walk_substitution(const tb_factor *factor, tb_range columns, tb_visitor *visitor)
{
    const triangle itself = {factor->stored, factor->transposed, factor->conjugated, factor->unit_diagonal};
    switch (tb_factors_of(factor)) {
    case TB_LU:
        return walk_lu(factor, columns, visitor);
    case TB_CHOLESKY:
        return walk_cholesky(factor, columns, visitor);
    default:
        return give_solve(factor, itself, columns, columns, visitor);
    }
}
