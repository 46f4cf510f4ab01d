/* The reference BLAS's argument rules; see arguments.h. Checks run in the order of Netlib's GEMM and of its
 * cblas_?gemm, because with several irregular arguments the first one found is the one reported.
 */
#include "compat/arguments.h"

#include <stdbool.h>

static int64_t at_least_one(int64_t rows)
{
    return rows > 1 ? rows : 1;
}

/* Fortran's number of the first irregular size, 0 when all are regular. */
static int check_sizes(const tb_product *product)
{
    if (product->m < 0)
        return 3;
    if (product->n < 0)
        return 4;
    if (product->k < 0)
        return 5;
    if (product->a.ld < at_least_one(product->a.rows))
        return 8;
    if (product->b.ld < at_least_one(product->b.rows))
        return 10;
    if (product->c.ld < at_least_one(product->c.rows))
        return 13;
    return 0;
}

static bool read_enum(int value, bool *transpose)
{
    *transpose = value != TB_NO_TRANSPOSE;
    return value >= TB_NO_TRANSPOSE && value <= TB_CONJUGATE_TRANSPOSE;
}

int tb_canonicalize_cblas(int layout, int transpose_a, int transpose_b, const tb_gemm_arguments *given,
                          tb_product *product)
{
    const tb_gemm_arguments *g = given;
    bool a, b;
    if (layout != TB_ROW_MAJOR && layout != TB_COLUMN_MAJOR)
        return 1;
    if (!read_enum(transpose_a, &a))
        return 2;
    if (!read_enum(transpose_b, &b))
        return 3;
    /* A row-major matrix is its transpose in column-major order, and (op(A) op(B))^T = op(B)^T op(A)^T. */
    if (layout == TB_ROW_MAJOR)
        *product = tb_gemm(g->routine, b, a, g->n, g->m, g->k, g->alpha, g->b, g->ldb, g->a, g->lda, g->beta,
                           g->c, g->ldc);
    else
        *product = tb_gemm(g->routine, a, b, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb, g->beta,
                           g->c, g->ldc);

    /* The layout comes before Fortran's arguments; the order of checks is that of the swapped product, but
     * what is reported is the caller's own argument. */
    int number = check_sizes(product);
    if (number == 0)
        return 0;
    number += 1;
    if (layout == TB_COLUMN_MAJOR)
        return number;
    switch (number) {
    case 4:
        return 5;
    case 5:
        return 4;
    case 9:
        return 11;
    case 11:
        return 9;
    default:
        return number;
    }
}

static bool read_letter(char letter, bool *transpose)
{
    switch (letter) {
    case 'N':
    case 'n':
        *transpose = false;
        return true;
    case 'T':
    case 't':
    case 'C':
    case 'c':
        *transpose = true;
        return true;
    default:
        return false;
    }
}

int tb_canonicalize_fortran(char transpose_a, char transpose_b, const tb_gemm_arguments *given,
                            tb_product *product)
{
    const tb_gemm_arguments *g = given;
    bool a, b;
    if (!read_letter(transpose_a, &a))
        return 1;
    if (!read_letter(transpose_b, &b))
        return 2;
    *product = tb_gemm(g->routine, a, b, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb, g->beta,
                       g->c, g->ldc);
    return check_sizes(product);
}
