/* The GPU that a benchmark runs on, as CUDA, cuBLAS and the library see it.
 *
 * For programs, not for the library: a failure is printed and ends the program.
 */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "bench/json.h"
#include "lib/machine/calibrate.h"
#include "lib/device/device.h"

#include <cublas_v2.h>
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

#endif
