/* The parameters of the routines of a class in either calling convention, and their names as arguments. A program or library is
 * built for the routines of one: OF_CLASS(class, what), where the class is GEMM, RANK_K, TRIANGLE, SYMM, which HEMM is of here,
 * RANK_2K, HER2K, which is RANK_2K with a real beta, or TRIANGULAR: TRMM and TRSM, whose B, which is written, is c.
 * CBLAS takes scalars as a type of its own: a complex one by its address. real##_part: the type of a number's parts.
 */
#ifndef CLASSES_H
#define CLASSES_H

#include <stddef.h>

#define OF_CLASS_(class, what) class##_##what
#define OF_CLASS(class, what)  OF_CLASS_(class, what)

/* Which class something is built for, where `if` has to ask: OF_CLASS(class, NUMBER). */
enum {
    GEMM_NUMBER,
    RANK_K_NUMBER,
    TRIANGLE_NUMBER,
    SYMM_NUMBER,
    TRIANGULAR_NUMBER,
    RANK_2K_NUMBER,
    HER2K_NUMBER = RANK_2K_NUMBER
};

typedef float float_scalar, float_part, complex_float_part;
typedef double double_scalar, double_part, complex_double_part;
typedef float _Complex complex_float;
typedef const complex_float *complex_float_scalar;
typedef double _Complex complex_double;
typedef const complex_double *complex_double_scalar;

#define GEMM_CBLAS_PARAMETERS(integer, real)                                                                 \
    int layout, int transpose_a, int transpose_b, integer m, integer n, integer k, real##_scalar alpha,      \
        const real *a, integer lda, const real *b, integer ldb, real##_scalar beta, real *c, integer ldc
#define GEMM_CBLAS_ARGUMENTS layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define GEMM_FORTRAN_PARAMETERS(integer, real)                                                               \
    const char *transpose_a, const char *transpose_b, const integer *m, const integer *n, const integer *k,  \
        const real *alpha, const real *a, const integer *lda, const real *b, const integer *ldb,             \
        const real *beta, real *c, const integer *ldc
#define GEMM_FORTRAN_ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define GEMM_LENGTHS           size_t length_1, size_t length_2

#define RANK_K_CBLAS_PARAMETERS(integer, real)                                                               \
    int layout, int triangle, int transpose_a, integer n, integer k, real##_scalar alpha, const real *a,     \
        integer lda, real##_scalar beta, real *c, integer ldc
#define RANK_K_CBLAS_ARGUMENTS layout, triangle, transpose_a, n, k, alpha, a, lda, beta, c, ldc
#define RANK_K_FORTRAN_PARAMETERS(integer, real)                                                             \
    const char *triangle, const char *transpose_a, const integer *n, const integer *k, const real *alpha,    \
        const real *a, const integer *lda, const real *beta, real *c, const integer *ldc
#define RANK_K_FORTRAN_ARGUMENTS triangle, transpose_a, n, k, alpha, a, lda, beta, c, ldc
#define RANK_K_LENGTHS           size_t length_1, size_t length_2

#define TRIANGLE_CBLAS_PARAMETERS(integer, real)                                                             \
    int layout, int triangle, int transpose_a, int transpose_b, integer n, integer k, real##_scalar alpha,   \
        const real *a, integer lda, const real *b, integer ldb, real##_scalar beta, real *c, integer ldc
#define TRIANGLE_CBLAS_ARGUMENTS                                                                             \
    layout, triangle, transpose_a, transpose_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define TRIANGLE_FORTRAN_PARAMETERS(integer, real)                                                           \
    const char *triangle, const char *transpose_a, const char *transpose_b, const integer *n,                \
        const integer *k, const real *alpha, const real *a, const integer *lda, const real *b,               \
        const integer *ldb, const real *beta, real *c, const integer *ldc
#define TRIANGLE_FORTRAN_ARGUMENTS                                                                           \
    triangle, transpose_a, transpose_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define TRIANGLE_LENGTHS size_t length_1, size_t length_2, size_t length_3

#define SYMM_CBLAS_PARAMETERS(integer, real)                                                                 \
    int layout, int side, int triangle, integer m, integer n, real##_scalar alpha, const real *a,            \
        integer lda, const real *b, integer ldb, real##_scalar beta, real *c, integer ldc
#define SYMM_CBLAS_ARGUMENTS layout, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc
#define SYMM_FORTRAN_PARAMETERS(integer, real)                                                               \
    const char *side, const char *triangle, const integer *m, const integer *n, const real *alpha,           \
        const real *a, const integer *lda, const real *b, const integer *ldb, const real *beta, real *c,     \
        const integer *ldc
#define SYMM_FORTRAN_ARGUMENTS side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc
#define SYMM_LENGTHS           size_t length_1, size_t length_2

#define TWO_TERMS_CBLAS_PARAMETERS(integer, real, beta_scalar)                                               \
    int layout, int triangle, int transpose_a, integer n, integer k, real##_scalar alpha, const real *a,     \
        integer lda, const real *b, integer ldb, beta_scalar beta, real *c, integer ldc
#define TWO_TERMS_FORTRAN_PARAMETERS(integer, real, beta_real)                                               \
    const char *triangle, const char *transpose_a, const integer *n, const integer *k, const real *alpha,    \
        const real *a, const integer *lda, const real *b, const integer *ldb, const beta_real *beta,         \
        real *c, const integer *ldc
#define RANK_2K_CBLAS_PARAMETERS(integer, real)   TWO_TERMS_CBLAS_PARAMETERS(integer, real, real##_scalar)
#define RANK_2K_CBLAS_ARGUMENTS                   layout, triangle, transpose_a, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define RANK_2K_FORTRAN_PARAMETERS(integer, real) TWO_TERMS_FORTRAN_PARAMETERS(integer, real, real)
#define RANK_2K_FORTRAN_ARGUMENTS                 triangle, transpose_a, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define RANK_2K_LENGTHS                           size_t length_1, size_t length_2
#define HER2K_CBLAS_PARAMETERS(integer, real)     TWO_TERMS_CBLAS_PARAMETERS(integer, real, real##_part)
#define HER2K_CBLAS_ARGUMENTS                     RANK_2K_CBLAS_ARGUMENTS
#define HER2K_FORTRAN_PARAMETERS(integer, real)   TWO_TERMS_FORTRAN_PARAMETERS(integer, real, real##_part)
#define HER2K_FORTRAN_ARGUMENTS                   RANK_2K_FORTRAN_ARGUMENTS
#define HER2K_LENGTHS                             RANK_2K_LENGTHS

#define TRIANGULAR_CBLAS_PARAMETERS(integer, real)                                                           \
    int layout, int side, int triangle, int transpose_a, int diagonal, integer m, integer n,                 \
        real##_scalar alpha, const real *a, integer lda, real *c, integer ldc
#define TRIANGULAR_CBLAS_ARGUMENTS layout, side, triangle, transpose_a, diagonal, m, n, alpha, a, lda, c, ldc
#define TRIANGULAR_FORTRAN_PARAMETERS(integer, real)                                                         \
    const char *side, const char *triangle, const char *transpose_a, const char *diagonal, const integer *m, \
        const integer *n, const real *alpha, const real *a, const integer *lda, real *c, const integer *ldc
#define TRIANGULAR_FORTRAN_ARGUMENTS side, triangle, transpose_a, diagonal, m, n, alpha, a, lda, c, ldc
#define TRIANGULAR_LENGTHS           size_t length_1, size_t length_2, size_t length_3, size_t length_4

#endif
