/* Routines as benchmarks measure them: the product of one, what of it crosses the link, and the calls by
 * which other libraries compute it.
 *
 * Of rank-k routines (SYRK, GEMMT) C is its lower triangle. op(B) of SYRK is the transpose of op(A), and B is
 * A; GEMMT stands beside cuBLAS's SYRKX, which has the transpositions NT and TN alone.
 */
#ifndef BENCH_ROUTINE_H
#define BENCH_ROUTINE_H

#include "words/product.h"

#include <cublasXt.h>
#include <cublas_v2.h>

typedef enum bench_class {
    BENCH_GEMM,
    BENCH_SYRK,
    BENCH_GEMMT,
} bench_class;

typedef struct bench_routine {
    const char *name; /* "dgemm" */
    bench_class class;
    tb_element element;
} bench_routine;

/* NULL: none has that name. */
const bench_routine *bench_find_routine(const char *name);

/* "sgemm, dgemm, ..." */
const char *bench_routine_names(void);

/* Whether such products are measured. */
bool bench_has_product(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                       int64_t n);

/* With alpha 1, beta 0 and matrices without gaps. b is not looked at where B is A. */
tb_product bench_product_of(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                            int64_t n, int64_t k, void *a, void *b, void *c);

/* Random numbers between -1 and 1, with all bits of the element, by a cheap generator: the largest matrices
 * have a quarter of a billion. Always the same ones. */
void bench_fill_random(tb_element element, void *matrix, size_t count);

/* 2 m n k, or for a triangle n (n + 1) k. */
double bench_flop(const tb_product *product);

/* Whether the product has an operand of its own in that role. */
bool bench_has_operand(const bench_routine *routine, tb_role role);

/* Bytes of the operands that are read, and of what is written. */
size_t bench_bytes_in(const bench_routine *routine, const tb_product *product);
size_t bench_bytes_out(const tb_product *product);

/* The product by cuBLAS, operands on the device; and by cublasXt, operands anywhere. */
cublasStatus_t bench_call_cublas(cublasHandle_t handle, const bench_routine *routine,
                                 const tb_product *product);
cublasStatus_t bench_call_cublas_xt(cublasXtHandle_t handle, const bench_routine *routine,
                                    const tb_product *product);

/* The product by a function that was looked up as cblas_dgemm or dgemm_, integers of 32 bits. Libraries that
 * are called the second way have no GEMMT. */
typedef void bench_function(void);
void bench_call_cblas(bench_function *function, const bench_routine *routine, const tb_product *product);
void bench_call_fortran(bench_function *function, const bench_routine *routine, const tb_product *product);

#endif
