/* Operands of any element, structure and op for tests that give them to kernels: a block of memory whose every bit is that of a
 * NaN, but for numbers that the operand has. What a number is, is told by the whole matrix that the operand is a rectangle of.
 */
#ifndef TB_DRAWN_OPERAND_H
#define TB_DRAWN_OPERAND_H

#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "words/operand.h"

#include <string.h>

/* The bits of a number's parts, those of a float in the lower half. */
typedef struct bits {
    uint64_t re, im;
} bits;

typedef struct drawn {
    tb_operand operand; /* its data lies in the device's copy */
    unsigned char *block;
    void *on_device;
    size_t bytes, start; /* of the block; from its beginning to the whole matrix's */
    int64_t row, column; /* of the whole matrix: the operand's first */
} drawn;

/* What is asked for: an operand whose rows and columns are those in memory, as are those of all below. */
typedef struct shape {
    tb_element element;
    tb_structure structure;
    tb_triangle stored;
    bool unit_diagonal, transposed, conjugated;
    int64_t rows, columns;
    int64_t row, column; /* of a structured one: where in the whole matrix it begins */
    int64_t gap;         /* numbers between columns */
    int shift;           /* reals before the first number */
    bool any_bits;       /* NaN among them; else numbers in [-1, 1) */
} shape;

static inline size_t drawn_part_bytes(tb_element element)
{
    return tb_bytes_of(tb_real_of(element));
}

static inline double drawn_value(uint64_t part, tb_element element)
{
    double wide;
    float narrow;
    memcpy(&wide, &part, sizeof wide);
    memcpy(&narrow, &part, sizeof narrow);
    return tb_real_of(element) == TB_FP64 ? wide : (double)narrow;
}

static inline uint64_t drawn_part(double value, tb_element element)
{
    const float narrow = (float)value;
    uint64_t part = 0;
    if (tb_real_of(element) == TB_FP64)
        memcpy(&part, &value, sizeof value);
    else
        memcpy(&part, &narrow, sizeof narrow);
    return part;
}

static inline uint64_t drawn_negative(uint64_t part, tb_element element)
{
    return part ^ (tb_real_of(element) == TB_FP64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
}

/* The address of an element of the whole matrix. */
static inline unsigned char *drawn_at(const drawn *x, int64_t row, int64_t column)
{
    return x->block + x->start + (size_t)(row + column * x->operand.ld) * tb_bytes_of(x->operand.element);
}

static inline bool drawn_is_stored(const tb_operand *x, int64_t row, int64_t column)
{
    return x->structure == TB_GENERAL || (x->stored == TB_LOWER ? row >= column : row <= column);
}

/* Element (i, j) of op(X). */
static inline bits drawn_number(const drawn *x, int64_t i, int64_t j)
{
    const tb_operand *operand = &x->operand;
    const tb_element element = operand->element;
    const int64_t row = x->row + (operand->transposed ? j : i),
                  column = x->column + (operand->transposed ? i : j);
    const bool stored = drawn_is_stored(operand, row, column), hermitian = operand->structure == TB_HERMITIAN;
    bits number = {0, 0};
    if (operand->structure == TB_TRIANGULAR && (!stored || (row == column && operand->unit_diagonal)))
        return (bits){drawn_part(row == column, element), 0};
    const unsigned char *at = stored ? drawn_at(x, row, column) : drawn_at(x, column, row);
    memcpy(&number.re, at, drawn_part_bytes(element));
    if (!tb_is_complex(element))
        return number;
    memcpy(&number.im, at + drawn_part_bytes(element), drawn_part_bytes(element));
    if (operand->conjugated != (hermitian && !stored))
        number.im = drawn_negative(number.im, element);
    if (hermitian && row == column)
        number.im = 0;
    return number;
}

/* Fills what is read of a number that may be read more than once. */
static inline void draw_number(const drawn *x, int64_t row, int64_t column, bool any_bits,
                               check_random *random)
{
    const tb_operand *operand = &x->operand;
    const bool stored = drawn_is_stored(operand, row, column);
    if (operand->structure == TB_TRIANGULAR && (!stored || (row == column && operand->unit_diagonal)))
        return;
    unsigned char *at = stored ? drawn_at(x, row, column) : drawn_at(x, column, row);
    const bool is_real =
        !tb_is_complex(operand->element) || (operand->structure == TB_HERMITIAN && row == column);
    for (int part = 0; part < (is_real ? 1 : 2); part++) {
        const uint64_t drawn =
            any_bits ? check_next(random) : drawn_part((double)check_uniform(random), operand->element);
        memcpy(at + (size_t)part * drawn_part_bytes(operand->element), &drawn,
               drawn_part_bytes(operand->element));
    }
}

/* on_device: room enough for it. */
static inline drawn draw_operand(const shape *shape, void *on_device, check_random *random)
{
    const bool whole = shape->structure != TB_GENERAL;
    const int64_t rows = shape->rows + (whole ? shape->row : 0),
                  columns = shape->columns + (whole ? shape->column : 0);
    const int64_t order = rows > columns ? rows : columns;
    const int64_t ld = (whole ? order : rows) + shape->gap;
    const size_t bytes = tb_bytes_of(shape->element);
    drawn x = {.on_device = on_device,
               .start = (size_t)shape->shift * drawn_part_bytes(shape->element),
               .row = rows - shape->rows,
               .column = columns - shape->columns};
    x.bytes = x.start + (size_t)(ld * (whole ? order : columns) + 1) * bytes;
    x.block = malloc(x.bytes);
    memset(x.block, 0xff, x.bytes);
    x.operand = (tb_operand){.rows = shape->rows,
                             .columns = shape->columns,
                             .ld = ld,
                             .element = shape->element,
                             .transposed = shape->transposed,
                             .conjugated = shape->conjugated,
                             .structure = shape->structure,
                             .stored = whole ? shape->stored : TB_FULL,
                             .diagonal = x.row - x.column,
                             .unit_diagonal = shape->unit_diagonal};
    x.operand.data = (char *)on_device + (drawn_at(&x, x.row, x.column) - x.block);
    for (int64_t column = x.column; column < columns; column++)
        for (int64_t row = x.row; row < rows; row++)
            draw_number(&x, row, column, shape->any_bits, random);
    arena_copy(on_device, x.block, x.bytes);
    return x;
}

#endif
