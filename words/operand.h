/* An operand: a matrix in memory, and how a product reads it.
 *
 * Rows and columns are those of the matrix as it lies in memory; transposed says that the product reads its
 * transpose. A structure other than general leaves out elements: one triangle of a symmetric or Hermitian
 * matrix is stored, the other one of a triangular matrix is zero, and what is left out is never read.
 */
#ifndef TB_OPERAND_H
#define TB_OPERAND_H

#include "words/matrix.h"
#include "words/structure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of the matrix are the operand's own, too. */
typedef struct tb_operand {
    union {
        tb_matrix matrix;
        struct {
            void *data; /* A's and B's are read only */
            int64_t rows, columns;
            int64_t ld;
            tb_element element;
        };
    };
    bool transposed, conjugated;
    bool unit_diagonal; /* of a triangular one: ones, which are not read */
    tb_structure structure;
    tb_triangle stored; /* of a structure other than general */
    int64_t
        diagonal; /* likewise: elements (i, i + diagonal) are its diagonal; 0 unless this is a rectangle of it */
} tb_operand;

_Static_assert(offsetof(tb_operand, rows) == offsetof(tb_matrix, rows) &&
                   offsetof(tb_operand, columns) == offsetof(tb_matrix, columns) &&
                   offsetof(tb_operand, ld) == offsetof(tb_matrix, ld) &&
                   offsetof(tb_operand, element) == offsetof(tb_matrix, element) &&
                   offsetof(tb_operand, transposed) == sizeof(tb_matrix),
               "an operand begins with its matrix");

/* A rectangle of the operand. */
static inline tb_operand tb_operand_part(const tb_operand *operand, int64_t row, int64_t column, int64_t rows,
                                         int64_t columns)
{
    tb_operand part = *operand;
    part.matrix = tb_rectangle(&operand->matrix, row, column, rows, columns);
    part.diagonal += row - column;
    return part;
}

/* Bytes of its elements that are stored: half of a structured one, which is square. */
static inline double tb_stored_bytes(const tb_operand *operand)
{
    const double all = (double)tb_matrix_bytes(&operand->matrix);
    return operand->structure == TB_GENERAL ? all : all / 2;
}

#endif
