/* CBLAS as a library of its own in front of a Fortran BLAS, as Netlib's and ATLAS's are. */
#include "tests/abi/classes.h"

#include <stdint.h>

void cblas_sgemm(GEMM_CBLAS_PARAMETERS(int, float));
void sgemm_(GEMM_FORTRAN_PARAMETERS(int, float), GEMM_LENGTHS);

void cblas_sgemm(GEMM_CBLAS_PARAMETERS(int, float))
{
    const int is_row_major = layout == 101;
    const char *of_a = transpose_a == 111 ? "N" : "T", *of_b = transpose_b == 111 ? "N" : "T";
    if (is_row_major)
        sgemm_(of_b, of_a, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc, 1, 1);
    else
        sgemm_(of_a, of_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
