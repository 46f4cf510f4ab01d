/* The reference BLAS's argument rules; see arguments.h. Checks run in the order of Netlib's Fortran and of its
 * CBLAS, because with several irregular arguments the first one found is the one reported.
 */
#include "compat/arguments.h"

#include <stdbool.h>

static int64_t at_least_one(int64_t rows)
{
    return rows > 1 ? rows : 1;
}

/* Fortran's numbers of the arguments that are sizes; 0: the routine has no such argument. ldb of TRMM and TRSM is that of C. */
typedef struct numbers {
    int m, n, k, lda, ldb, ldc;
} numbers;

static const numbers numbers_of[] = {
    [TB_CLASS_GEMM] = {3, 4, 5, 8, 10, 13},       [TB_CLASS_RANK_K] = {0, 3, 4, 7, 0, 10},
    [TB_CLASS_TRIANGLE] = {0, 4, 5, 8, 10, 13},   [TB_CLASS_SYMM] = {3, 4, 0, 7, 9, 12},
    [TB_CLASS_HEMM] = {3, 4, 0, 7, 9, 12},        [TB_CLASS_HERK] = {0, 3, 4, 7, 0, 10},
    [TB_CLASS_RANK_2K] = {0, 3, 4, 7, 9, 12},     [TB_CLASS_HER2K] = {0, 3, 4, 7, 9, 12},
    [TB_CLASS_TRMM] = {5, 6, 0, 9, 0, 11},        [TB_CLASS_TRSM] = {5, 6, 0, 9, 0, 11},
    [TB_CLASS_GEMM_BATCH] = {3, 4, 5, 8, 10, 13}, [TB_CLASS_GEMM_BATCH_STRIDED] = {3, 4, 5, 8, 11, 15},
};

static const numbers *find_numbers(const tb_product *product)
{
    return &numbers_of[tb_routine_rows[product->routine].class];
}

/* Fortran's number of the first irregular size, 0 when all are regular. */
static int check_sizes(const tb_product *product)
{
    const numbers *numbers = find_numbers(product);
    /* A symmetric or triangular matrix stands first in the call, on whichever side it is. */
    const bool b_first = product->b.structure != TB_GENERAL;
    const tb_operand *first = b_first ? &product->b : &product->a;
    const tb_operand *second = b_first ? &product->a : &product->b;
    if (numbers->m && product->m < 0)
        return numbers->m;
    if (product->n < 0)
        return numbers->n;
    if (numbers->k && product->k < 0)
        return numbers->k;
    if (first->ld < at_least_one(first->rows))
        return numbers->lda;
    if (numbers->ldb && second->ld < at_least_one(second->rows))
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
    const bool exchanges_operands = exchanged && numbers->ldb && numbers->k && product->terms < 2;
    const int number = check_sizes(product);
    if (number == 0)
        return 0;
    if (exchanged && numbers->m && number == numbers->m)
        return numbers->n + 1;
    if (exchanged && numbers->m && number == numbers->n)
        return numbers->m + 1;
    if (exchanges_operands && number == numbers->lda)
        return numbers->ldb + 1;
    if (exchanges_operands && number == numbers->ldb)
        return numbers->lda + 1;
    return number + 1;
}

static bool read_layout(int layout, bool *row_major)
{
    *row_major = layout == TB_ROW_MAJOR;
    return layout == TB_ROW_MAJOR || layout == TB_COLUMN_MAJOR;
}

/* How an operand is read. Of real numbers nothing is conjugated. */
typedef struct operation {
    bool transposed, conjugated;
} operation;

static bool is_complex(const tb_arguments *given)
{
    return tb_is_complex(tb_routine_rows[given->routine].element);
}

static bool read_operation(int value, const tb_arguments *given, operation *operation)
{
    operation->transposed = value != TB_NO_TRANSPOSE;
    operation->conjugated = value == TB_CONJUGATE_TRANSPOSE && is_complex(given);
    return value >= TB_NO_TRANSPOSE && value <= TB_CONJUGATE_TRANSPOSE;
}

/* A row-major matrix is its transpose in column-major order, and so are triangles each other's. */
static bool read_triangle(int value, bool row_major, tb_triangle *triangle)
{
    *triangle = (value == TB_CBLAS_LOWER) != row_major ? TB_LOWER : TB_UPPER;
    return value == TB_CBLAS_UPPER || value == TB_CBLAS_LOWER;
}

static bool read_diagonal(int value, bool *unit)
{
    *unit = value == TB_CBLAS_UNIT;
    return value == TB_CBLAS_UNIT || value == TB_CBLAS_NON_UNIT;
}

static bool read_side(int value, bool *left)
{
    *left = value == TB_CBLAS_LEFT;
    return value == TB_CBLAS_LEFT || value == TB_CBLAS_RIGHT;
}

