/* A product with its matrices in device memory, in several sets when one would stay in L2. */
#ifndef BENCH_DEVICE_PRODUCT_H
#define BENCH_DEVICE_PRODUCT_H

#include "bench/gpu.h"
#include "bench/normal.h"
#include "bench/routine.h"

typedef struct bench_product {
    const bench_routine *routine;
    tb_product first; /* the product of the first set; alpha is 1 and beta 0 */
    int sets;
    size_t strides[TB_ROLES]; /* elements from set to set; 0 where there is no operand of its own */
    double flop;
} bench_product;

/* What all matrices are made of, from now on; normal random numbers unless said otherwise. */
void bench_draw(bench_numbers *numbers);
bool bench_draws_normal(void);

/* Tight matrices of random numbers. sets = 0: as many as it takes to be twice L2. All products of a
 * process are of one element. */
void bench_allocate(const bench_gpu *gpu, const bench_routine *routine, int64_t m, int64_t n, int64_t k,
                    bool transpose_a, bool transpose_b, int sets, bench_product *product);
void bench_release(bench_product *product);

/* Leaves A and B so many significant bits, as numbers have that began as BF16 (8) or FP16 (11). */
void bench_round_operands(const bench_product *product, int bits);

/* The product of the set whose turn it is. */
tb_product bench_product_at(const bench_product *product, int64_t turn);

/* A number of a matrix of real elements in host memory. */
double bench_number_at(tb_element element, const void *numbers, size_t index);

#endif
