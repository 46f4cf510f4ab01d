#include "tests/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MULTIPLIES 0x1p25

static const struct {
    double roundoff, smallest; /* smallest: the error of a result that underflows */
} formats[TB_ELEMENTS] = {
    [TB_FP32] = {0x1p-24, 0x1p-149},
    [TB_FP64] = {0x1p-53, 0x1p-1074},
    [TB_COMPLEX_FP32] = {0x1p-24, 0x1p-149},
    [TB_COMPLEX_FP64] = {0x1p-53, 0x1p-1074},
};

static double *make_numbers(int64_t count)
{
    double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return numbers;
}

static bool belongs(const product *product, int64_t i, int64_t j)
{
    return product->mask == TB_FULL || (product->mask == TB_LOWER ? i >= j : i <= j);
}

static bool belongs_to_c(const product *product, int64_t line, int64_t position)
{
    return product->row_major ? belongs(product, line, position) : belongs(product, position, line);
}

static bool is_stored(tb_triangle stored, int64_t i, int64_t j)
{
    return stored == TB_LOWER ? i >= j : i <= j;
}

/* The other triangle, and imaginary parts on a Hermitian diagonal. */
static void hide_unread(const product *product, const matrix *x, tb_structure structure, tb_triangle stored)
{
    for (int64_t line = 0; line < x->lines && structure != TB_GENERAL; line++)
        for (int64_t i = 0; i < x->length; i++)
            if (product->row_major ? !is_stored(stored, line, i) : !is_stored(stored, i, line))
                matrix_hide(x, line, i);
            else if (i == line && structure == TB_HERMITIAN && tb_is_complex(x->element))
                matrix_set_imaginary(x, line, i, NAN);
}

void product_hide_the_rest(const product *product)
{
    const matrix *c = &product->c;
    for (int64_t line = 0; line < c->lines; line++)
        for (int64_t i = 0; i < c->length; i++)
            if (!belongs_to_c(product, line, i))
                matrix_hide(c, line, i);
    for (int64_t i = 0; i < c->lines && product->hermitian; i++)
        matrix_set_imaginary(c, i, i, 1000);
    hide_unread(product, &product->a, product->structure_a, product->stored_a);
    hide_unread(product, &product->b, product->structure_b, product->stored_b);
}

/* The index from element 0 of the first canary of C that after has lost. */
static bool find_lost_canary(const product *product, const matrix *after, int64_t *index)
{
    const matrix *before = &product->c;
    const size_t size = tb_bytes_of(before->element);
    for (size_t i = 0; i < before->bytes / size; i++) {
        int64_t position = (int64_t)i - (int64_t)before->first;
        bool inside = position >= 0 && position / before->ld < before->lines;
        bool element = inside && position % before->ld < before->length &&
                       belongs_to_c(product, position / before->ld, position % before->ld);
        *index = position;
        if (!element &&
            memcmp((const char *)before->block + i * size, (const char *)after->block + i * size, size) != 0)
            return true;
    }
    return false;
}

/* A stored matrix seen as a real op(X): how far apart neighbours in a column and in a row of op(X) are. Of complex numbers
 * real and imaginary parts, which are neighbours in memory, are a row each. */
typedef struct view {
    tb_element element; /* real */
    const void *elements;
    int64_t down, right;
    int pairs; /* 1: rows are in pairs; else 0 */
} view;

static double number_at(const view *view, int64_t i, int64_t j)
{
    const int64_t index = (i >> view->pairs) * view->down + (i & view->pairs) + j * view->right;
    return view->element == TB_FP64 ? ((const double *)view->elements)[index]
                                    : (double)((const float *)view->elements)[index];
}

/* One factor of a term: a stored matrix, and how it is read. */
typedef struct factor {
    const matrix *x;
    bool transposed, conjugated;
    tb_structure structure;
    tb_triangle stored;
    double re, im; /* by which it is multiplied */
} factor;

static factor factor_of(const product *p, bool left, int term)
{
    const bool is_a = left == (term == 0);
    factor factor = {.x = is_a ? &p->a : &p->b,
                     .transposed = is_a ? p->transpose_a : p->transpose_b,
                     .conjugated = is_a ? p->conjugate_a : p->conjugate_b,
                     .structure = is_a ? p->structure_a : p->structure_b,
                     .stored = is_a ? p->stored_a : p->stored_b,
                     .re = 1};
    if (term > 0) {
        factor.transposed = !factor.transposed;
        factor.conjugated ^= p->hermitian;
    }
    if (left && p->terms == 2) {
        factor.re = p->alpha;
        factor.im = term > 0 && p->hermitian ? -p->alpha_im : p->alpha_im;
    }
    return factor;
}