/* (op(A) op(B))^T = op(B)^T op(A)^T, and a matrix in memory is its own transpose there: each is read as before. */
static tb_product gemm_of(const tb_arguments *g, bool row_major, operation a, operation b)
{
    const operation left = row_major ? b : a, right = row_major ? a : b;
    tb_product product = row_major ? tb_gemm(g->routine, b.transposed, a.transposed, g->n, g->m, g->k, 0,
                                             g->b, g->ldb, g->a, g->lda, 0, g->c, g->ldc)
                                   : tb_gemm(g->routine, a.transposed, b.transposed, g->m, g->n, g->k, 0,
                                             g->a, g->lda, g->b, g->ldb, 0, g->c, g->ldc);
    product.a.conjugated = left.conjugated;
    product.b.conjugated = right.conjugated;
    product.alpha = g->alpha;
    product.beta = g->beta;
    return product;
}

static tb_product triangle_of(tb_arguments given, bool row_major, tb_triangle triangle, operation a,
                              operation b)
{
    given.m = given.n;
    tb_product product = gemm_of(&given, row_major, a, b);
    product.mask = triangle;
    return product;
}

/* Of updates: complex ones of symmetric matrices are not conjugated, those of Hermitian ones not merely transposed. */
static bool is_of_update(const tb_arguments *given, operation operation)
{
    return !is_complex(given) || !operation.transposed ||
           operation.conjugated == tb_is_hermitian_routine(given->routine);
}

static tb_product rank_k_of(const tb_arguments *g, tb_triangle triangle, bool transpose)
{
    tb_product product =
        tb_rank_k(g->routine, triangle, transpose, g->n, g->k, 0, g->a, g->lda, 0, g->c, g->ldc);
    product.alpha = g->alpha;
    product.beta = g->beta;
    return product;
}

/* What lies in memory by rows is, by columns, the conjugate of a Hermitian matrix, and so is its update. */
static tb_product rank_2k_of(const tb_arguments *g, bool row_major, tb_triangle triangle, bool transpose)
{
    tb_product product = tb_rank_2k(g->routine, triangle, transpose != row_major, g->n, g->k, 0, g->a, g->lda,
                                    g->b, g->ldb, 0, g->c, g->ldc);
    product.alpha = g->alpha;
    product.beta = g->beta;
    if (row_major && tb_is_hermitian_routine(g->routine))
        product.alpha.im = -product.alpha.im;
    return product;
}

/* (A B)^T = B^T A^T: the symmetric matrix goes to the other side. Of a Hermitian one the transpose is Hermitian as well, and
 * what of it is stored is what was. */
static tb_product symm_of(const tb_arguments *g, bool row_major, bool left, tb_triangle stored)
{
    tb_product product = tb_symm(g->routine, left != row_major, stored, row_major ? g->n : g->m,
                                 row_major ? g->m : g->n, 0, g->a, g->lda, g->b, g->ldb, 0, g->c, g->ldc);
    product.alpha = g->alpha;
    product.beta = g->beta;
    return product;
}

/* How TRMM and TRSM read their A. */
typedef struct triangular {
    bool left;
    tb_triangle stored;
    operation operation;
    bool unit_diagonal;
} triangular;

/* (op(A) B)^T = B^T op(A)^T: A goes to the other side, and is read as before, since what lies in memory by columns is its transpose. */
static tb_product triangular_of(const tb_arguments *g, bool row_major, const triangular *a)
{
    tb_product product = tb_triangular(
        tb_in_place_of_routine(g->routine), tb_routine_rows[g->routine].element, a->left != row_major,
        a->stored, a->operation.transposed, a->operation.conjugated, a->unit_diagonal,
        row_major ? g->n : g->m, row_major ? g->m : g->n, g->alpha, g->a, g->lda, g->c, g->ldc);
    product.routine = g->routine;
    return product;
}

int tb_gemm_of_cblas(int layout, int transpose_a, int transpose_b, const tb_arguments *given,
                     tb_product *product)
{
    bool row_major;
    operation a, b;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_operation(transpose_a, given, &a))
        return 2;
    if (!read_operation(transpose_b, given, &b))
        return 3;
    *product = gemm_of(given, row_major, a, b);
    return check_cblas_sizes(product, row_major);
}

/* What SYRK, SYR2K and theirs say besides sizes. */
typedef struct update {
    bool row_major;
    tb_triangle mask;
    operation operation;
} update;

static int read_cblas_update(int layout, int triangle, int transpose, const tb_arguments *given,
                             update *update)
{
    if (!read_layout(layout, &update->row_major))
        return 1;
    if (!read_triangle(triangle, update->row_major, &update->mask))
        return 2;
    if (!read_operation(transpose, given, &update->operation) || !is_of_update(given, update->operation))
        return 3;
    return 0;
}

int tb_rank_k_of_cblas(int layout, int triangle, int transpose, const tb_arguments *given,
                       tb_product *product)
{
    update update;
    const int number = read_cblas_update(layout, triangle, transpose, given, &update);
    if (number != 0)
        return number;
    *product = rank_k_of(given, update.mask, update.operation.transposed != update.row_major);
    return check_cblas_sizes(product, update.row_major);
}

