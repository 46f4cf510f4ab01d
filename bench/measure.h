/* Measuring products on one GPU, side by side. A contender is anything that enqueues a bench_product; all
 * contenders are timed in turns, so that a change of clocks meets all alike, and the median of the turns
 * counts.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/cublas_calls.h"
#include "bench/device_product.h"
#include "kernels/catalog.h"

typedef struct bench_contender {
    const char *name;
    const tb_kernel *kernel; /* NULL: cuBLAS */
    bool tf32;               /* of cuBLAS: on the TF32 tensor cores, for comparison */
    void *workspace;
    /* Where a kernel that pads copies an A or B that it cannot take, which is part of its time; else data is NULL. */
    tb_operand pitched[TB_ROLES];
    double seconds; /* the median; NaN before it was timed */
} bench_contender;

/* Why the kernel cannot compute the product where it lies, or NULL when it can. */
const char *bench_refusal(const bench_gpu *gpu, const tb_kernel *kernel, const tb_product *product);

/* Gives a contender what it needs for this product beside the matrices. */
void bench_prepare(const bench_gpu *gpu, bench_contender *contender, const bench_product *product);
void bench_dismiss(bench_contender *contender);
void bench_enqueue(const bench_gpu *gpu, const bench_contender *contender, const bench_routine *routine,
                   const tb_product *product);

/* The largest difference between two contenders' results, in units of the rounding error that sums of k terms
 * of this size may show (values of a few are usual); infinite where an element was not written, or one beside
 * the product's triangle was. */
double bench_difference(const bench_gpu *gpu, const bench_contender *one, const bench_contender *other,
                        const bench_product *product);

/* Times all of them, spending about `budget` seconds on each. */
void bench_time(const bench_gpu *gpu, bench_contender *const contenders[], int count,
                const bench_product *product, double budget);

/* What the compiler and the device make of an entry that has been launched. */
typedef struct bench_resources {
    int registers, shared_bytes, blocks; /* blocks: that fit a multiprocessor at a time */
    double occupancy;                    /* share of the multiprocessor's threads */
} bench_resources;

bench_resources bench_resources_of(const bench_gpu *gpu, const tb_kernel *kernel, int transposition);

#endif