/* Element (i, j) of a factor. */
static void read_number(const product *product, const factor *f, int64_t i, int64_t j, double number[2])
{
    const bool single = tb_real_of(f->x->element) == TB_FP32, is_complex = tb_is_complex(f->x->element);
    const bool mirrored = f->structure != TB_GENERAL && !is_stored(f->stored, i, j);
    const bool turned = mirrored || f->transposed;
    const int64_t row = turned ? j : i, column = turned ? i : j;
    const int64_t at =
        (is_complex ? 2 : 1) * (product->row_major ? row * f->x->ld + column : column * f->x->ld + row);
    const void *start = matrix_start_in(f->x, f->x->block);
    const double re = single ? (double)((const float *)start)[at] : ((const double *)start)[at];
    double im = 0;
    if (is_complex && !(f->structure == TB_HERMITIAN && i == j))
        im = single ? (double)((const float *)start)[at + 1] : ((const double *)start)[at + 1];
    if (f->conjugated || (mirrored && f->structure == TB_HERMITIAN))
        im = -im;
    const bool scales = f->re != 1 || f->im != 0;
    number[0] = scales ? f->re * re - (is_complex ? f->im * im : 0) : re;
    number[1] = scales && is_complex ? f->re * im + f->im * re : im;
}

/* The factors on one side, of complex numbers, or of what is not all stored, or of two terms, as a real matrix that kernels
 * would multiply: that on the left has a block of four for each complex number, that on the right two in a column. NULL where
 * the matrix is as it is. */
static double *write_out(const product *product, bool left)
{
    const factor first = factor_of(product, left, 0);
    const bool is_complex = tb_is_complex(first.x->element);
    const int terms = product->terms == 2 ? 2 : 1;
    const int64_t rows = left ? product->m : product->k, columns = left ? product->k : product->n;
    const int64_t parts = is_complex ? 2 : 1, wide = left ? parts : 1, ld = parts * rows * (left ? 1 : terms);
    if (!is_complex && first.structure == TB_GENERAL && terms == 1)
        return NULL;
    double *out = make_numbers(rows * columns * parts * wide * terms);
    for (int term = 0; term < terms; term++) {
        const factor factor = factor_of(product, left, term);
        double *of_term = out + term * (left ? wide * columns * ld : parts * rows);
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) {
                double number[2], *to = of_term + parts * i + wide * j * ld;
                read_number(product, &factor, i, j, number);
                to[0] = number[0];
                if (is_complex)
                    to[1] = number[1];
                if (wide == 2) {
                    to[ld] = -number[1];
                    to[ld + 1] = number[0];
                }
            }
    }
    return out;
}

static view view_of(const matrix *matrix, bool row_major, bool transposed)
{
    const bool lines_are_columns = row_major == transposed;
    const int pairs = tb_is_complex(matrix->element);
    return (view){.element = tb_real_of(matrix->element),
                  .elements = matrix_start_in(matrix, matrix->block),
                  .down = (lines_are_columns ? 1 : matrix->ld) << pairs,
                  .right = (lines_are_columns ? matrix->ld : 1) << pairs,
                  .pairs = pairs};
}

/* Elements of a column of C are summed up so many at a time: sums that do not wait for each other take a fraction of the
 * time, and each adds its terms in the order in which it would alone. */
enum { AT_ONCE = 8 };

/* Of elements of C: the sums of their terms, and of the terms' magnitudes. */
typedef struct sums {
    long double terms[AT_ONCE], magnitudes[AT_ONCE];
} sums;

/* Rows of op(A) from i on, side by side for each l; zeros below its last row. */
static void copy_rows(const view *a, int64_t i, int64_t count, int64_t k, double *rows)
{
    for (int64_t l = 0; l < k; l++)
        for (int64_t row = 0; row < AT_ONCE; row++)
            rows[l * AT_ONCE + row] = row < count ? number_at(a, i + row, l) : 0;
}

/* Compiled for what the processor has as well: these sums take most of the tests' time. */
#ifdef __x86_64__
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE_VECTORS
#endif

