#include "tests/matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define GUARD_FLOATS    32
#define ALIGNMENT_BYTES 64
#define CANARY          0x7fc0c0deu /* a quiet NaN that no arithmetic produces */
#define MOST_MULTIPLIES 0x1p25
#define UNIT_ROUNDOFF   0x1p-24
#define SMALLEST_NUMBER 0x1p-149 /* error of a result that underflows */

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static float *make_block(size_t floats)
{
    size_t bytes = (floats * sizeof(float) + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    return must(aligned_alloc(ALIGNMENT_BYTES, bytes));
}

matrix matrix_make(int64_t length, int64_t lines, int64_t ld, int64_t offset)
{
    size_t span = lines > 0 ? (size_t)((lines - 1) * ld + length) : 0;
    size_t first = (size_t)(GUARD_FLOATS + offset);
    matrix matrix = {
        .length = length, .lines = lines, .ld = ld, .first = first, .floats = first + span + GUARD_FLOATS};
    matrix.block = make_block(matrix.floats);
    const uint32_t canary = CANARY;
    for (size_t i = 0; i < matrix.floats; i++)
        memcpy(&matrix.block[i], &canary, sizeof canary);
    return matrix;
}

matrix matrix_clone(const matrix *original)
{
    matrix clone = *original;
    clone.block = make_block(original->floats);
    memcpy(clone.block, original->block, original->floats * sizeof(float));
    return clone;
}

void matrix_free(matrix *matrix)
{
    free(matrix->block);
    matrix->block = NULL;
}

void matrix_fill(matrix *matrix, matrix_family family, check_random *random)
{
    for (int64_t line = 0; line < matrix->lines; line++) {
        float *element = matrix_elements(matrix) + line * matrix->ld;
        for (int64_t i = 0; i < matrix->length; i++)
            element[i] = family == MATRIX_UNIFORM    ? check_uniform(random)
                         : family == MATRIX_INTEGERS ? (float)check_between(random, -4, 4)
                                                     : NAN;
    }
}

bool matrix_equals(const matrix *before, const matrix *after)
{
    return memcmp(before->block, after->block, before->floats * sizeof(float)) == 0;
}

/* The index in floats from element 0 of the first canary of before that after has lost, or -1 with none. */
static bool find_lost_canary(const matrix *before, const matrix *after, int64_t *index)
{
    for (size_t i = 0; i < before->floats; i++) {
        int64_t position = (int64_t)i - (int64_t)before->first;
        bool inside = position >= 0 && position / before->ld < before->lines;
        bool element = inside && position % before->ld < before->length;
        *index = position;
        if (!element && memcmp(&before->block[i], &after->block[i], sizeof(float)) != 0)
            return true;
    }
    return false;
}

/* A stored matrix seen as op(X): how far apart neighbours in a column and in a row of op(X) are. */
typedef struct view {
    const float *elements;
    int64_t down, right;
} view;

static view view_of(const matrix *matrix, bool row_major, bool transposed)
{
    bool lines_are_columns = row_major == transposed;
    return (view){.elements = matrix_elements(matrix),
                  .down = lines_are_columns ? 1 : matrix->ld,
                  .right = lines_are_columns ? matrix->ld : 1};
}

/* Elements of a column of C are summed up so many at a time: sums that do not wait for each other take a fraction of the
 * time, and each adds its terms in the order in which it would alone. */
enum { AT_ONCE = 8 };

/* Of elements of C: the sums of their terms, and of the terms' magnitudes. */
typedef struct sums {
    double terms[AT_ONCE], magnitudes[AT_ONCE];
} sums;

/* Rows of op(A) from i on, side by side for each l; zeros below its last row. */
static void copy_rows(const product *product, view a, int64_t i, double *rows)
{
    const int64_t count = product->m - i;
    for (int64_t l = 0; l < product->k; l++)
        for (int64_t row = 0; row < AT_ONCE; row++)
            rows[l * AT_ONCE + row] = row < count ? (double)a.elements[(i + row) * a.down + l * a.right] : 0;
}

static sums sum_rows(const double *rows, view b, int64_t j, int64_t k)
{
    sums sums = {0};
    for (int64_t l = 0; l < k; l++) {
        const double factor = (double)b.elements[l * b.down + j * b.right];
        for (int row = 0; row < AT_ONCE; row++) {
            const double term = rows[l * AT_ONCE + row] * factor;
            sums.terms[row] += term;
            sums.magnitudes[row] += fabs(term);
        }
    }
    return sums;
}

static sums sum_one(const product *product, view a, view b, int64_t i, int64_t j)
{
    sums sums = {0};
    for (int64_t l = 0; l < product->k; l++) {
        const double term =
            (double)a.elements[i * a.down + l * a.right] * (double)b.elements[l * b.down + j * b.right];
        sums.terms[0] += term;
        sums.magnitudes[0] += fabs(term);
    }
    return sums;
}

static bool close_enough(const product *product, double got, double expected, double magnitude)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : got == expected;
    double roundings = (double)(product->k + 3 + product->more_roundings);
    double bound = product->exact ? 0 : roundings * (UNIT_ROUNDOFF * magnitude + SMALLEST_NUMBER);
    return fabs(got - expected) <= bound;
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
    const double alpha = (double)p->alpha;
    for (int64_t row = 0; row < count; row++) {
        const int64_t at = (i + row) * check->after.down + j * check->after.right;
        const double scaled = p->beta == 0 ? 0 : (double)p->beta * (double)check->before.elements[at];
        const double got = (double)check->after.elements[at];
        const double expected = check->multiplies ? alpha * sums->terms[row] + scaled : scaled;
        const double magnitude = (check->multiplies ? fabs(alpha) * sums->magnitudes[row] : 0) + fabs(scaled);
        if (!close_enough(p, got, expected, magnitude)) {
            snprintf(check->message, check->size,
                     "C(%" PRId64 ", %" PRId64 ") is %.9g, not %.9g (off by %.3g u d)", i + row, j, got,
                     expected, fabs(got - expected) / (UNIT_ROUNDOFF * magnitude));
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
            copy_rows(p, check->a, i, rows);
        for (int64_t j = 0; j < p->n && hold; j++) {
            const sums sums = sum_rows(rows, check->b, j, k);
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
        const sums sums = check->multiplies ? sum_one(p, check->a, check->b, i, j) : (struct sums){0};
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
    if (find_lost_canary(&product->c, c, &lost)) {
        snprintf(message, size, "float %" PRId64 " of C's memory, outside the matrix, was written", lost);
        return false;
    }
    return true;
}
