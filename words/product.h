/* The product: what the arguments of every routine become before anything is decided about them.
 *
 *     C[mask] := alpha * op(A) * op(B) + beta * C          op(A) is m x k, op(B) k x n, C m x n
 *
 * Triangular products and solves happen in C's place: one of the operands is a triangle, the other one is C itself.
 *
 *     C := alpha * op(A) * C                               or C * op(B)
 *     C := X, where op(A) * X = alpha * C                  or X * op(B)
 *
 * All column-major; op(X) is X, or its transpose, or that conjugated. Sizes are in elements and 64-bit, scalars by value. The
 * operands' own rows and columns are those in memory, so that m, n and k can be told from them: what changes one of these
 * makes a product by one of the functions below.
 */
#ifndef TB_PRODUCT_H
#define TB_PRODUCT_H

#include "words/batch.h"
#include "words/integers.h"
#include "words/operand.h"
#include "words/role.h"
#include "words/routine.h"

/* Real and imaginary part; those of FP32 are exact in double. */
typedef struct tb_scalar {
    double re, im;
} tb_scalar;

static inline bool tb_is_zero(tb_scalar scalar)
{
    return scalar.re == 0 && scalar.im == 0;
}

static inline bool tb_is_one(tb_scalar scalar)
{
    return scalar.re == 1 && scalar.im == 0;
}

/* How an operand of a lowered product (words/lowered.h) comes to be. */
typedef struct tb_expanded {
    double from;   /* bytes, for each of its own, of what it is written out from; 0: it is read as it lies */
    bool embedded; /* each block of two by two is a complex number: re, -im; im, re */
} tb_expanded;

typedef struct tb_product {
    tb_routine routine; /* that was called */
    int64_t m, n, k;
    union {
        struct {
            tb_operand a, b, c;
        };
        tb_operand operands[TB_ROLES];
    };
    tb_batch batch; /* of which this is the first product, where it is one */
    tb_expanded expanded[TB_ROLES];
    tb_scalar alpha, beta; /* where beta is 0, C is not read */
    tb_triangle mask;      /* of C: what is read and written; the rest keeps its bytes */
    bool mask_pairs;       /* the mask takes two rows of C, parts of complex numbers, for one */
    /* Element (i, j) belongs to a lower mask where i - j >= diagonal, to an upper one where <=. */
    int64_t diagonal;
    int terms; /* 2: another product is added, with A and B in each other's place; 0 and 1: none is */
    tb_in_place in_place; /* otherwise than out of place, k is the triangle's order, and beta is 1 */
    /* In a plain product elements of op(A), or of op(B), beyond this triangle are zeros; at most one of the two. They lie in
     * memory, and may be read; but kernels may leave out the steps of k that multiply nothing else. Of complex numbers written
     * out as real ones the diagonal is one of blocks, 2 x 2. TB_FULL: nothing is known. */
    tb_triangle a_nonzero, b_nonzero;
    bool b_nonzero_pairs; /* b_nonzero takes two rows of op(B), parts of complex numbers, for one */
    /* A product of double precision: in a sample of op(A)'s rows and op(B)'s columns, magnitudes differ so little that scaled
     * integers serve (docs/precision.md). False: nothing is known. Forecasts depend on it, and nothing else does. */
    bool like_magnitudes;
} tb_product;

typedef struct tb_range {
    int64_t first, count;
} tb_range;

static inline tb_element tb_element_of(const tb_product *product)
{
    return product->c.element;
}

static inline int64_t tb_members_of(const tb_product *product)
{
    return tb_count_of(&product->batch);
}

static inline bool tb_is_batch(const tb_product *product)
{
    return product->batch.count > 1;
}

/* The arguments of GEMM in the order of BLAS, column-major. */
static inline tb_product tb_gemm(tb_routine routine, bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                                 int64_t k, double alpha, const void *a, int64_t lda, const void *b,
                                 int64_t ldb, double beta, void *c, int64_t ldc)
{
    const tb_element element = tb_routine_rows[routine].element;
    return (tb_product){
        .routine = routine,
        .m = m,
        .n = n,
        .k = k,
        .a = {.data = (void *)a,
              .rows = transpose_a ? k : m,
              .columns = transpose_a ? m : k,
              .ld = lda,
              .element = element,
              .transposed = transpose_a},
        .b = {.data = (void *)b,
              .rows = transpose_b ? n : k,
              .columns = transpose_b ? k : n,
              .ld = ldb,
              .element = element,
              .transposed = transpose_b},
        .c = {.data = c, .rows = m, .columns = n, .ld = ldc, .element = element},
        .alpha = {alpha, 0},
        .beta = {beta, 0},
    };
}