/* Sums of AT_ONCE rows in a type whose rounding errors are small beside those of the elements. */
#define STAMP_SUM_ROWS(name, wide, magnitude)                                                                \
    WIDE_VECTORS static sums name(const double *rows, const view *b, int64_t j, int64_t k)                   \
    {                                                                                                        \
        wide terms[AT_ONCE] = {0}, magnitudes[AT_ONCE] = {0};                                                \
        for (int64_t l = 0; l < k; l++) {                                                                    \
            const wide factor = (wide)number_at(b, l, j);                                                    \
            for (int row = 0; row < AT_ONCE; row++) {                                                        \
                const wide term = (wide)rows[l * AT_ONCE + row] * factor;                                    \
                terms[row] += term;                                                                          \
                magnitudes[row] += magnitude(term);                                                          \
            }                                                                                                \
        }                                                                                                    \
        sums sums;                                                                                           \
        for (int row = 0; row < AT_ONCE; row++) {                                                            \
            sums.terms[row] = (long double)terms[row];                                                       \
            sums.magnitudes[row] = (long double)magnitudes[row];                                             \
        }                                                                                                    \
        return sums;                                                                                         \
    }
STAMP_SUM_ROWS(sum_rows_of_floats, double, fabs)
STAMP_SUM_ROWS(sum_rows_of_doubles, long double, fabsl)

static sums sum_rows(tb_element element, const double *rows, const view *b, int64_t j, int64_t k)
{
    return tb_real_of(element) == TB_FP64 ? sum_rows_of_doubles(rows, b, j, k)
                                          : sum_rows_of_floats(rows, b, j, k);
}

/* Of so many rows from i on. */
static sums sum_few(const view *a, const view *b, int64_t i, int64_t count, int64_t j, int64_t k)
{
    sums sums = {0};
    for (int64_t row = 0; row < count; row++)
        for (int64_t l = 0; l < k; l++) {
            const long double term = (long double)number_at(a, i + row, l) * (long double)number_at(b, l, j);
            sums.terms[row] += term;
            sums.magnitudes[row] += fabsl(term);
        }
    return sums;
}

static bool close_enough(const product *product, double got, long double expected, long double magnitude)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : (long double)got == expected;
    const tb_element element = product->c.element;
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    const double roundings =
        (double)(parts * ((product->terms == 2 ? 2 : 1) * product->k + 3) + product->more_roundings);
    const long double bound =
        product->exact ? 0 : roundings * (formats[element].roundoff * magnitude + formats[element].smallest);
    return fabsl((long double)got - expected) <= bound;
}

/* A product that is looked at, and where a message about it goes. */
typedef struct check {
    const product *product;
    view a, b, before, after;
    int64_t parts; /* of a number */
    int64_t m, k;  /* of the views; 0 steps of k where A and B are not read */
    char *message;
    size_t size;
} check;

/* alpha times a number and the terms of its magnitude, of which there are as many as it has parts. */
typedef struct scaled {
    long double part[2], magnitude;
} scaled;

static scaled scale(double re, double im, const long double *number, const long double *magnitudes,
                    int64_t parts)
{
    const long double a = re, b = im;
    scaled product = {.part = {a * number[0], 0}, .magnitude = fabsl(a) * magnitudes[0]};
    if (parts == 2) {
        /* A zero imaginary part is not multiplied by what may be infinite: reals scale. */
        product.part[0] -= im == 0 ? 0 : b * number[1];
        product.part[1] = a * number[1] + (im == 0 ? 0 : b * number[0]);
        product.magnitude = (fabsl(a) + fabsl(b)) * (magnitudes[0] + magnitudes[1]);
    }
    return product;
}

