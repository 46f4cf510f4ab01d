/* An operand: a matrix in memory, column by column, and how a product reads it.
 *
 * Rows and columns are those of the matrix as it lies in memory; transposed says that the product reads its
 * transpose. A structure other than general leaves out elements: one triangle of a symmetric or Hermitian
 * matrix is stored, the other one of a triangular matrix is zero, and what is left out is never read.
 */
#ifndef TB_OPERAND_H
#define TB_OPERAND_H

#include "words/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tb_structure {
    TB_GENERAL,
    TB_SYMMETRIC,
    TB_HERMITIAN,
    TB_TRIANGULAR,
} tb_structure;

typedef enum tb_triangle {
    TB_FULL, /* no triangle: all of the matrix */
    TB_LOWER,
    TB_UPPER,
} tb_triangle;

typedef struct tb_operand {
    void *data; /* A's and B's are read only */
    int64_t rows, columns;
    int64_t ld; /* distance between columns, in elements */
    tb_element element;
    bool transposed, conjugated;
    tb_structure structure;
    tb_triangle stored; /* of a structure other than general */
    int64_t
        diagonal; /* likewise: elements (i, i + diagonal) are its diagonal; 0 unless this is a rectangle of it */
    bool unit_diagonal; /* of a triangular one: ones, which are not read */
    double
        expanded_from; /* bytes, for each of its own, of what it is written out from; 0: it is read as it lies (lowered.h) */
    bool embedded;  /* of such a one: each block of two by two is a complex number, re, -im; im, re */
    int64_t count;  /* of a batch's matrices; 0 and 1 are a single one, and what follows means nothing */
    int64_t stride; /* between the matrices of a batch, in elements */
    void *const *members; /* where each of them begins; NULL where the stride says so */
    bool uneven; /* they are not equally far apart: the stride is a power of two that divides all distances */
} tb_operand;

/* Where an element lies. */
static inline void *tb_at(const tb_operand *operand, int64_t row, int64_t column)
{
    return (char *)operand->data + (row + column * operand->ld) * (int64_t)tb_bytes_of(operand->element);
}

/* A rectangle of the operand; of a batch that is not uneven, of each of its matrices. */
static inline tb_operand tb_rectangle(const tb_operand *operand, int64_t row, int64_t column, int64_t rows,
                                      int64_t columns)
{
    tb_operand part = *operand;
    part.data = tb_at(operand, row, column);
    part.rows = rows;
    part.columns = columns;
    part.diagonal += row - column;
    part.members = part.uneven ? part.members : NULL;
    return part;
}

/* Bytes of the operand's elements; gaps between columns are not counted. */
static inline size_t tb_operand_bytes(const tb_operand *operand)
{
    return (size_t)operand->rows * (size_t)operand->columns * tb_bytes_of(operand->element);
}

/* Bytes of them that are read: half of a structured one, which is square; of an expanded one those that it is written out
 * from. */
static inline double tb_bytes_read(const tb_operand *operand)
{
    const double all = (double)tb_operand_bytes(operand);
    return operand->expanded_from > 0         ? operand->expanded_from * all
           : operand->structure == TB_GENERAL ? all
                                              : all / 2;
}

static inline size_t tb_column_bytes(const tb_operand *operand)
{
    return (size_t)operand->rows * tb_bytes_of(operand->element);
}

/* Bytes between the beginnings of two columns. */
static inline size_t tb_pitch(const tb_operand *operand)
{
    return (size_t)operand->ld * tb_bytes_of(operand->element);
}

#endif