int tb_rank_2k_of_cblas(int layout, int triangle, int transpose, const tb_arguments *given,
                        tb_product *product)
{
    update update;
    const int number = read_cblas_update(layout, triangle, transpose, given, &update);
    if (number != 0)
        return number;
    *product = rank_2k_of(given, update.row_major, update.mask, update.operation.transposed);
    return check_cblas_sizes(product, update.row_major);
}

int tb_triangle_of_cblas(int layout, int triangle, int transpose_a, int transpose_b,
                         const tb_arguments *given, tb_product *product)
{
    bool row_major;
    operation a, b;
    tb_triangle mask;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_triangle(triangle, row_major, &mask))
        return 2;
    if (!read_operation(transpose_a, given, &a))
        return 3;
    if (!read_operation(transpose_b, given, &b))
        return 4;
    *product = triangle_of(*given, row_major, mask, a, b);
    return check_cblas_sizes(product, row_major);
}

int tb_symm_of_cblas(int layout, int side, int triangle, const tb_arguments *given, tb_product *product)
{
    bool row_major, left;
    tb_triangle stored;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_side(side, &left))
        return 2;
    if (!read_triangle(triangle, row_major, &stored))
        return 3;
    *product = symm_of(given, row_major, left, stored);
    return check_cblas_sizes(product, row_major);
}

int tb_triangular_of_cblas(int layout, int side, int triangle, int transpose, int diagonal,
                           const tb_arguments *given, tb_product *product)
{
    bool row_major;
    triangular a;
    if (!read_layout(layout, &row_major))
        return 1;
    if (!read_side(side, &a.left))
        return 2;
    if (!read_triangle(triangle, row_major, &a.stored))
        return 3;
    if (!read_operation(transpose, given, &a.operation))
        return 4;
    if (!read_diagonal(diagonal, &a.unit_diagonal))
        return 5;
    *product = triangular_of(given, row_major, &a);
    return check_cblas_sizes(product, row_major);
}

/* ---- Fortran ---------------------------------------------------------------------------------------------- */

/* A letter says what one of CBLAS's values says, and a call of Fortran's is a column-major one of CBLAS's, whose first argument it does
 * not have. No argument of CBLAS's is 0. */
static int value_of(char letter, char first, int first_value, char second, int second_value)
{
    const char capital = letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
    return capital == first ? first_value : capital == second ? second_value : 0;
}

static int operation_value(char letter)
{
    return letter == 'C' || letter == 'c' ? TB_CONJUGATE_TRANSPOSE
                                          : value_of(letter, 'N', TB_NO_TRANSPOSE, 'T', TB_TRANSPOSE);
}

static int triangle_value(char letter)
{
    return value_of(letter, 'U', TB_CBLAS_UPPER, 'L', TB_CBLAS_LOWER);
}

static int side_value(char letter)
{
    return value_of(letter, 'L', TB_CBLAS_LEFT, 'R', TB_CBLAS_RIGHT);
}

static int diagonal_value(char letter)
{
    return value_of(letter, 'N', TB_CBLAS_NON_UNIT, 'U', TB_CBLAS_UNIT);
}

/* Of CBLAS's number of an argument behind the layout. */
static int without_layout(int number)
{
    return number > 0 ? number - 1 : 0;
}

int tb_gemm_of_fortran(char transpose_a, char transpose_b, const tb_arguments *given, tb_product *product)
{
    return without_layout(tb_gemm_of_cblas(TB_COLUMN_MAJOR, operation_value(transpose_a),
                                           operation_value(transpose_b), given, product));
}

int tb_rank_k_of_fortran(char triangle, char transpose, const tb_arguments *given, tb_product *product)
{
    return without_layout(tb_rank_k_of_cblas(TB_COLUMN_MAJOR, triangle_value(triangle),
                                             operation_value(transpose), given, product));
}

int tb_rank_2k_of_fortran(char triangle, char transpose, const tb_arguments *given, tb_product *product)
{
    return without_layout(tb_rank_2k_of_cblas(TB_COLUMN_MAJOR, triangle_value(triangle),
                                              operation_value(transpose), given, product));
}

int tb_triangle_of_fortran(char triangle, char transpose_a, char transpose_b, const tb_arguments *given,
                           tb_product *product)
{
    return without_layout(tb_triangle_of_cblas(TB_COLUMN_MAJOR, triangle_value(triangle),
                                               operation_value(transpose_a), operation_value(transpose_b),
                                               given, product));
}

int tb_symm_of_fortran(char side, char triangle, const tb_arguments *given, tb_product *product)
{
    return without_layout(
        tb_symm_of_cblas(TB_COLUMN_MAJOR, side_value(side), triangle_value(triangle), given, product));
}

int tb_triangular_of_fortran(char side, char triangle, char transpose, char diagonal,
                             const tb_arguments *given, tb_product *product)
{
    return without_layout(tb_triangular_of_cblas(TB_COLUMN_MAJOR, side_value(side), triangle_value(triangle),
                                                 operation_value(transpose), diagonal_value(diagonal), given,
                                                 product));
}
