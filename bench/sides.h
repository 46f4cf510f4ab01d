/* The sides of bench/streamed: how each library, or each way of using one, computes the product that is served, and what of it
 * the link and the kernel need. A contender (contender.h) is a process that runs one side.
 */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include "bench/routine.h"

#include <cuda_runtime_api.h>

/* One product, its operands in host memory, and where a side wants them, on the device: each side's data is
 * NULL where it does not. */
typedef struct bench_product_served {
    const bench_routine *routine; /* of all products */
    bool pinned;
    tb_product host, device;
} bench_product_served;

extern bench_product_served bench_served;

typedef struct bench_side {
    const char *name;
    void (*open)(void); /* once, when the routine is known */
    void (*run)(void);
    bool wants_host, wants_device;
    void (*before)(void); /* each run, its time does not count; NULL: nothing */
} bench_side;

/* NULL when there is none of that name. */
const bench_side *bench_find_side(const char *name);

/* All names, NULL at the end. "link_in" and "link_out" run the operands' and C's copies alone, "link_both" both at
 * once, "kernel" the product with operands on the device. */
extern const char *const bench_contenders[];

/* Ends the program with CUDA's words for the error, if there is one. */
void bench_expect_cuda(cudaError_t error);

#endif