/* The number whose parts are these rows of column j. */
static bool number_holds(const check *check, const sums *sums, int64_t at, int64_t i, int64_t j)
{
    const product *p = check->product;
    const bool reads_c = p->beta != 0 || p->beta_im != 0;
    long double old[2] = {0, 0}, size[2] = {0, 0};
    for (int64_t part = 0; part < check->parts && reads_c; part++) {
        old[part] = (long double)number_at(&check->before, i + part, j);
        size[part] = fabsl(old[part]);
    }
    const bool is_real = p->hermitian && i / check->parts == j;
    const bool is_left_alone = check->k == 0 && p->beta == 1 && p->beta_im == 0;
    if (is_real && !is_left_alone)
        old[1] = size[1] = 0;
    scaled expected = reads_c ? scale(p->beta, p->beta_im, old, size, check->parts) : (scaled){{0, 0}, 0};
    if (check->k > 0) {
        const scaled sum = p->terms == 2 ? scale(1, 0, sums->terms + at, sums->magnitudes + at, check->parts)
                                         : scale(p->alpha, p->alpha_im, sums->terms + at,
                                                 sums->magnitudes + at, check->parts);
        for (int64_t part = 0; part < check->parts; part++)
            expected.part[part] += sum.part[part];
        expected.magnitude += sum.magnitude;
    }
    if (is_real && !is_left_alone && isfinite(expected.part[1]))
        expected.part[1] = 0;
    double got[2] = {0, 0};
    for (int64_t part = 0; part < check->parts; part++)
        got[part] = number_at(&check->after, i + part, j);
    /* Which parts of a complex number that is not finite are infinite and which are NaN depends on what is scaled when. */
    if (check->parts == 2 && !(isfinite(expected.part[0]) && isfinite(expected.part[1])) &&
        !(isfinite(got[0]) && isfinite(got[1])))
        return true;
    for (int64_t part = 0; part < check->parts; part++) {
        const bool is_zero = part == 1 && is_real && !is_left_alone;
        if (is_zero ? got[part] == 0 : close_enough(p, got[part], expected.part[part], expected.magnitude))
            continue;
        snprintf(check->message, check->size,
                 "C(%" PRId64 ", %" PRId64 ")%s is %.17g, not %.17Lg (off by %.3Lg u d)", i / check->parts, j,
                 part == 0 ? "" : "'s imaginary part", got[part], expected.part[part],
                 fabsl((long double)got[part] - expected.part[part]) /
                     (formats[p->c.element].roundoff * expected.magnitude));
        return false;
    }
    return true;
}

static bool all_hold(const check *check)
{
    const product *p = check->product;
    const int64_t parts = check->parts;
    double *rows = make_numbers((check->k + 1) * AT_ONCE);
    bool hold = true;
    for (int64_t i = 0; i < check->m && hold; i += AT_ONCE) {
        const int64_t count = check->m - i < AT_ONCE ? check->m - i : AT_ONCE;
        copy_rows(&check->a, i, count, check->k, rows);
        for (int64_t j = 0; j < p->n && hold; j++) {
            if (!belongs(p, i / parts, j) && !belongs(p, (i + count - 1) / parts, j))
                continue;
            const sums sums = sum_rows(p->c.element, rows, &check->b, j, check->k);
            for (int64_t row = 0; row < count && hold; row += parts)
                hold = !belongs(p, (i + row) / parts, j) || number_holds(check, &sums, row, i + row, j);
        }
    }
    free(rows);
    return hold;
}

static bool samples_hold(const check *check, int64_t step)
{
    const product *p = check->product;
    for (int64_t index = 0; index < p->m * p->n; index += step) {
        const int64_t i = index % p->m * check->parts, j = index / p->m;
        if (!belongs(p, index % p->m, j))
            continue;
        const sums sums = sum_few(&check->a, &check->b, i, check->parts, j, check->k);
        if (!number_holds(check, &sums, 0, i, j))
            return false;
    }
    return true;
}

static view view_of_written(const double *written, int64_t rows)
{
    return (view){.element = TB_FP64, .elements = written, .down = 1, .right = rows};
}

bool product_holds(const product *product, const matrix *c, char *message, size_t size)
{
    const bool multiplies = (product->alpha != 0 || product->alpha_im != 0) && product->k > 0;
    const int64_t parts = tb_is_complex(product->c.element) ? 2 : 1, terms = product->terms == 2 ? 2 : 1;
    double *a = multiplies ? write_out(product, true) : NULL,
           *b = multiplies ? write_out(product, false) : NULL;
    const check check = {.product = product,
                         .a = a ? view_of_written(a, parts * product->m)
                                : view_of(&product->a, product->row_major, product->transpose_a),
                         .b = b ? view_of_written(b, parts * terms * product->k)
                                : view_of(&product->b, product->row_major, product->transpose_b),
                         .before = view_of(&product->c, product->row_major, false),
                         .after = view_of(c, product->row_major, false),
                         .parts = parts,
                         .m = parts * product->m,
                         .k = multiplies ? parts * terms * product->k : 0,
                         .message = message,
                         .size = size};
    const double volume =
        (double)(parts * parts) * (double)product->m * (double)product->n * (double)product->k;
    /* Odd, so that a sample walks through all rows of a matrix with an even number of them. */
    const int64_t step = 2 * (int64_t)(volume / (2 * MOST_MULTIPLIES)) + 1;
    const bool hold = step == 1 ? all_hold(&check) : samples_hold(&check, step);
    free(a);
    free(b);
    if (!hold)
        return false;
    int64_t lost;
    if (find_lost_canary(product, c, &lost)) {
        snprintf(message, size,
                 "element %" PRId64 " of C's memory, outside of it or its triangle, was written", lost);
        return false;
    }
    return true;
}
