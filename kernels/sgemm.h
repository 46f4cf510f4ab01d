/* What kernels of single precision are given: the arguments of SGEMM, column-major.
 *
 * C (m x n) = alpha * op(A) (m x k) * op(B) (k x n) + beta * C, sizes in elements, scalars by value. op(X) is X or its
 * transpose. Plain C, as device code and host code share it.
 */
#ifndef TB_KERNELS_SGEMM_H
#define TB_KERNELS_SGEMM_H

#include <stdint.h>

typedef struct tb_sgemm {
    int64_t m, n, k;
    int64_t lda, ldb, ldc; /* distance between columns as stored, in floats */
    const float *a;        /* as stored m x k, or k x m when transposed */
    const float *b;        /* as stored k x n, or n x k when transposed */
    float *c;              /* m x n; never read when beta is 0 */
    float alpha, beta;
    int32_t transpose_a, transpose_b; /* 0 or 1 */
    int32_t mask; /* a tb_triangle: what of C is read and written. The rest is not touched. */
    int32_t
        mask_step; /* rows that the mask takes for one: 2 where they are parts of complex numbers, else 1 */
    int64_t
        diagonal; /* row i, of those, of column j belongs to a lower mask where i - j >= diagonal, to an upper one where <= */
} tb_sgemm;

#endif
