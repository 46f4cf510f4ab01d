/* The reference BLAS's argument rules; see arguments.h. Checks run in the order of Netlib's Fortran and of its
 * CBLAS, because with several irregular arguments the first one found is the one reported.
 */
#include "compat/arguments.h"

#include <stdbool.h>

static int64_t at_least_one(int64_t rows)
{
    return rows > 1 ? rows : 1;
}

/* Fortran's numbers of the arguments that are sizes; 0: the routine has no such argument. */
typedef struct numbers {
    int m, n, k, lda, ldb, ldc;
} numbers;

static const numbers numbers_of[] = {
    [TB_CLASS_GEMM] = {3, 4, 5, 8, 10, 13},
    [TB_CLASS_RANK_K] = {0, 3, 4, 7, 0, 10},
    [TB_CLASS_TRIANGLE] = {0, 4, 5, 8, 10, 13},
};

static const numbers *find_numbers(const tb_product *product)
{
    return &numbers_of[tb_routine_rows[product->routine].class];
}

/* Fortran's number of the first irregular size, 0 when all are regular. */
static int check_sizes(const tb_product *product)
{
    const numbers *numbers = find_numbers(product);
    if (numbers->m && product->m < 0)
        return numbers->m;
    if (product->n < 0)
        return numbers->n;
    if (product->k < 0)
        return numbers->k;
    if (product->a.ld < at_least_one(product->a.rows))
        return numbers->lda;
    if (numbers->ldb && product->b.ld < at_least_one(product->b.rows))
        return numbers->ldb;
    if (product->c.ld < at_least_one(product->c.rows))
        return numbers->ldc;
    return 0;
}

/* The same for CBLAS, where the layout comes before Fortran's arguments. The order of checks is that of the column-major
 * product, but what is reported is the caller's own argument: where the layout has exchanged two, the other one. */
static int check_cblas_sizes(const tb_product *product, bool exchanged)
{
    const numbers *numbers = find_numbers(product);
    const int number = check_sizes(product);
    if (number == 0)
        return 0;
    if (exchanged && numbers->m && number == numbers->m)
        return numbers->n + 1;
    if (exchanged && numbers->m && number == numbers->n)
        return numbers->m + 1;
    if (exchanged && numbers->ldb && number == numbers->lda)
        return numbers->ldb + 1;
    if (exchanged && number == numbers->ldb)
        return numbers->lda + 1;
    return number + 1;
}

static bool read_layout(int layout, bool *row_major)
{
    *row_major = layout == TB_ROW_MAJOR;
    return layout == TB_ROW_MAJOR || layout == TB_COLUMN_MAJOR;
}

static bool read_transpose(int value, bool *transpose)
{
    *transpose = value != TB_NO_TRANSPOSE;
    return value >= TB_NO_TRANSPOSE && value <= TB_CONJUGATE_TRANSPOSE;
}

/* A row-major matrix is its transpose in column-major order, and so are triangles each other's. */
static bool read_triangle(int value, bool row_major, tb_triangle *triangle)
{
    *triangle = (value == TB_CBLAS_LOWER) != row_major ? TB_LOWER : TB_UPPER;
    return value == TB_CBLAS_UPPER || value == TB_CBLAS_LOWER;
}

/* (op(A) op(B))^T = op(B)^T op(A)^T. */
static tb_product gemm_of(const tb_arguments *g, bool row_major, bool a, bool b)
{
    return row_major ? tb_gemm(g->routine, b, a, g->n, g->m, g->k, g->alpha, g->b, g->ldb, g->a, g->lda,
                               g->beta, g->c, g->ldc)
                     : tb_gemm(g->routine, a, b, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb,
                               g->beta, g->c, g->ldc);
}

static tb_product triangle_of(tb_arguments given, bool row_major, tb_triangle triangle, bool a, bool b)
{
    given.m = given.n;
    tb_product product = gemm_of(&given, row_major, a, b);
    product.mask = triangle;
    return product;
}

static tb_product rank_k_of(const tb_arguments *g, tb_triangle triangle, bool transpose)
{
    return tb_rank_k(g->routine, triangle, transpose, g->n, g->k, g->alpha, g->a, g->lda, g->beta, g->c,
                     g->ldc);
}

int tb_gemm_of_cblas(int layout, int transpose_a, int transpose_b, const tb_arguments *given,
                     tb_product *product)
{
    bool row_major, a, b;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_transpose(transpose_a, &a))
        return 2;
    if (!read_transpose(transpose_b, &b))
        return 3;
    *product = gemm_of(given, row_major, a, b);
    return check_cblas_sizes(product, row_major);
}

int tb_rank_k_of_cblas(int layout, int triangle, int transpose, const tb_arguments *given,
                       tb_product *product)
{
    bool row_major, transposed;
    tb_triangle mask;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_triangle(triangle, row_major, &mask))
        return 2;
    if (!read_transpose(transpose, &transposed))
        return 3;
    *product = rank_k_of(given, mask, transposed != row_major);
    return check_cblas_sizes(product, row_major);
}

int tb_triangle_of_cblas(int layout, int triangle, int transpose_a, int transpose_b,
                         const tb_arguments *given, tb_product *product)
{
    bool row_major, a, b;
    tb_triangle mask;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_triangle(triangle, row_major, &mask))
        return 2;
    if (!read_transpose(transpose_a, &a))
        return 3;
    if (!read_transpose(transpose_b, &b))
        return 4;
    *product = triangle_of(*given, row_major, mask, a, b);
    return check_cblas_sizes(product, row_major);
}

/* ---- Fortran ---------------------------------------------------------------------------------------------- */

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

static bool read_triangle_letter(char letter, tb_triangle *triangle)
{
    *triangle = letter == 'L' || letter == 'l' ? TB_LOWER : TB_UPPER;
    return letter == 'L' || letter == 'l' || letter == 'U' || letter == 'u';
}

int tb_gemm_of_fortran(char transpose_a, char transpose_b, const tb_arguments *given, tb_product *product)
{
    bool a, b;
    if (!read_letter(transpose_a, &a))
        return 1;
    if (!read_letter(transpose_b, &b))
        return 2;
    *product = gemm_of(given, false, a, b);
    return check_sizes(product);
}

int tb_rank_k_of_fortran(char triangle, char transpose, const tb_arguments *given, tb_product *product)
{
    bool transposed;
    tb_triangle mask;
    if (!read_triangle_letter(triangle, &mask))
        return 1;
    if (!read_letter(transpose, &transposed))
        return 2;
    *product = rank_k_of(given, mask, transposed);
    return check_sizes(product);
}

int tb_triangle_of_fortran(char triangle, char transpose_a, char transpose_b, const tb_arguments *given,
                           tb_product *product)
{
    bool a, b;
    tb_triangle mask;
    if (!read_triangle_letter(triangle, &mask))
        return 1;
    if (!read_letter(transpose_a, &a))
        return 2;
    if (!read_letter(transpose_b, &b))
        return 3;
    *product = triangle_of(*given, false, mask, a, b);
    return check_sizes(product);
}
