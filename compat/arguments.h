/* The reference BLAS's argument rules: which calls of SGEMM are regular, and how a caller's arguments become
 * the canonical problem. Pure functions; they look at no element of a matrix.
 *
 * The caller's m, n, k, leading dimensions, matrices and scalars come in *problem, in the caller's own order;
 * the transposes there are ignored. The answer is 0, and *problem is canonical; or it is the number of the
 * irregular argument that Netlib's BLAS reports, and *problem means nothing.
 */
#ifndef TB_ARGUMENTS_H
#define TB_ARGUMENTS_H

#include "words/problem.h"

/* The values of cblas.h, which is not included because it declares every spelling with one integer width. */
enum {
    TB_ROW_MAJOR = 101,
    TB_COLUMN_MAJOR = 102,
    TB_NO_TRANSPOSE = 111,
    TB_TRANSPOSE = 112,
    TB_CONJUGATE_TRANSPOSE = 113,
};

/* Numbers: layout 1, TransA 2, TransB 3, M 4, N 5, K 6, lda 9, ldb 11, ldc 14. OpenBLAS's ConjNoTrans (114)
 * is irregular: what it means is for the caller's own BLAS to say. */
int tb_canonicalize_cblas(int layout, int transpose_a, int transpose_b, tb_problem *problem);

/* Numbers: TRANSA 1, TRANSB 2, M 3, N 4, K 5, LDA 8, LDB 10, LDC 13. */
int tb_canonicalize_fortran(char transpose_a, char transpose_b, tb_problem *problem);

#endif
