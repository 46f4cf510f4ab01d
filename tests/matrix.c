#include "tests/matrix.h"

#include <math.h>
#include <string.h>

#define GUARD_ELEMENTS  32
#define ALIGNMENT_BYTES 64

static const struct {
    size_t bytes;
    uint64_t canary; /* a signalling NaN, which no arithmetic produces nor leaves as it is */
} formats[TB_ELEMENTS] = {
    [TB_FP32] = {4, 0x7fa0c0de},
    [TB_FP64] = {8, 0x7ff4c0dec0dec0de},
    [TB_COMPLEX_FP32] = {8, 0x7fa0c0de},
    [TB_COMPLEX_FP64] = {16, 0x7ff4c0dec0dec0de},
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

/* Little-endian: of a canary that has fewer bytes, they come first. */
static void set_canary(tb_element element, void *at)
{
    const size_t part = formats[tb_real_of(element)].bytes;
    for (size_t byte = 0; byte < formats[element].bytes; byte += part)
        memcpy((char *)at + byte, &formats[element].canary, part);
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
    for (size_t at = 0; at < matrix.bytes; at += size)
        set_canary(element, (char *)matrix.block + at);
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

/* part: 0 the real, 1 the imaginary one. */
static void set_part(const matrix *matrix, int64_t line, int64_t position, int part, double value)
{
    const int64_t index = (line * matrix->ld + position) * (tb_is_complex(matrix->element) ? 2 : 1) + part;
    void *start = matrix_start_in(matrix, matrix->block);
    if (tb_real_of(matrix->element) == TB_FP64)
        ((double *)start)[index] = value;
    else
        ((float *)start)[index] = (float)value;
}

void matrix_set(const matrix *matrix, int64_t line, int64_t position, double value)
{
    set_part(matrix, line, position, 0, value);
}

void matrix_set_imaginary(const matrix *matrix, int64_t line, int64_t position, double value)
{
    set_part(matrix, line, position, 1, value);
}

void matrix_hide(const matrix *matrix, int64_t line, int64_t position)
{
    const size_t at = (size_t)(line * matrix->ld + position) * formats[matrix->element].bytes;
    set_canary(matrix->element, (char *)matrix_start_in(matrix, matrix->block) + at);
}

/* A number in [-1, 1), with as many bits as the element has. */
static double uniform(tb_element element, check_random *random)
{
    return tb_real_of(element) == TB_FP64 ? (double)((int64_t)check_next(random) >> 11) * 0x1p-52
                                          : (double)check_uniform(random);
}

static double draw(const matrix *matrix, matrix_family family, check_random *random)
{
    switch (family) {
    case MATRIX_UNIFORM:
        return uniform(matrix->element, random);
    case MATRIX_SOLVABLE:
        return uniform(matrix->element, random) / sqrt((double)matrix->lines);
    case MATRIX_INTEGERS:
    case MATRIX_INTEGERS_SOLVABLE:
        return (double)check_between(random, -4, 4);
    case MATRIX_EVEN:
        return 2 * (double)check_between(random, -4, 4);
    case MATRIX_NANS:
        break;
    }
    return (double)NAN;
}

static void set_diagonal(const matrix *matrix, matrix_family family, check_random *random)
{
    static const double powers[] = {1, -1, 2, -2, 0.5};
    for (int64_t i = 0; i < matrix->lines && i < matrix->length; i++) {
        const bool turned = tb_is_complex(matrix->element) && check_between(random, 0, 1) == 0;
        const double number =
            family == MATRIX_SOLVABLE ? 2 + uniform(matrix->element, random) : CHECK_PICK(random, powers);
        matrix_set(matrix, i, i, turned ? 0 : number);
        if (tb_is_complex(matrix->element))
            matrix_set_imaginary(matrix, i, i, turned ? number : 0);
    }
}

void matrix_fill(matrix *matrix, matrix_family family, check_random *random)
{
    const int parts = tb_is_complex(matrix->element) ? 2 : 1;
    for (int64_t line = 0; line < matrix->lines; line++)
        for (int64_t i = 0; i < parts * matrix->length; i++)
            set_part(matrix, line, i / parts, (int)(i % parts), draw(matrix, family, random));
    if (family == MATRIX_SOLVABLE || family == MATRIX_INTEGERS_SOLVABLE)
        set_diagonal(matrix, family, random);
}

bool matrix_equals(const matrix *before, const matrix *after)
{
    return memcmp(before->block, after->block, before->bytes) == 0;
}
