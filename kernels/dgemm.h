/* What kernels of double precision are given: the arguments of DGEMM, column-major.
 *
 * C (m x n) = alpha * op(A) (m x k) * op(B) (k x n) + beta * C, sizes in elements, scalars by value. op(X) is X or its
 * transpose. Plain C, as device code and host code share it.
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
} tb_dgemm;

#endif
