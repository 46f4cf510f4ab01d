/* A matrix in memory, column by column: what a copy, a cache or a sequence of blocks has to know of one. How
 * a product reads it is an operand's to say (words/operand.h).
 */
#ifndef TB_MATRIX_H
#define TB_MATRIX_H

#include "words/element.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tb_matrix {
    void *data;
    int64_t rows, columns;
    int64_t ld; /* distance between columns, in elements */
    tb_element element;
} tb_matrix;

/* Where an element lies. */
static inline void *tb_at(const tb_matrix *matrix, int64_t row, int64_t column)
{
    return (char *)matrix->data + (row + column * matrix->ld) * (int64_t)tb_bytes_of(matrix->element);
}

static inline tb_matrix tb_rectangle(const tb_matrix *matrix, int64_t row, int64_t column, int64_t rows,
                                     int64_t columns)
{
    tb_matrix part = *matrix;
    part.data = tb_at(matrix, row, column);
    part.rows = rows;
    part.columns = columns;
    return part;
}

/* Bytes of the matrix's elements; gaps between columns are not counted. */
static inline size_t tb_matrix_bytes(const tb_matrix *matrix)
{
    return (size_t)matrix->rows * (size_t)matrix->columns * tb_bytes_of(matrix->element);
}

static inline size_t tb_column_bytes(const tb_matrix *matrix)
{
    return (size_t)matrix->rows * tb_bytes_of(matrix->element);
}

/* Bytes between the beginnings of two columns. */
static inline size_t tb_pitch(const tb_matrix *matrix)
{
    return (size_t)matrix->ld * tb_bytes_of(matrix->element);
}

#endif
