/* The CUDA driver, reached by name, for benchmarks that are built where there is no CUDA, too: the first device and its memory.
 *
 * A failure after bench_open_driver ends the program. Addresses are of host memory or of the device's, whichever they are.
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stddef.h>

/* NULL, or why there is no device. All else here needs one. */
const char *bench_open_driver(void);

const char *bench_device_name(void);

void *bench_allocate_on_device(size_t bytes);
void bench_free_on_device(void *memory); /* or NULL */

/* As cudaMemcpy does it: what was pageable is there when this returns. */
void bench_copy(void *target, const void *source, size_t bytes);

void bench_await_device(void);

/* Bytes a second that go each way over the link between pinned memory and the device while as many go the other way. */
double bench_measure_link(void);

#endif
