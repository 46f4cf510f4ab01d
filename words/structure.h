/* What of a matrix is stored: all of it, or one triangle. Shared by C and CUDA. */
#ifndef TB_STRUCTURE_H
#define TB_STRUCTURE_H

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

#endif