/* What of an operand the product of some rows and columns of C reads in some steps of k: a rectangle, as it
 * lies in memory. */
static inline void tb_stored_ranges(const tb_product *product, tb_role role, tb_range rows, tb_range columns,
                                    tb_range k, tb_range *stored_rows, tb_range *stored_columns)
{
    const tb_range outer = role == TB_B ? columns : rows, inner = role == TB_C ? columns : k;
    const bool inner_first = (role == TB_B) != product->operands[role].transposed;
    *stored_rows = inner_first ? inner : outer;
    *stored_columns = inner_first ? outer : inner;
}

/* Whether an operand has the rows and columns that m, n and k say, and columns that do not overlap. */
static inline bool tb_is_sized(const tb_matrix *matrix, bool transposed, int64_t rows, int64_t columns)
{
    return matrix->rows == (transposed ? columns : rows) &&
           matrix->columns == (transposed ? rows : columns) && rows >= 0 && columns >= 0 &&
           matrix->ld >= matrix->rows;
}

/* Whether all have. In C's place one of A and B is a triangle, and the other one is empty. */
static inline bool tb_sizes_agree(const tb_product *product)
{
    const tb_operand *a = &product->a, *b = &product->b;
    const int64_t m = product->m, n = product->n, k = product->k;
    const bool in_place = product->in_place != TB_OUT_OF_PLACE, left = a->structure == TB_TRIANGULAR;
    if (in_place && (k != (left ? m : n) || (left ? b : a)->structure != TB_GENERAL ||
                     (left ? a : b)->structure != TB_TRIANGULAR))
        return false;
    return tb_is_sized(&product->c.matrix, false, m, n) &&
           ((in_place && !left) || tb_is_sized(&a->matrix, a->transposed, m, k)) &&
           ((in_place && left) || tb_is_sized(&b->matrix, b->transposed, k, n));
}

/* Whether C is Hermitian: its triangle's diagonal comes back real. */
static inline bool tb_is_hermitian_routine(tb_routine routine)
{
    return tb_class_of(routine)->is_hermitian && tb_class_of(routine)->updates;
}

/* C = alpha * op(A) * op(B)' + alpha * op(B) * op(A)' + beta * C in a triangle, the arguments in the order of SYR2K,
 * column-major; of HER2K what is transposed is conjugated too, and so is the second alpha. */
