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

/* Element (i, j) of the result in double, and the sum of the terms' magnitudes. */
static double expect(const product *product, view a, view b, double c, int64_t i, int64_t j,
                     double *magnitude)
{
    double sum = 0, size = 0;
    for (int64_t l = 0; product->alpha != 0 && l < product->k; l++) {
        double term =
            (double)a.elements[i * a.down + l * a.right] * (double)b.elements[l * b.down + j * b.right];
        sum += term;
        size += fabs(term);
    }
    double alpha = (double)product->alpha, beta = (double)product->beta;
    bool multiplies = product->alpha != 0 && product->k > 0;
    double scaled = product->beta == 0 ? 0 : beta * c;
    *magnitude = (multiplies ? fabs(alpha) * size : 0) + fabs(scaled);
    return multiplies ? alpha * sum + scaled : scaled;
}

static bool close_enough(const product *product, double got, double expected, double magnitude)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : got == expected;
    double roundings = (double)(product->k + 3 + product->more_roundings);
    double bound = product->exact ? 0 : roundings * (UNIT_ROUNDOFF * magnitude + SMALLEST_NUMBER);
    return fabs(got - expected) <= bound;
}

bool product_holds(const product *product, const matrix *c, char *message, size_t size)
{
    view a = view_of(&product->a, product->row_major, product->transpose_a);
    view b = view_of(&product->b, product->row_major, product->transpose_b);
    view before = view_of(&product->c, product->row_major, false);
    view after = view_of(c, product->row_major, false);
    double volume = (double)product->m * (double)product->n * (double)product->k;
    /* Odd, so that a sample walks through all rows of a matrix with an even number of them. */
    int64_t step = 2 * (int64_t)(volume / (2 * MOST_MULTIPLIES)) + 1;

    for (int64_t index = 0; index < product->m * product->n; index += step) {
        int64_t i = index % product->m, j = index / product->m, at = i * after.down + j * after.right;
        double magnitude, got = (double)after.elements[at];
        double expected = expect(product, a, b, (double)before.elements[at], i, j, &magnitude);
        if (!close_enough(product, got, expected, magnitude)) {
            snprintf(message, size, "C(%" PRId64 ", %" PRId64 ") is %.9g, not %.9g (off by %.3g u d)", i, j,
                     got, expected, fabs(got - expected) / (UNIT_ROUNDOFF * magnitude));
            return false;
        }
    }
    int64_t lost;
    if (find_lost_canary(&product->c, c, &lost)) {
        snprintf(message, size, "float %" PRId64 " of C's memory, outside the matrix, was written", lost);
        return false;
    }
    return true;
}
