#include "words/arguments.h"

static tb_product general_product_of(const tb_arguments *given)
{
    const bool updates = tb_class_of(given->routine)->updates;
    tb_product product = tb_gemm(given->routine, given->operation_a.transposed, given->operation_b.transposed,
                                 updates ? given->n : given->m, given->n, given->k, 0, given->a, given->lda,
                                 given->b, given->ldb, 0, given->c, given->ldc);
    product.a.conjugated = given->operation_a.conjugated;
    product.b.conjugated = given->operation_b.conjugated;
    product.mask = updates ? given->triangle : TB_FULL;
    return product;
}

static tb_product triangular_product_of(const tb_arguments *given)
{
    tb_product product = tb_triangular(
        tb_class_of(given->routine)->in_place, tb_routine_rows[given->routine].element, !given->right,
        given->triangle, given->operation_a.transposed, given->operation_a.conjugated, given->unit_diagonal,
        given->m, given->n, given->alpha, given->a, given->lda, given->c, given->ldc);
    product.routine = given->routine;
    return product;
}

static tb_product update_of(const tb_arguments *given)
{
    const tb_class_row *class = tb_class_of(given->routine);
    const bool transposed = given->operation_a.transposed;
    if (class->has_one_operand)
        return tb_rank_k(given->routine, given->triangle, transposed, given->n, given->k, 0, given->a,
                         given->lda, 0, given->c, given->ldc);
    tb_product product = tb_rank_2k(given->routine, given->triangle, transposed, given->n, given->k, 0,
                                    given->a, given->lda, given->b, given->ldb, 0, given->c, given->ldc);
    product.terms = class->has_two_terms ? 2 : 1;
    return product;
}

tb_product tb_product_of(const tb_arguments *given)
{
    const tb_class_row *class = tb_class_of(given->routine);
    tb_product product;
    if (class->in_place != TB_OUT_OF_PLACE)
        return triangular_product_of(given);
    if (class->is_symmetric)
        product = tb_symm(given->routine, !given->right, given->triangle, given->m, given->n, 0, given->a,
                          given->lda, given->b, given->ldb, 0, given->c, given->ldc);
    else if (class->turns_b)
        product = update_of(given);
    else
        product = general_product_of(given);
    product.alpha = given->alpha;
    product.beta = given->beta;
    return product;
}

static tb_triangle other_triangle(tb_triangle triangle)
{
    return triangle == TB_LOWER ? TB_UPPER : triangle == TB_UPPER ? TB_LOWER : TB_FULL;
}

static void exchange_operands(tb_arguments *given)
{
    const void *a = given->a;
    const int64_t lda = given->lda;
    given->a = given->b;
    given->lda = given->ldb;
    given->b = a;
    given->ldb = lda;
}

tb_arguments tb_arguments_by_columns(const tb_arguments *by_rows)
{
    const tb_class_row *class = tb_class_of(by_rows->routine);
    tb_arguments made = *by_rows;
    made.triangle = other_triangle(by_rows->triangle);
    if (class->turns_b) {
        /* What lies in memory by rows is, by columns, the conjugate of a Hermitian matrix, and so is its update. */
        made.operation_a.transposed = !by_rows->operation_a.transposed;
        if (class->has_two_terms && class->is_hermitian)
            made.alpha.im = -by_rows->alpha.im;
        if (!class->has_one_operand && !class->has_two_terms) /* (A B')' = B A' */
            exchange_operands(&made);
        return made;
    }
    made.m = by_rows->n;
    made.n = by_rows->m;
    if (class->is_symmetric || class->in_place != TB_OUT_OF_PLACE) {
        /* (op(A) B)' = B' op(A)': A goes to the other side, and is read as before. Of a Hermitian A the transpose
         * is Hermitian as well, and what of it is stored is what was. */
        made.right = !by_rows->right;
        return made;
    }
    /* (op(A) op(B))' = op(B)' op(A)', and a matrix in memory is its own transpose there: each is read as before. */
    exchange_operands(&made);
    made.operation_a = by_rows->operation_b;
    made.operation_b = by_rows->operation_a;
    if (class->updates)
        made.n = by_rows->n;
    return made;
}