static inline tb_product tb_rank_2k(tb_routine routine, tb_triangle triangle, bool transpose, int64_t n,
                                    int64_t k, double alpha, const void *a, int64_t lda, const void *b,
                                    int64_t ldb, double beta, void *c, int64_t ldc)
{
    tb_product product =
        tb_gemm(routine, transpose, !transpose, n, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    product.mask = triangle;
    product.terms = 2;
    if (tb_is_hermitian_routine(routine)) {
        product.a.conjugated = transpose;
        product.b.conjugated = !transpose;
        product.c.structure = TB_HERMITIAN;
        product.c.stored = triangle;
    }
    return product;
}

/* C = alpha * op(A) * op(A)' + beta * C in a triangle, the arguments in the order of SYRK, column-major: B is A, read the
 * other way. */
static inline tb_product tb_rank_k(tb_routine routine, tb_triangle triangle, bool transpose, int64_t n,
                                   int64_t k, double alpha, const void *a, int64_t lda, double beta, void *c,
                                   int64_t ldc)
{
    tb_product product = tb_rank_2k(routine, triangle, transpose, n, k, alpha, a, lda, a, lda, beta, c, ldc);
    product.terms = 1;
    return product;
}

/* C = alpha * A * B + beta * C, or C = alpha * B * A + beta * C, where A is symmetric or, of HEMM, Hermitian, and one triangle
 * of it is stored; the arguments in the order of SYMM, column-major. The product's A is the factor on the left. */
static inline tb_product tb_symm(tb_routine routine, bool left, tb_triangle stored, int64_t m, int64_t n,
                                 double alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                                 double beta, void *c, int64_t ldc)
{
    tb_product product = left ? tb_gemm(routine, false, false, m, n, m, alpha, a, lda, b, ldb, beta, c, ldc)
                              : tb_gemm(routine, false, false, m, n, n, alpha, b, ldb, a, lda, beta, c, ldc);
    tb_operand *symmetric = left ? &product.a : &product.b;
    symmetric->structure = tb_class_of(routine)->is_hermitian ? TB_HERMITIAN : TB_SYMMETRIC;
    symmetric->stored = stored;
    return product;
}

/* For a product of SYMM or HEMM: whether the matrix of which one triangle is stored is the factor on the left. */
static inline bool tb_is_symmetric_left(const tb_product *product)
{
    return product->a.structure != TB_GENERAL;
}

/* Products and solves in C's place, the arguments in the order of TRMM and TRSM, column-major; b is C. The triangle is A, or B
 * where it stands on the right; the other one of the two is empty. */
static inline tb_product tb_triangular(tb_in_place in_place, tb_element element, bool left,
                                       tb_triangle stored, bool transposed, bool conjugated,
                                       bool unit_diagonal, int64_t m, int64_t n, tb_scalar alpha,
                                       const void *a, int64_t lda, void *b, int64_t ldb)
{
    const int64_t order = left ? m : n;
    const tb_operand triangle = {.data = (void *)a,
                                 .rows = order,
                                 .columns = order,
                                 .ld = lda,
                                 .element = element,
                                 .transposed = transposed,
                                 .conjugated = conjugated && tb_is_complex(element),
                                 .structure = TB_TRIANGULAR,
                                 .stored = stored,
                                 .unit_diagonal = unit_diagonal},
                     c = {.data = b, .rows = m, .columns = n, .ld = ldb, .element = element},
                     none = {.data = b, .ld = ldb, .element = element};
    return (tb_product){.routine = tb_gemm_routine(element),
                        .m = m,
                        .n = n,
                        .k = order,
                        .a = left ? triangle : none,
                        .b = left ? none : triangle,
                        .c = c,
                        .alpha = alpha,
                        .beta = {1, 0},
                        .in_place = in_place};
}

/* For such a one: whether the triangle is the factor on the left. */
static inline bool tb_is_triangle_left(const tb_product *product)
{
    return product->a.structure == TB_TRIANGULAR;
}

/* Such a one's triangle. */
static inline const tb_operand *tb_triangle_of(const tb_product *product)
{
    return tb_is_triangle_left(product) ? &product->a : &product->b;
}

/* For such a one: whether C's columns have nothing to do with each other; its rows have nothing where they do. */
static inline bool tb_goes_by_columns(const tb_product *product)
{
    return tb_is_triangle_left(product);
}

/* Such a one's operand that is C itself, and has nothing of its own. */
static inline bool tb_is_in_place_of(const tb_product *product, tb_role role)
{
    return product->in_place != TB_OUT_OF_PLACE && role == (tb_is_triangle_left(product) ? TB_B : TB_A);
}

/* ---- The mask --------------------------------------------------------------------------------------------- */

/* Rows of C that the mask takes for one: what its edge rises by from column to column. */
static inline int64_t tb_mask_step(const tb_product *product)
{
    return product->mask_pairs ? 2 : 1;
}

/* Rows of a column of C that belong to the mask. */
static inline tb_range tb_masked_rows(const tb_product *product, int64_t column)
{
    const int64_t m = product->m, step = tb_mask_step(product);
    int64_t first = 0, end = m;
    if (product->mask == TB_LOWER)
        first = step * (column + product->diagonal);
    else if (product->mask == TB_UPPER)
        end = step * (column + product->diagonal + 1);
    first = first < 0 ? 0 : first < m ? first : m;
    end = end < first ? first : end < m ? end : m;
    return (tb_range){first, end - first};
}

/* Those of these rows that belong to the mask in any of these columns: from the first to the last. */
static inline tb_range tb_masked_box(const tb_product *product, tb_range rows, tb_range columns)
{
    const tb_range left = tb_masked_rows(product, columns.first),
                   right = tb_masked_rows(product, columns.first + columns.count - 1);
    int64_t first = left.first < right.first ? left.first : right.first;
    int64_t end = left.first + left.count, other_end = right.first + right.count;
    end = end > other_end ? end : other_end;
    first = first > rows.first ? first : rows.first;
    end = end < rows.first + rows.count ? end : rows.first + rows.count;
    return (tb_range){first, end > first ? end - first : 0};
}

/* So many of these columns, from the first on, that those behind them have none of these rows in the mask. */
static inline int64_t tb_masked_width(const tb_product *product, tb_range rows, tb_range columns)
{
    const int64_t end = tb_ceil_div(rows.first + rows.count, tb_mask_step(product)) - product->diagonal,
                  width = end - columns.first;
    if (product->mask != TB_LOWER)
        return columns.count;
    return width < 0 ? 0 : width < columns.count ? width : columns.count;
}

/* Whether no element of C belongs to the mask. */
static inline bool tb_is_masked_out(const tb_product *product)
{
    const int64_t rows = product->m / tb_mask_step(product);
    return (product->mask == TB_LOWER && rows - 1 < product->diagonal) ||
           (product->mask == TB_UPPER && 1 - product->n > product->diagonal);
}

/* Whether all do. */
static inline bool tb_is_unmasked(const tb_product *product)
{
    const int64_t rows = product->m / tb_mask_step(product);
    return product->mask == TB_FULL || (product->mask == TB_LOWER && 1 - product->n >= product->diagonal) ||
           (product->mask == TB_UPPER && rows - 1 <= product->diagonal);
}

/* Elements of C that belong to it. */
static inline double tb_masked_elements(const tb_product *product)
{
    const double step = (double)tb_mask_step(product), m = (double)product->m / step, n = (double)product->n;
    /* An upper mask is what the lower one with the next diagonal leaves. */
    const double d = (double)product->diagonal + (product->mask == TB_UPPER);
    double whole, ends, lower;
    if (product->mask == TB_FULL)
        return step * m * n;
    whole = d >= 0 ? 0 : -d < n ? -d : n;                 /* columns that are whole */
    ends = m - d < whole ? whole : m - d < n ? m - d : n; /* from here on they are empty */
    lower = whole * m + (ends - whole) * (2 * (m - d) - whole - ends + 1) / 2;
    return step * (product->mask == TB_LOWER ? lower : m * n - lower);
}

/* ---- Parts ------------------------------------------------------------------------------------------------ */

/* The product of some rows and columns of C, with some steps of k; of a batch that is not uneven, of each of its products. After
 * the first steps it adds to what is there. */
static inline tb_product tb_subproduct(const tb_product *product, tb_range rows, tb_range columns, tb_range k)
{
    tb_product part = *product;
    part.m = rows.count;
    part.n = columns.count;
    part.k = k.count;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_range r, c;
        tb_stored_ranges(product, role, rows, columns, k, &r, &c);
        if (!tb_is_in_place_of(product, role))
            part.operands[role] =
                tb_operand_part(&product->operands[role], r.first, c.first, r.count, c.count);
        if (!part.batch.members[role].uneven)
            part.batch.members[role].starts = NULL;
    }
    if (product->in_place != TB_OUT_OF_PLACE) /* C, whole along the triangle */
        part.operands[tb_is_triangle_left(product) ? TB_B : TB_A].data = part.c.data;
    if (k.first > 0)
        part.beta = (tb_scalar){1, 0};
    part.diagonal += columns.first - rows.first / tb_mask_step(product);
    part.expanded[TB_A].embedded =
        product->expanded[TB_A].embedded && (rows.first | rows.count | k.first | k.count) % 2 == 0;
    /* A triangle is known by its main diagonal alone. */
    part.a_nonzero = rows.first == k.first ? product->a_nonzero : TB_FULL;
    part.b_nonzero =
        columns.first * (product->b_nonzero_pairs ? 2 : 1) == k.first ? product->b_nonzero : TB_FULL;
    if (tb_is_unmasked(&part)) {
        part.mask = TB_FULL;
        part.mask_pairs = false;
        part.diagonal = 0;
    }
    return part;
}

