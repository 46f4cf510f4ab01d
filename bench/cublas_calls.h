/* All of level 3 that is no batch, by cuBLAS and by cublasXt. GEMMT stands beside their SYRKX, which has the transpositions NT
 * and TN alone.
 */
#ifndef BENCH_CUBLAS_CALLS_H
#define BENCH_CUBLAS_CALLS_H

#include "bench/routine.h"

#include <cublasXt.h>
#include <cublas_v2.h>

/* The product by cuBLAS, operands on the device; and by cublasXt, operands anywhere. TRMM reads the operand that stands for C,
 * and writes C: where their data differ, into another matrix than it reads. */
cublasStatus_t bench_call_cublas(cublasHandle_t handle, const bench_routine *routine,
                                 const tb_product *product);
cublasStatus_t bench_call_cublas_xt(cublasXtHandle_t handle, const bench_routine *routine,
                                    const tb_product *product);

/* cublasXt on the first device, with tiles of block x block (cublasXtSetBlockDim may change that). */
cublasStatus_t bench_create_cublas_xt(cublasXtHandle_t *handle, int block);

#endif
