#include "bench/gpu.h"

#include "bench/timing.h"
#include "lib/device/platform.h"

#include <stdio.h>
#include <stdlib.h>

enum { COPIES = 11 };

void bench_require(bool condition, const char *text)
{
    if (condition)
        return;
    fprintf(stderr, "failed: %s (CUDA says: %s)\n", text, cudaGetErrorString(cudaPeekAtLastError()));
    exit(1);
}

void bench_open(bench_gpu *gpu)
{
    int devices = 0;
    struct cudaDeviceProp properties;
    BENCH_CUDA(cudaSetDevice(0));
    BENCH_CUDA(cudaGetDeviceProperties(&properties, 0));
    BENCH_CUDA(cudaStreamCreateWithFlags(&gpu->native, cudaStreamNonBlocking));
    BENCH_CUDA(cudaEventCreate(&gpu->start));
    BENCH_CUDA(cudaEventCreate(&gpu->stop));
    BENCH_CUBLAS(cublasCreate(&gpu->cublas));
    BENCH_CUBLAS(cublasSetMathMode(gpu->cublas, CUBLAS_DEFAULT_MATH));
    BENCH_CUBLAS(cublasSetStream(gpu->cublas, gpu->native));
    bench_require(tb_platform.in_process(), "the library finds the driver");
    BENCH_TB(tb_platform.open(&devices));
    BENCH_TB(tb_device_at(0)->describe(0, &gpu->description));
    BENCH_TB(tb_device_at(0)->open_device(0));
    gpu->chip = tb_presume_chip(0, &gpu->description);
    gpu->chip.open = true;
    gpu->chip.clusters = tb_device_at(0)->clusters(0);
    tb_measure_chip(&gpu->chip);
    BENCH_TB(tb_adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, gpu->native, &gpu->stream));
    gpu->l2_bytes = (size_t)properties.l2CacheSize;
    gpu->threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
}

void bench_close(bench_gpu *gpu)
{
    tb_destroy_stream(gpu->stream);
    BENCH_CUBLAS(cublasDestroy(gpu->cublas));
    BENCH_CUDA(cudaEventDestroy(gpu->start));
    BENCH_CUDA(cudaEventDestroy(gpu->stop));
    BENCH_CUDA(cudaStreamDestroy(gpu->native));
}

void bench_describe(const bench_gpu *gpu, bench_json *json)
{
    int runtime, cublas;
    BENCH_CUDA(cudaRuntimeGetVersion(&runtime));
    BENCH_CUBLAS(cublasGetVersion(gpu->cublas, &cublas));
    bench_json_begin(json, "machine", '{');
    bench_json_text(json, "gpu", gpu->description.name);
    bench_json_integer(json, "multiprocessors", gpu->description.multiprocessors);
    bench_json_integer(json, "clock_khz", gpu->description.clock_khz);
    bench_json_integer(json, "driver", gpu->description.driver_version);
    bench_json_integer(json, "cuda", runtime);
    bench_json_integer(json, "cublas", cublas);
    bench_json_end(json, '}');
}

double bench_copy_rate(const bench_gpu *gpu)
{
    const size_t bytes = (size_t)1 << 30;
    char *memory;
    double rates[COPIES];
    BENCH_CUDA(cudaMalloc((void **)&memory, 2 * bytes));
    BENCH_CUDA(cudaMemset(memory, 0xff, 2 * bytes));
    for (int turn = -1; turn < COPIES; turn++) {
        float milliseconds;
        BENCH_CUDA(cudaEventRecord(gpu->start, gpu->native));
        BENCH_CUDA(cudaMemcpyAsync(memory + bytes, memory, bytes, cudaMemcpyDeviceToDevice, gpu->native));
        BENCH_CUDA(cudaEventRecord(gpu->stop, gpu->native));
        BENCH_CUDA(cudaEventSynchronize(gpu->stop));
        BENCH_CUDA(cudaEventElapsedTime(&milliseconds, gpu->start, gpu->stop));
        if (turn >= 0)
            rates[turn] = 2 * (double)bytes / (milliseconds * 1e-3);
    }
    BENCH_CUDA(cudaFree(memory));
    return bench_median(rates, COPIES);
}
