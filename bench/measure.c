#include "bench/measure.h"

#include "bench/normal.h"
#include "bench/timing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETS_MAXIMUM = 64,
    TURNS_MAXIMUM = 11,
    LAUNCHES_MAXIMUM = 200, /* in a batch between two events */
};

/* Long beside the half microsecond of an event's clock. */
static const double BATCH_SECONDS = 0.002;

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
    BENCH_CUBLAS(cublasSetMathMode(gpu->cublas, CUBLAS_PEDANTIC_MATH));
    BENCH_CUBLAS(cublasSetStream(gpu->cublas, gpu->native));
    bench_require(tb_device.in_process(), "the library finds the driver");
    BENCH_TB(tb_device.open(&devices));
    BENCH_TB(tb_device.describe(0, &gpu->description));
    BENCH_TB(tb_device.open_device(0));
    gpu->chip = tb_presume_chip(0, &gpu->description);
    gpu->chip.open = true;
    gpu->chip.clusters = tb_device.clusters(0);
    tb_measure_chip(&gpu->chip);
    BENCH_TB(tb_device.adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, gpu->native, &gpu->stream));
    gpu->l2_bytes = (size_t)properties.l2CacheSize;
    gpu->threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
}

void bench_close(bench_gpu *gpu)
{
    tb_device.destroy_stream(gpu->stream);
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
    double rates[TURNS_MAXIMUM];
    BENCH_CUDA(cudaMalloc((void **)&memory, 2 * bytes));
    BENCH_CUDA(cudaMemset(memory, 0xff, 2 * bytes));
    for (int turn = -1; turn < TURNS_MAXIMUM; turn++) {
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
    return bench_median(rates, TURNS_MAXIMUM);
}

/* The numbers from `first` to first + count of one sequence, of which the host keeps what was ever wanted: drawing takes
 * longer than measuring. */
static float *random_matrices(size_t first, size_t count)
{
    static float *drawn;
    static size_t drawn_count;
    static uint64_t state = 0x9e3779b97f4a7c15;
    if (first + count > drawn_count) {
        drawn = realloc(drawn, (first + count) * sizeof *drawn);
        bench_require(drawn != NULL, "memory for random numbers");
        while (drawn_count < first + count)
            drawn[drawn_count++] = bench_normal(&state);
    }
    float *device;
    BENCH_CUDA(cudaMalloc((void **)&device, count * sizeof *device));
    BENCH_CUDA(cudaMemcpy(device, drawn + first, count * sizeof *device, cudaMemcpyHostToDevice));
    return device;
}

/* Each set begins where cudaMalloc would have put it. */
static size_t aligned(int64_t rows, int64_t columns)
{
    return ((size_t)rows * (size_t)columns + 63) / 64 * 64;
}

void bench_allocate(const bench_gpu *gpu, int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b,
                    int sets, bench_product *product)
{
    *product = (bench_product){
        .stride_a = aligned(m, k),
        .stride_b = aligned(k, n),
        .stride_c = aligned(m, n),
        .flop = 2.0 * (double)m * (double)n * (double)k,
    };
    size_t bytes = (product->stride_a + product->stride_b + product->stride_c) * sizeof(float);
    size_t wanted = sets ? (size_t)sets : 2 * gpu->l2_bytes / bytes + 1;
    product->sets = wanted < SETS_MAXIMUM ? (int)wanted : SETS_MAXIMUM;

    size_t count = (size_t)product->sets;
    float *c;
    BENCH_CUDA(cudaMalloc((void **)&c, count * product->stride_c * sizeof *c));
    BENCH_CUDA(cudaMemset(c, 0xff, count * product->stride_c * sizeof *c));
    product->first = (tb_problem){
        .m = m,
        .n = n,
        .k = k,
        .lda = transpose_a ? k : m,
        .ldb = transpose_b ? n : k,
        .ldc = m,
        .a = random_matrices(0, count * product->stride_a),
        .b = random_matrices(count * product->stride_a, count * product->stride_b),
        .c = c,
        .alpha = 1,
        .transpose_a = transpose_a,
        .transpose_b = transpose_b,
    };
}

static void round_matrices(float *device, size_t count, int bits)
{
    float *host = malloc(count * sizeof *host);
    bench_require(host != NULL, "memory for rounded numbers");
    BENCH_CUDA(cudaMemcpy(host, device, count * sizeof *host, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        int exponent;
        float fraction = frexpf(host[i], &exponent);
        host[i] = ldexpf(roundf(ldexpf(fraction, bits)), exponent - bits);
    }
    BENCH_CUDA(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
}

void bench_round_operands(const bench_product *product, int bits)
{
    const size_t sets = (size_t)product->sets;
    round_matrices((float *)(uintptr_t)product->first.a, sets * product->stride_a, bits);
    round_matrices((float *)(uintptr_t)product->first.b, sets * product->stride_b, bits);
}

void bench_release(bench_product *product)
{
    BENCH_CUDA(cudaFree((void *)(uintptr_t)product->first.a));
    BENCH_CUDA(cudaFree((void *)(uintptr_t)product->first.b));
    BENCH_CUDA(cudaFree(product->first.c));
}

tb_problem bench_problem(const bench_product *product, int64_t turn)
{
    tb_problem problem = product->first;
    size_t set = (size_t)(turn % product->sets);
    problem.a += set * product->stride_a;
    problem.b += set * product->stride_b;
    problem.c += set * product->stride_c;
    return problem;
}

const char *bench_refusal(const bench_gpu *gpu, const tb_kernel *kernel, const tb_problem *problem)
{
    if (!tb_kernel_runs_on(kernel, gpu->description.architecture))
        return "architecture";
    if (kernel->k_limit && problem->k > kernel->k_limit)
        return "k";
    if (!kernel->pads && !(tb_kernel_takes(kernel, problem->a, problem->lda) &&
                           tb_kernel_takes(kernel, problem->b, problem->ldb)))
        return "alignment";
    return NULL;
}

static int64_t rows_of(int transposed, int64_t rows, int64_t columns)
{
    return transposed ? columns : rows;
}

static float *allocate_pitched(int64_t rows, int64_t columns, int64_t *ld)
{
    void *memory;
    size_t pitch;
    BENCH_CUDA(cudaMallocPitch(&memory, &pitch, (size_t)rows * sizeof(float), (size_t)columns));
    *ld = (int64_t)(pitch / sizeof(float));
    return memory;
}

void bench_prepare(const bench_gpu *gpu, bench_contender *contender, const bench_product *product)
{
    const tb_problem *problem = &product->first;
    const tb_kernel *kernel = contender->kernel;
    contender->seconds = NAN;
    if (!kernel)
        return;
    if (kernel->pads && !tb_kernel_takes(kernel, problem->a, problem->lda))
        contender->pitched_a =
            allocate_pitched(rows_of(problem->transpose_a, problem->m, problem->k),
                             rows_of(problem->transpose_a, problem->k, problem->m), &contender->pitched_lda);
    if (kernel->pads && !tb_kernel_takes(kernel, problem->b, problem->ldb))
        contender->pitched_b =
            allocate_pitched(rows_of(problem->transpose_b, problem->k, problem->n),
                             rows_of(problem->transpose_b, problem->n, problem->k), &contender->pitched_ldb);
    size_t workspace = tb_device.workspace(gpu->stream, kernel, problem);
    if (workspace > 0)
        BENCH_CUDA(cudaMalloc(&contender->workspace, workspace));
}

void bench_dismiss(bench_contender *contender)
{
    BENCH_CUDA(cudaFree(contender->pitched_a));
    BENCH_CUDA(cudaFree(contender->pitched_b));
    BENCH_CUDA(cudaFree(contender->workspace));
    contender->pitched_a = contender->pitched_b = NULL;
    contender->workspace = NULL;
}

static void enqueue_cublas(const bench_gpu *gpu, bool tf32, const tb_problem *problem)
{
    BENCH_CUBLAS(cublasSetMathMode(gpu->cublas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    BENCH_CUBLAS(cublasSgemm_64(gpu->cublas, problem->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                                problem->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, problem->m, problem->n,
                                problem->k, &problem->alpha, problem->a, problem->lda, problem->b,
                                problem->ldb, &problem->beta, problem->c, problem->ldc));
}

static void enqueue_copy(const bench_gpu *gpu, float *target, int64_t target_ld, const float *source,
                         int64_t source_ld, int64_t rows, int64_t columns)
{
    const size_t size = sizeof(float);
    BENCH_CUDA(cudaMemcpy2DAsync(target, (size_t)target_ld * size, source, (size_t)source_ld * size,
                                 (size_t)rows * size, (size_t)columns, cudaMemcpyDeviceToDevice,
                                 gpu->native));
}

void bench_enqueue(const bench_gpu *gpu, const bench_contender *contender, const tb_problem *problem)
{
    if (!contender->kernel) {
        enqueue_cublas(gpu, contender->tf32, problem);
        return;
    }
    tb_problem aligned = *problem;
    if (contender->pitched_a) {
        enqueue_copy(gpu, contender->pitched_a, contender->pitched_lda, problem->a, problem->lda,
                     rows_of(problem->transpose_a, problem->m, problem->k),
                     rows_of(problem->transpose_a, problem->k, problem->m));
        aligned.a = contender->pitched_a;
        aligned.lda = contender->pitched_lda;
    }
    if (contender->pitched_b) {
        enqueue_copy(gpu, contender->pitched_b, contender->pitched_ldb, problem->b, problem->ldb,
                     rows_of(problem->transpose_b, problem->k, problem->n),
                     rows_of(problem->transpose_b, problem->n, problem->k));
        aligned.b = contender->pitched_b;
        aligned.ldb = contender->pitched_ldb;
    }
    BENCH_TB(tb_device.launch(gpu->stream, contender->kernel, &aligned, contender->workspace));
}

/* The contender's C for the first set, computed over a C of NaN. */
static float *result_of(const bench_gpu *gpu, const bench_contender *contender, const bench_product *product)
{
    const size_t bytes = (size_t)product->first.m * (size_t)product->first.n * sizeof(float);
    float *result = malloc(bytes);
    bench_require(result != NULL, "memory for a result");
    BENCH_CUDA(cudaMemsetAsync(product->first.c, 0xff, bytes, gpu->native));
    bench_enqueue(gpu, contender, &product->first);
    BENCH_CUDA(cudaMemcpyAsync(result, product->first.c, bytes, cudaMemcpyDeviceToHost, gpu->native));
    BENCH_CUDA(cudaStreamSynchronize(gpu->native));
    return result;
}

double bench_difference(const bench_gpu *gpu, const bench_contender *one, const bench_contender *other,
                        const bench_product *product)
{
    const size_t count = (size_t)product->first.m * (size_t)product->first.n;
    float *a = result_of(gpu, one, product), *b = result_of(gpu, other, product);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= largest))
            largest = isfinite(difference) ? difference : INFINITY;
        if (isinf(largest))
            break;
    }
    free(a);
    free(b);
    /* k terms of variance 1 add up to less than 3 sqrt(k), as a rule, with a rounding error of half an ulp each:
     * sqrt(k) of those. */
    return largest / (3 * (double)product->first.k * FLT_EPSILON / 2);
}

/* Seconds per launch of so many in a row. */
static double time_batch(const bench_gpu *gpu, const bench_contender *contender, const bench_product *product,
                         int launches)
{
    float milliseconds;
    BENCH_CUDA(cudaEventRecord(gpu->start, gpu->native));
    for (int launch = 0; launch < launches; launch++) {
        tb_problem problem = bench_problem(product, launch);
        bench_enqueue(gpu, contender, &problem);
    }
    BENCH_CUDA(cudaEventRecord(gpu->stop, gpu->native));
    BENCH_CUDA(cudaEventSynchronize(gpu->stop));
    BENCH_CUDA(cudaEventElapsedTime(&milliseconds, gpu->start, gpu->stop));
    return milliseconds * 1e-3 / launches;
}

static int clamp(double value, int most)
{
    return value < 1 ? 1 : value > most ? most : (int)value;
}

typedef struct schedule {
    int launches, turns;
    double seconds[TURNS_MAXIMUM];
} schedule;

void bench_time(const bench_gpu *gpu, bench_contender *const contenders[], int count,
                const bench_product *product, double budget)
{
    schedule *schedules = calloc((size_t)count, sizeof *schedules);
    bench_require(schedules != NULL, "memory for a schedule");
    for (int i = 0; i < count; i++) {
        /* The first launch pays for loading the code, the second is the estimate. */
        time_batch(gpu, contenders[i], product, 1);
        double estimate = time_batch(gpu, contenders[i], product, 1);
        schedules[i].launches = clamp(BATCH_SECONDS / estimate, LAUNCHES_MAXIMUM);
        schedules[i].turns = clamp(budget / (estimate * schedules[i].launches), TURNS_MAXIMUM);
    }
    for (int turn = 0; turn < TURNS_MAXIMUM; turn++)
        for (int i = 0; i < count; i++)
            if (turn < schedules[i].turns)
                schedules[i].seconds[turn] = time_batch(gpu, contenders[i], product, schedules[i].launches);
    for (int i = 0; i < count; i++)
        contenders[i]->seconds = bench_median(schedules[i].seconds, (size_t)schedules[i].turns);
    free(schedules);
}

bench_resources bench_resources_of(const bench_gpu *gpu, const tb_kernel *kernel, int transposition)
{
    const void *function = kernel->entries[transposition].handle;
    struct cudaFuncAttributes attributes;
    int blocks;
    bench_require(function != NULL, "the entry has been launched");
    BENCH_CUDA(cudaFuncGetAttributes(&attributes, function));
    BENCH_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, kernel->threads,
                                                             (size_t)kernel->shared_bytes));
    return (bench_resources){
        .registers = attributes.numRegs,
        .shared_bytes = (int)attributes.sharedSizeBytes + kernel->shared_bytes,
        .blocks = blocks,
        .occupancy = (double)blocks * kernel->threads / gpu->threads_per_multiprocessor,
    };
}
