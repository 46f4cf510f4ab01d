/* The sides of bench/level3: the library, what it stands beside, and in host memory cublasXt too, with tiles of several sizes.
 * Each writes into a C of its own.
 */
#ifndef BENCH_LEVEL3_SIDES_H
#define BENCH_LEVEL3_SIDES_H

#include "bench/cublas_calls.h"
#include "bench/level3_options.h"

#include <stdbool.h>

enum { LEVEL3_XT_BLOCKS = 3 };
enum { LEVEL3_OURS, LEVEL3_REFERENCE, LEVEL3_XT, LEVEL3_SIDES_MOST = LEVEL3_XT + LEVEL3_XT_BLOCKS };

typedef struct level3_side {
    const char *name;
    const char *key; /* its name in JSON */
    void *library;   /* that has the routines by Fortran's names; NULL: one of the next two calls them */
    bench_function *function;   /* the routine that was looked for last, in that library */
    cublasHandle_t cublas;      /* or NULL */
    cublasXtHandle_t cublas_xt; /* or NULL */
    int block;                  /* rows and columns of cublasXt's tiles */
} level3_side;

typedef struct level3_sides {
    bool on_host;
    bool has_xt; /* cublasXt, too */
    level3_side list[LEVEL3_SIDES_MOST];
} level3_sides;

/* In device memory cuBLAS is the reference, in host memory OpenBLAS, and cublasXt is there, too, unless the options want pairs;
 * with `itself` the reference takes our place, too. Ends the program where one of them is not there. */
level3_sides level3_open_sides(const level3_options *options);

/* How many of them take part in products of that order, the first so many. Of cublasXt's tiles those that are as large as the
 * matrices, or larger, are alike, and the smallest of these stands for all. */
int level3_count_sides(const level3_sides *sides, int n);

/* Looks for it where it has to be called by name, before calls of it. False: a library does not have it. */
bool level3_find_routine(level3_sides *sides, const bench_routine *routine);

/* Computes the product, of the routine that was looked for last, which is there afterwards. False: cuBLAS or cublasXt refused. */
bool level3_call(const level3_sides *sides, int side, const bench_routine *routine,
                 const tb_product *product);

#endif
