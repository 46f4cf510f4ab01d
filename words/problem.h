/* The canonical problem: what every spelling of SGEMM becomes before anything is decided about it.
 *
 * C (m x n) = alpha * op(A) (m x k) * op(B) (k x n) + beta * C, all column-major, sizes in elements and
 * 64-bit, scalars by value. op(X) is X or its transpose. This header is vocabulary: it includes nothing
 * of the project and every layer, device code included, may include it.
 */
#ifndef TB_PROBLEM_H
#define TB_PROBLEM_H

#include <stdint.h>

typedef struct tb_problem {
    int64_t m, n, k;
    int64_t lda, ldb, ldc; /* distance between columns as stored, in floats */
    const float *a;        /* as stored m x k, or k x m when transposed */
    const float *b;        /* as stored k x n, or n x k when transposed */
    float *c;              /* m x n; never read when beta is 0 */
    float alpha, beta;
    int32_t transpose_a, transpose_b; /* 0 or 1 */
} tb_problem;

#endif