static inline tb_product tb_rows_of(const tb_product *product, tb_range rows)
{
    return tb_subproduct(product, rows, (tb_range){0, product->n}, (tb_range){0, product->k});
}

static inline tb_product tb_columns_of(const tb_product *product, tb_range columns)
{
    return tb_subproduct(product, (tb_range){0, product->m}, columns, (tb_range){0, product->k});
}

static inline tb_product tb_steps_of(const tb_product *product, tb_range k)
{
    return tb_subproduct(product, (tb_range){0, product->m}, (tb_range){0, product->n}, k);
}

/* What is left of it where neither A nor B is to be read: beta * C, or zeros where C would have been multiplied in its place. */
static inline tb_product tb_without_product(const tb_product *product)
{
    tb_product rest = product->in_place == TB_OUT_OF_PLACE
                          ? tb_steps_of(product, (tb_range){0, 0})
                          : tb_gemm(product->routine, false, false, product->m, product->n, 0, 0, NULL,
                                    product->m, NULL, 1, 0, product->c.data, product->c.ld);
    rest.alpha = (tb_scalar){0, 0};
    return rest;
}

/* The rows and columns between the first and the last that have elements of the mask. */
static inline tb_product tb_trimmed(const tb_product *product)
{
    const int64_t step = tb_mask_step(product), m = product->m / step, n = product->n, d = product->diagonal;
    tb_range rows = {0, m}, columns = {0, n};
    if (product->mask == TB_FULL || tb_is_masked_out(product))
        return *product;
    if (product->mask == TB_LOWER) {
        rows.first = d > 0 ? d : 0;
        columns.count = m - d < n ? m - d : n;
    } else {
        rows.count = n + d < m ? n + d : m;
        columns.first = d < 0 ? -d : 0;
    }
    rows = (tb_range){step * rows.first, step * (rows.count - rows.first)};
    columns.count -= columns.first;
    return tb_subproduct(product, rows, columns, (tb_range){0, product->k});
}

