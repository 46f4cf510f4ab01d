/* The reference BLAS's argument rules: which calls are regular, and how a caller's arguments become a
 * product. Pure functions; they look at no element of a matrix.
 *
 * The answer is 0, and *product is complete; or it is the number of the irregular argument that Netlib's BLAS
 * reports, and *product means nothing.
 */
#ifndef TB_ARGUMENTS_H
#define TB_ARGUMENTS_H

#include "words/product.h"

/* The values of cblas.h, which is not included because it declares every spelling with one integer width. */
enum {
    TB_ROW_MAJOR = 101,
    TB_COLUMN_MAJOR = 102,
    TB_NO_TRANSPOSE = 111,
    TB_TRANSPOSE = 112,
    TB_CONJUGATE_TRANSPOSE = 113,
};

/* The caller's, in the caller's own order. */
typedef struct tb_gemm_arguments {
    tb_routine routine;
    int64_t m, n, k;
    double alpha;
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    double beta;
    void *c;
    int64_t ldc;
} tb_gemm_arguments;

/* Numbers: layout 1, TransA 2, TransB 3, M 4, N 5, K 6, lda 9, ldb 11, ldc 14. OpenBLAS's ConjNoTrans (114)
 * is irregular: what it means is for the caller's own BLAS to say. */
int tb_canonicalize_cblas(int layout, int transpose_a, int transpose_b, const tb_gemm_arguments *given,
                          tb_product *product);

/* Numbers: TRANSA 1, TRANSB 2, M 3, N 4, K 5, LDA 8, LDB 10, LDC 13. */
int tb_canonicalize_fortran(char transpose_a, char transpose_b, const tb_gemm_arguments *given,
                            tb_product *product);

#endif
