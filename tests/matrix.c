#include "tests/matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define GUARD_ELEMENTS  32
#define ALIGNMENT_BYTES 64
#define MOST_MULTIPLIES 0x1p25

static const struct {
    size_t bytes;
    double roundoff, smallest; /* smallest: the error of a result that underflows */
    uint64_t canary;           /* a signalling NaN, which no arithmetic produces nor leaves as it is */
} formats[TB_ELEMENTS] = {
    [TB_FP32] = {4, 0x1p-24, 0x1p-149, 0x7fa0c0de},
    [TB_FP64] = {8, 0x1p-53, 0x1p-1074, 0x7ff4c0dec0dec0de},
};

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void *make_block(size_t bytes)
{
    return must(
        aligned_alloc(ALIGNMENT_BYTES, (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES));
}

matrix matrix_make_of(tb_element element, int64_t length, int64_t lines, int64_t ld, int64_t offset)
{
    const size_t size = formats[element].bytes, span = lines > 0 ? (size_t)((lines - 1) * ld + length) : 0;
    const size_t first = (size_t)(GUARD_ELEMENTS + offset);
    matrix matrix = {.element = element,
                     .length = length,
                     .lines = lines,
                     .ld = ld,
                     .first = first,
                     .bytes = (first + span + GUARD_ELEMENTS) * size};
    matrix.block = make_block(matrix.bytes);
    /* Little-endian: of a canary that has fewer bytes, they come first. */
    for (size_t at = 0; at < matrix.bytes; at += size)
        memcpy((char *)matrix.block + at, &formats[element].canary, size);
    return matrix;
}

matrix matrix_clone(const matrix *original)
{
    matrix clone = *original;
    clone.block = make_block(original->bytes);
    memcpy(clone.block, original->block, original->bytes);
    return clone;
}

void matrix_free(matrix *matrix)
{
    free(matrix->block);
    matrix->block = NULL;
}

void *matrix_start_in(const matrix *matrix, void *block)
{
    return (char *)block + matrix->first * formats[matrix->element].bytes;
}

void matrix_set(const matrix *matrix, int64_t line, int64_t position, double value)
{
    const int64_t index = line * matrix->ld + position;
    void *start = matrix_start_in(matrix, matrix->block);
    if (matrix->element == TB_FP64)
        ((double *)start)[index] = value;
    else
        ((float *)start)[index] = (float)value;
}

/* In [-1, 1), with as many bits as the element has. */
static double uniform(tb_element element, check_random *random)
{
    return element == TB_FP64 ? (double)((int64_t)check_next(random) >> 11) * 0x1p-52
                              : (double)check_uniform(random);
}

void matrix_fill(matrix *matrix, matrix_family family, check_random *random)
{
    for (int64_t line = 0; line < matrix->lines; line++)
        for (int64_t i = 0; i < matrix->length; i++)
            matrix_set(matrix, line, i,
                       family == MATRIX_UNIFORM    ? uniform(matrix->element, random)
                       : family == MATRIX_INTEGERS ? (double)check_between(random, -4, 4)
                                                   : (double)NAN);
}

bool matrix_equals(const matrix *before, const matrix *after)
{
    return memcmp(before->block, after->block, before->bytes) == 0;
}

static bool belongs(const product *product, int64_t i, int64_t j)
{
    return product->mask == TB_FULL || (product->mask == TB_LOWER ? i >= j : i <= j);
}

static bool belongs_to_c(const product *product, int64_t line, int64_t position)
{
    return product->row_major ? belongs(product, line, position) : belongs(product, position, line);
}

void product_hide_the_rest(const product *product)
{
    const matrix *c = &product->c;
    const size_t size = formats[c->element].bytes;
    for (int64_t line = 0; line < c->lines; line++)
        for (int64_t i = 0; i < c->length; i++)
            if (!belongs_to_c(product, line, i))
                memcpy((char *)matrix_start_in(c, c->block) + (size_t)(line * c->ld + i) * size,
                       &formats[c->element].canary, size);
}

/* The index from element 0 of the first canary of C that after has lost. */
static bool find_lost_canary(const product *product, const matrix *after, int64_t *index)
{
    const matrix *before = &product->c;
    const size_t size = formats[before->element].bytes;
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

/* A stored matrix seen as op(X): how far apart neighbours in a column and in a row of op(X) are. */
typedef struct view {
    tb_element element;
    const void *elements;
    int64_t down, right;
} view;

static double number_at(const view *view, int64_t i, int64_t j)
{
    const int64_t index = i * view->down + j * view->right;
    return view->element == TB_FP64 ? ((const double *)view->elements)[index]
                                    : (double)((const float *)view->elements)[index];
}

static view view_of(const matrix *matrix, bool row_major, bool transposed)
{
    bool lines_are_columns = row_major == transposed;
    return (view){.element = matrix->element,
                  .elements = matrix_start_in(matrix, matrix->block),
                  .down = lines_are_columns ? 1 : matrix->ld,
                  .right = lines_are_columns ? matrix->ld : 1};
}

/* Elements of a column of C are summed up so many at a time: sums that do not wait for each other take a fraction of the
 * time, and each adds its terms in the order in which it would alone. */
enum { AT_ONCE = 8 };

/* Of elements of C: the sums of their terms, and of the terms' magnitudes. */
typedef struct sums {
    long double terms[AT_ONCE], magnitudes[AT_ONCE];
} sums;

/* Rows of op(A) from i on, side by side for each l; zeros below its last row. */
static void copy_rows(const product *product, const view *a, int64_t i, double *rows)
{
    const int64_t count = product->m - i;
    for (int64_t l = 0; l < product->k; l++)
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

static sums sum_rows(const double *rows, const view *b, int64_t j, int64_t k)
{
    return b->element == TB_FP64 ? sum_rows_of_doubles(rows, b, j, k) : sum_rows_of_floats(rows, b, j, k);
}

static sums sum_one(const product *product, const view *a, const view *b, int64_t i, int64_t j)
{
    sums sums = {0};
    for (int64_t l = 0; l < product->k; l++) {
        const long double term = (long double)number_at(a, i, l) * (long double)number_at(b, l, j);
        sums.terms[0] += term;
        sums.magnitudes[0] += fabsl(term);
    }
    return sums;
}

static bool close_enough(const product *product, double got, long double expected, long double magnitude)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : (long double)got == expected;
    const tb_element element = product->c.element;
    const double roundings = (double)(product->k + 3 + product->more_roundings);
    const long double bound =
        product->exact ? 0 : roundings * (formats[element].roundoff * magnitude + formats[element].smallest);
    return fabsl((long double)got - expected) <= bound;
}

/* A product that is looked at, and where a message about it goes. */
typedef struct check {
    const product *product;
    view a, b, before, after;
    bool multiplies; /* A and B are read */
    char *message;
    size_t size;
} check;

/* Elements of column j from row i on. */
static bool elements_hold(const check *check, const sums *sums, int64_t i, int64_t j, int64_t count)
{
    const product *p = check->product;
    const long double alpha = p->alpha, beta = p->beta;
    for (int64_t row = 0; row < count; row++) {
        if (!belongs(p, i + row, j))
            continue;
        const long double scaled =
            p->beta == 0 ? 0 : beta * (long double)number_at(&check->before, i + row, j);
        const double got = number_at(&check->after, i + row, j);
        const long double expected = check->multiplies ? alpha * sums->terms[row] + scaled : scaled;
        const long double magnitude =
            (check->multiplies ? fabsl(alpha) * sums->magnitudes[row] : 0) + fabsl(scaled);
        if (!close_enough(p, got, expected, magnitude)) {
            snprintf(check->message, check->size,
                     "C(%" PRId64 ", %" PRId64 ") is %.17g, not %.17Lg (off by %.3Lg u d)", i + row, j, got,
                     expected,
                     fabsl((long double)got - expected) / (formats[p->c.element].roundoff * magnitude));
            return false;
        }
    }
    return true;
}

static bool all_hold(const check *check)
{
    const product *p = check->product;
    const int64_t k = check->multiplies ? p->k : 0;
    double *rows = must(malloc(((size_t)k + 1) * AT_ONCE * sizeof *rows));
    bool hold = true;
    for (int64_t i = 0; i < p->m && hold; i += AT_ONCE) {
        const int64_t count = p->m - i < AT_ONCE ? p->m - i : AT_ONCE;
        if (k > 0)
            copy_rows(p, &check->a, i, rows);
        for (int64_t j = 0; j < p->n && hold; j++) {
            if (!belongs(p, i, j) && !belongs(p, i + count - 1, j))
                continue;
            const sums sums = sum_rows(rows, &check->b, j, k);
            hold = elements_hold(check, &sums, i, j, count);
        }
    }
    free(rows);
    return hold;
}

static bool samples_hold(const check *check, int64_t step)
{
    const product *p = check->product;
    for (int64_t index = 0; index < p->m * p->n; index += step) {
        const int64_t i = index % p->m, j = index / p->m;
        if (!belongs(p, i, j))
            continue;
        const sums sums = check->multiplies ? sum_one(p, &check->a, &check->b, i, j) : (struct sums){0};
        if (!elements_hold(check, &sums, i, j, 1))
            return false;
    }
    return true;
}

bool product_holds(const product *product, const matrix *c, char *message, size_t size)
{
    const check check = {.product = product,
                         .a = view_of(&product->a, product->row_major, product->transpose_a),
                         .b = view_of(&product->b, product->row_major, product->transpose_b),
                         .before = view_of(&product->c, product->row_major, false),
                         .after = view_of(c, product->row_major, false),
                         .multiplies = product->alpha != 0 && product->k > 0,
                         .message = message,
                         .size = size};
    double volume = (double)product->m * (double)product->n * (double)product->k;
    /* Odd, so that a sample walks through all rows of a matrix with an even number of them. */
    int64_t step = 2 * (int64_t)(volume / (2 * MOST_MULTIPLIES)) + 1;
    if (!(step == 1 ? all_hold(&check) : samples_hold(&check, step)))
        return false;
    int64_t lost;
    if (find_lost_canary(product, c, &lost)) {
        snprintf(message, size,
                 "element %" PRId64 " of C's memory, outside of it or its triangle, was written", lost);
        return false;
    }
    return true;
}
