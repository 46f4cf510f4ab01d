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
    TB_CBLAS_UPPER = 121,
    TB_CBLAS_LOWER = 122,
    TB_CBLAS_NON_UNIT = 131,
    TB_CBLAS_UNIT = 132,
    TB_CBLAS_LEFT = 141,
    TB_CBLAS_RIGHT = 142,
};

/* The caller's, in the caller's own order. */
typedef struct tb_arguments {
    tb_routine routine;
    int64_t m, n, k; /* m of GEMM, SYMM, TRMM and TRSM alone, k not of SYMM, TRMM and TRSM */
    tb_scalar alpha;
    const void *a;
    int64_t lda;
    const void *b; /* not of SYRK, TRMM and TRSM */
    int64_t ldb;
    tb_scalar beta; /* not of TRMM and TRSM */
    void *c;        /* B of TRMM and TRSM */
    int64_t ldc;
} tb_arguments;

/* GEMM. CBLAS's numbers: layout 1, TransA 2, TransB 3, M 4, N 5, K 6, lda 9, ldb 11, ldc 14. OpenBLAS's ConjNoTrans (114)
 * is irregular: what it means is for the caller's own BLAS to say. Fortran's: TRANSA 1, TRANSB 2, M 3, N 4, K 5, LDA 8,
 * LDB 10, LDC 13. */
int tb_gemm_of_cblas(int layout, int transpose_a, int transpose_b, const tb_arguments *given,
                     tb_product *product);
int tb_gemm_of_fortran(char transpose_a, char transpose_b, const tb_arguments *given, tb_product *product);

/* A group of GEMM_BATCH, and GEMM_BATCH_STRIDED, are a GEMM and what makes a batch of it. As GEMM's, but where strides stand
 * between: lda 9, ldb 12, ldc 16; LDA 8, LDB 11, LDC 15. Of the groups' number and sizes, and of the strided batch's: */
enum {
    TB_ARGUMENT_GROUP_COUNT = 15, /* in CBLAS; in Fortran one less each */
    TB_ARGUMENT_GROUP_SIZE = 16,
    TB_ARGUMENT_BATCH_SIZE = 18,
};

/* SYRK and HERK. Layout 1, Uplo 2, Trans 3, N 4, K 5, lda 8, ldc 11; UPLO 1, TRANS 2, N 3, K 4, LDA 7, LDC 10.
 * (The reference calls Uplo the third argument where the layout is row-major. Here it is the second.) */
int tb_rank_k_of_cblas(int layout, int triangle, int transpose, const tb_arguments *given,
                       tb_product *product);
int tb_rank_k_of_fortran(char triangle, char transpose, const tb_arguments *given, tb_product *product);

/* SYR2K and HER2K. Layout 1, Uplo 2, Trans 3, N 4, K 5, lda 8, ldb 10, ldc 13; UPLO 1, TRANS 2, N 3, K 4, LDA 7, LDB 9,
 * LDC 12. */
int tb_rank_2k_of_cblas(int layout, int triangle, int transpose, const tb_arguments *given,
                        tb_product *product);
int tb_rank_2k_of_fortran(char triangle, char transpose, const tb_arguments *given, tb_product *product);

/* GEMMT. Layout 1, Uplo 2, TransA 3, TransB 4, N 5, K 6, lda 9, ldb 11, ldc 14; UPLO 1, TRANSA 2, TRANSB 3, N 4, K 5,
 * LDA 8, LDB 10, LDC 13. (The reference's handler of errors takes row-major GEMMTR for GEMM, and calls N the fourth
 * argument. Here it is the fifth.) */
int tb_triangle_of_cblas(int layout, int triangle, int transpose_a, int transpose_b,
                         const tb_arguments *given, tb_product *product);
int tb_triangle_of_fortran(char triangle, char transpose_a, char transpose_b, const tb_arguments *given,
                           tb_product *product);

/* SYMM, and HEMM. Layout 1, Side 2, Uplo 3, M 4, N 5, lda 8, ldb 10, ldc 13; SIDE 1, UPLO 2, M 3, N 4, LDA 7, LDB 9,
 * LDC 12. */
int tb_symm_of_cblas(int layout, int side, int triangle, const tb_arguments *given, tb_product *product);
int tb_symm_of_fortran(char side, char triangle, const tb_arguments *given, tb_product *product);

/* TRMM, and TRSM. Layout 1, Side 2, Uplo 3, TransA 4, Diag 5, M 6, N 7, lda 10, ldb 12; SIDE 1, UPLO 2, TRANSA 3, DIAG 4, M 5,
 * N 6, LDA 9, LDB 11. */
int tb_triangular_of_cblas(int layout, int side, int triangle, int transpose, int diagonal,
                           const tb_arguments *given, tb_product *product);
int tb_triangular_of_fortran(char side, char triangle, char transpose, char diagonal,
                             const tb_arguments *given, tb_product *product);

#endif
