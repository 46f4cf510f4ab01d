/* Inverses, and a triangle times its adjoint, out of place: B begins as I.
 *
 *     B = U^-1 (L^-1 P' I)                of LU, by a solve
 *     B = T^-1                            of a triangle: a solve of which only what is not zero is computed
 *     B = L^-1, A = B' B                  of Cholesky's lower factor; of the upper one B = U^-1, A = B B'
 *     B = L I, A = B' B                   LAUUM, of the lower triangle; of the upper one B = U I, A = B B'
 */
#include "sequences/inversion.h"

#include "sequences/substitution.h"
#include "words/integers.h"

static const tb_range none = {0, 0};

/* As many columns of B at a time. Not measured. */
#define COLUMNS 1024

/* Steps are large, and made in frames of their own. */
static __attribute__((noinline)) tb_status give(const tb_product *product, tb_range finished,
                                                tb_visitor *visitor)
{
    const tb_sequence_step step = {
        .kind = TB_STEP_PRODUCT, .size = product->m, .product = *product, .finished = finished};
    return visitor->visit(visitor, &step);
}

tb_status tb_walk_identity(const tb_matrix *matrix, const tb_matrix *tile, tb_visitor *visitor)
{
    const tb_routine gemm = tb_gemm_routine(matrix->element);
    const int64_t n = matrix->rows;
    tb_product product =
        tb_gemm(gemm, false, false, n, n, 0, 0, NULL, n, NULL, 1, 0, matrix->data, matrix->ld);
    TB_TRY(give(&product, none, visitor));
    for (int64_t first = 0; first < n; first += TB_TILE_ORDER) {
        const int64_t order = tb_smaller(TB_TILE_ORDER, n - first);
        product = tb_gemm(gemm, false, false, order, order, order, 1, tile->data, tile->ld, tile->data,
                          tile->ld, 0, tb_at(matrix, first, first), matrix->ld);
        TB_TRY(give(&product, none, visitor));
    }
    return TB_OK;
}

bool tb_replacement_is_in_b(const tb_factor *factor)
{
    return (tb_makes_q(factor) && !tb_is_by_rows(factor)) ||
           (tb_replacement_of(factor) == TB_INVERSE && tb_factors_of(factor) != TB_CHOLESKY);
}

/* B's columns from one on, so many, by A's triangle: rows of B that are zeros, and stay so, are left out. */
static tb_status by_triangle(const tb_factor *factor, tb_in_place in_place, tb_range columns,
                             tb_visitor *visitor)
{
    const bool lower = factor->stored == TB_LOWER;
    const int64_t first = lower ? columns.first : 0, end = lower ? factor->n : columns.first + columns.count;
    const tb_scalar one = {1, 0};
    const tb_product product =
        tb_triangular(in_place, factor->a.element, true, factor->stored, false, false, factor->unit_diagonal,
                      end - first, columns.count, one, tb_at(&factor->a, first, first), factor->a.ld,
                      tb_at(&factor->b, first, columns.first), factor->b.ld);
    return give(&product, tb_replacement_is_in_b(factor) ? columns : none, visitor);
}

static tb_status walk_triangle(const tb_factor *factor, tb_in_place in_place, tb_visitor *visitor)
{
    for (int64_t first = 0; first < factor->n; first += COLUMNS) {
        const tb_range columns = {first, tb_smaller(COLUMNS, factor->n - first)};
        TB_TRY(by_triangle(factor, in_place, columns, visitor));
    }
    return TB_OK;
}

static tb_status walk_lu(const tb_factor *factor, tb_visitor *visitor)
{
    for (int64_t first = 0; first < factor->n; first += COLUMNS) {
        const tb_range columns = {first, tb_smaller(COLUMNS, factor->n - first)};
        TB_TRY(tb_walk_substitution(factor, columns, visitor));
    }
    return TB_OK;
}

/* A's triangle becomes B' B, or B B'. */
static tb_status square(const tb_factor *factor, tb_visitor *visitor)
{
    static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SSYRK,
                                                     [TB_FP64] = TB_DSYRK,
                                                     [TB_COMPLEX_FP32] = TB_CHERK,
                                                     [TB_COMPLEX_FP64] = TB_ZHERK};
    const tb_product product =
        tb_rank_k(routines[factor->a.element], factor->stored, factor->stored == TB_LOWER, factor->n,
                  factor->n, 1, factor->b.data, factor->b.ld, 0, factor->a.data, factor->a.ld);
    return give(&product, (tb_range){0, factor->n}, visitor);
}

tb_status tb_walk_replacement(const tb_factor *factor, tb_visitor *visitor)
{
    if (tb_factors_of(factor) == TB_LU)
        return walk_lu(factor, visitor);
    const bool inverts = tb_replacement_of(factor) == TB_INVERSE;
    TB_TRY(walk_triangle(factor, inverts ? TB_SOLVES : TB_MULTIPLIES, visitor));
    return tb_replacement_is_in_b(factor) ? TB_OK : square(factor, visitor);
}
