/* Routines as benchmarks measure them: the product of one, what of it crosses the link, and the calls by
 * which libraries compute it.
 *
 * C of rank-k and rank-2k routines and of GEMMT is its lower triangle. op(B) of SYRK is the transpose of op(A), and B is A. Of
 * symmetric, Hermitian and triangular matrices the lower triangle is stored.
 */
#ifndef BENCH_ROUTINE_H
#define BENCH_ROUTINE_H

#include "words/arguments.h"

/* A row of tb_routine_rows. */
typedef tb_routine_row bench_routine;

/* Finds one that is measured beside other libraries: GEMM, SYRK and GEMMT of real numbers. NULL: none has that name. */
const bench_routine *bench_find_routine(const char *name);

/* "sgemm, dgemm, ..." */
const char *bench_routine_names(void);

/* Finds any that is no batch. */
const bench_routine *bench_find_any_routine(const char *name);

/* Whether C is a square of which a triangle is computed. */
bool bench_updates(const bench_routine *routine);

/* Whether such products are measured beside others. */
bool bench_has_product(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                       int64_t n);

/* The product has alpha 1, beta 0 and matrices without gaps. b is not looked at where B is A. C of updates is n x n. Where a
 * matrix is symmetric, Hermitian or triangular, that is a, of order m, or, with transpose_b, n and on the right; b of TRMM and
 * TRSM is c. */
tb_product bench_product_of(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                            int64_t n, int64_t k, void *a, void *b, void *c);

/* Random numbers between -1 and 1, with all bits of the element, by a cheap generator: the largest matrices
 * have a quarter of a billion. Always the same ones. */
void bench_fill_random(tb_element element, void *matrix, size_t count);

/* Divides all numbers of a matrix of order n but those on the diagonal, which become 1: what is multiplied in its place, or
 * solved, again and again stays finite. */
void bench_make_triangle(tb_element element, void *matrix, int64_t n);

/* Whether the matrix that is symmetric, Hermitian or triangular, if any is, stands behind the other one. */
bool bench_is_on_right(const tb_product *product);

/* 2 m n k, or for a triangle n (n + 1) k; of complex numbers four times as much. */
double bench_flop(const tb_product *product);

/* Whether the product has an operand of its own in that role; of those that are computed in C's place it is not asked. */
bool bench_has_operand(const bench_routine *routine, tb_role role);

/* Bytes of the operands that are read, and of what is written. */
size_t bench_bytes_in(const bench_routine *routine, const tb_product *product);
size_t bench_bytes_out(const tb_product *product);

/* A scalar as it lies in memory; where the routine has a real one, that is the first part. */
typedef union bench_number {
    float floats[2];
    double doubles[2];
} bench_number;
bench_number bench_number_of(tb_element element, tb_scalar scalar);

/* The product by a function that was looked up as cblas_dgemm, of those measured beside others, or as dgemm_; integers of 32
 * bits. */
typedef void bench_function(void);
void bench_call_cblas(bench_function *function, const bench_routine *routine, const tb_product *product);
void bench_call_fortran(bench_function *function, const tb_product *product);

#endif