/* Like the product, but of another size and nowhere: what forecasts and workspaces are asked of. Columns of
 * the operands lie ld apart. */
static inline tb_product tb_sized_like(const tb_product *product, int64_t m, int64_t n, int64_t k, int64_t ld)
{
    tb_product sized = tb_subproduct(product, (tb_range){0, m}, (tb_range){0, n}, (tb_range){0, k});
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        sized.operands[role].data = NULL;
        sized.operands[role].ld = ld;
    }
    return sized;
}

/* Whether there are steps of k that kernels may leave out. */
static inline bool tb_has_zeros(const tb_product *product)
{
    return product->a_nonzero != TB_FULL || product->b_nonzero != TB_FULL;
}

/* Multiply-adds of real numbers; of a batch, of all of its products. */
static inline double tb_volume(const tb_product *product)
{
    const bool whole = product->in_place == TB_OUT_OF_PLACE && !tb_has_zeros(product);
    const double share = whole ? 1 : 0.5; /* of a square, a triangle */
    const double of_elements = share * tb_masked_elements(product) * (double)product->k;
    return of_elements * (double)tb_members_of(product) * (tb_is_complex(tb_element_of(product)) ? 4 : 1) *
           (product->terms == 2 ? 2 : 1);
}

/* Whether A and B are known to be one matrix, read both ways. Of a batch only the first matrices are looked at, which is not
 * enough. */
static inline bool tb_has_one_operand(const tb_product *product)
{
    const tb_operand *a = &product->a, *b = &product->b;
    return !tb_is_batch(product) && a->data == b->data && a->ld == b->ld && a->rows == b->rows &&
           a->columns == b->columns && a->transposed != b->transposed && a->data;
}

/* Bytes of an operand that are read: of an expanded one those that it is written out from. */
static inline double tb_bytes_read(const tb_product *product, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    const double from = product->expanded[role].from;
    return from > 0 ? from * (double)tb_matrix_bytes(&operand->matrix) : tb_stored_bytes(operand);
}

/* Bytes of the elements of all operands that are read or written. */
static inline size_t tb_product_bytes(const tb_product *product)
{
    const size_t c = (size_t)tb_masked_elements(product) * tb_bytes_of(product->c.element);
    const double b = tb_has_one_operand(product) ? 0 : tb_bytes_read(product, TB_B);
    return (size_t)(tb_bytes_read(product, TB_A) + b) + c;
}

#endif
