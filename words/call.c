#include "words/call.h"

static tb_product general_product_of(const tb_call *call)
{
    const bool updates = tb_class_of(call->routine)->updates;
    tb_product product = tb_gemm(call->routine, call->operation_a.transposed, call->operation_b.transposed,
                                 updates ? call->n : call->m, call->n, call->k, 0, call->a, call->lda,
                                 call->b, call->ldb, 0, call->c, call->ldc);
    product.a.conjugated = call->operation_a.conjugated;
    product.b.conjugated = call->operation_b.conjugated;
    product.mask = updates ? call->triangle : TB_FULL;
    return product;
}

static tb_product triangular_product_of(const tb_call *call)
{
    tb_product product = tb_triangular(
        tb_class_of(call->routine)->in_place, tb_routine_rows[call->routine].element, !call->right,
        call->triangle, call->operation_a.transposed, call->operation_a.conjugated, call->unit_diagonal,
        call->m, call->n, call->alpha, call->a, call->lda, call->c, call->ldc);
    product.routine = call->routine;
    return product;
}

tb_product tb_product_of_call(const tb_call *call)
{
    const tb_class_row *class = tb_class_of(call->routine);
    tb_product product;
    if (class->in_place != TB_OUT_OF_PLACE)
        return triangular_product_of(call);
    if (class->is_symmetric)
        product = tb_symm(call->routine, !call->right, call->triangle, call->m, call->n, 0, call->a,
                          call->lda, call->b, call->ldb, 0, call->c, call->ldc);
    else if (class->has_two_terms)
        product = tb_rank_2k(call->routine, call->triangle, call->operation_a.transposed, call->n, call->k, 0,
                             call->a, call->lda, call->b, call->ldb, 0, call->c, call->ldc);
    else if (class->has_one_operand)
        product = tb_rank_k(call->routine, call->triangle, call->operation_a.transposed, call->n, call->k, 0,
                            call->a, call->lda, 0, call->c, call->ldc);
    else
        product = general_product_of(call);
    product.alpha = call->alpha;
    product.beta = call->beta;
    return product;
}

static tb_triangle other_triangle(tb_triangle triangle)
{
    return triangle == TB_LOWER ? TB_UPPER : triangle == TB_UPPER ? TB_LOWER : TB_FULL;
}

tb_call tb_call_by_columns(const tb_call *by_rows)
{
    const tb_class_row *class = tb_class_of(by_rows->routine);
    tb_call call = *by_rows;
    call.triangle = other_triangle(by_rows->triangle);
    if (class->has_one_operand || class->has_two_terms) {
        /* What lies in memory by rows is, by columns, the conjugate of a Hermitian matrix, and so is its update. */
        call.operation_a.transposed = !by_rows->operation_a.transposed;
        if (class->has_two_terms && class->is_hermitian)
            call.alpha.im = -by_rows->alpha.im;
        return call;
    }
    call.m = by_rows->n;
    call.n = by_rows->m;
    if (class->is_symmetric || class->in_place != TB_OUT_OF_PLACE) {
        /* (op(A) B)' = B' op(A)': A goes to the other side, and is read as before. Of a Hermitian A the transpose is Hermitian as well,
         * and what of it is stored is what was. */
        call.right = !by_rows->right;
        return call;
    }
    /* (op(A) op(B))' = op(B)' op(A)', and a matrix in memory is its own transpose there: each is read as before. */
    call.a = by_rows->b;
    call.b = by_rows->a;
    call.lda = by_rows->ldb;
    call.ldb = by_rows->lda;
    call.operation_a = by_rows->operation_b;
    call.operation_b = by_rows->operation_a;
    if (class->updates)
        call.n = by_rows->n;
    return call;
}
