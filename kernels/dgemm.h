/* What kernels of double precision are given: the arguments of DGEMM, column-major, as sgemm.h has those of SGEMM.
 */
#ifndef TB_KERNELS_DGEMM_H
#define TB_KERNELS_DGEMM_H

#include <stdint.h>

typedef struct tb_dgemm {
    int64_t m, n, k;
    int64_t lda, ldb, ldc; /* distance between columns as stored, in doubles */
    const double *a;       /* as stored m x k, or k x m when transposed */
    const double *b;       /* as stored k x n, or n x k when transposed */
    double *c;             /* m x n; never read when beta is 0 */
    double alpha, beta;
    int32_t transpose_a, transpose_b; /* 0 or 1 */
    int32_t mask; /* a tb_triangle: what of C is read and written. The rest is not touched. */
    int32_t
        mask_step; /* rows that the mask takes for one: 2 where they are parts of complex numbers, else 1 */
    int64_t
        diagonal; /* row i, of those, of column j belongs to a lower mask where i - j >= diagonal, to an upper one where <= */
    /* For complex numbers that are read where they lie, of which m and k count both parts: the sign bit where the
     * imaginary parts of B, or of sums, are negated, else 0. conj(A) B is the conjugate of A conj(B). */
    uint32_t conjugate_b, conjugate_sums;
    const int32_t *
        unless; /* in device memory: where it is not 0, another kernel has computed C; NULL: it is for this one to do */
} tb_dgemm;

#endif
