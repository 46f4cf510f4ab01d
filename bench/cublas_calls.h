/* The routines that bench_find_routine knows, by cuBLAS and cublasXt. GEMMT stands beside cuBLAS's SYRKX, which has the
 * transpositions NT and TN alone.
 */
#ifndef BENCH_CUBLAS_CALLS_H
#define BENCH_CUBLAS_CALLS_H

#include "bench/routine.h"

#include <cublasXt.h>
#include <cublas_v2.h>

/* The product by cuBLAS, operands on the device; and by cublasXt, operands anywhere. */
cublasStatus_t bench_call_cublas(cublasHandle_t handle, const bench_routine *routine,
                                 const tb_product *product);
cublasStatus_t bench_call_cublas_xt(cublasXtHandle_t handle, const bench_routine *routine,
                                    const tb_product *product);

#endif
