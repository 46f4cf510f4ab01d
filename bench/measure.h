/* Measuring products on one GPU, side by side. A bench_product is a shape with its matrices in device memory,
 * in several sets when one would stay in L2; a contender is anything that enqueues that product; all
 * contenders are timed in turns, so that a change of clocks meets all alike, and the median of the turns
 * counts.
 *
 * For programs, not for the library: a failure is printed and ends the program.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/cublas_calls.h"
#include "bench/json.h"
#include "bench/normal.h"
#include "bench/routine.h"
#include "kernels/catalog.h"
#include "lib/machine/calibrate.h"
#include "lib/device/device.h"

#include <cuda_runtime_api.h>

/* Ends the program with the call's text when a call of the named interface failed. */
#define BENCH_CUDA(call)   bench_require((call) == cudaSuccess, #call)
#define BENCH_CUBLAS(call) bench_require((call) == CUBLAS_STATUS_SUCCESS, #call)
#define BENCH_TB(call)     bench_require((call) == TB_OK, #call)
void bench_require(bool condition, const char *text);

/* The first device, one stream on it, and either side's handle on that stream. */
typedef struct bench_gpu {
    cudaStream_t native;
    tb_stream *stream;
    cublasHandle_t cublas; /* in its default mode: no reduced precision but where it is asked for */
    cudaEvent_t start, stop;
    tb_device_description description;
    tb_chip chip; /* as the library sees the device */
    size_t l2_bytes;
    int threads_per_multiprocessor;
} bench_gpu;

void bench_open(bench_gpu *gpu);
void bench_close(bench_gpu *gpu);

/* The object "machine": everything that a figure needs beside it to mean something. */
void bench_describe(const bench_gpu *gpu, bench_json *json);

/* Bytes read and written in a second by a copy of 1 GiB within the device's memory. */
double bench_copy_rate(const bench_gpu *gpu);

typedef struct bench_product {
    const bench_routine *routine;
    tb_product first; /* the product of the first set; alpha is 1 and beta 0 */
    int sets;
    size_t strides[TB_ROLES]; /* elements from set to set; 0 where there is no operand of its own */
    double flop;
} bench_product;

/* What all matrices are made of, from now on; normal random numbers unless said otherwise. */
void bench_draw(bench_numbers *numbers);

/* Tight matrices of random numbers. sets = 0: as many as it takes to be twice L2. All products of a
 * process are of one element. */
void bench_allocate(const bench_gpu *gpu, const bench_routine *routine, int64_t m, int64_t n, int64_t k,
                    bool transpose_a, bool transpose_b, int sets, bench_product *product);
void bench_release(bench_product *product);

/* Leaves A and B so many significant bits, as numbers have that began as BF16 (8) or FP16 (11). */
void bench_round_operands(const bench_product *product, int bits);

/* The product of the set whose turn it is. */
tb_product bench_product_at(const bench_product *product, int64_t turn);

typedef struct bench_contender {
    const char *name;
    const tb_kernel *kernel; /* NULL: cuBLAS */
    bool tf32;               /* of cuBLAS: on the TF32 tensor cores, for comparison */
    void *workspace;
    /* Of A and B: where a kernel that pads copies what it cannot take, which is part of its time; else data is NULL. */
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
