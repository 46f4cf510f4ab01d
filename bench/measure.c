#include "bench/measure.h"

#include "bench/timing.h"
#include "dispatch/schedule.h"

#include <math.h>
#include <stdlib.h>

enum {
    TURNS_MAXIMUM = 11,
    LAUNCHES_MAXIMUM = 200, /* in a batch between two events */
};

/* Long beside the half microsecond of an event's clock. */
static const double BATCH_SECONDS = 0.002;

const char *bench_refusal(const bench_gpu *gpu, const tb_kernel *kernel, const tb_product *product)
{
    if (!tb_kernel_runs_on(kernel, gpu->description.architecture))
        return "architecture";
    if (kernel->element != tb_element_of(product))
        return "element";
    if (kernel->k_limit && product->k > kernel->k_limit)
        return "k";
    if (!kernel->pads && !(tb_kernel_takes(kernel, product, TB_A) && tb_kernel_takes(kernel, product, TB_B)))
        return "alignment";
    return NULL;
}

/* Room for a copy of the operand whose columns begin where every kernel wants them. */
static tb_operand allocate_pitched(const tb_operand *operand)
{
    tb_operand pitched = *operand;
    size_t pitch;
    BENCH_CUDA(
        cudaMallocPitch(&pitched.data, &pitch, tb_column_bytes(&operand->matrix), (size_t)operand->columns));
    pitched.ld = (int64_t)(pitch / tb_bytes_of(operand->element));
    return pitched;
}

void bench_prepare(const bench_gpu *gpu, bench_contender *contender, const bench_product *product)
{
    const tb_product *first = &product->first;
    const tb_kernel *kernel = contender->kernel;
    contender->seconds = NAN;
    if (!kernel)
        return;
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (kernel->pads && !tb_kernel_takes(kernel, first, role))
            contender->pitched[role] = allocate_pitched(&first->operands[role]);
    const size_t workspace = tb_make_schedule(kernel, first, tb_target_of(&gpu->chip)).workspace;
    if (workspace > 0)
        BENCH_CUDA(cudaMalloc(&contender->workspace, workspace));
}

void bench_dismiss(bench_contender *contender)
{
    for (tb_role role = TB_A; role <= TB_B; role++) {
        BENCH_CUDA(cudaFree(contender->pitched[role].data));
        contender->pitched[role].data = NULL;
    }
    BENCH_CUDA(cudaFree(contender->workspace));
    contender->workspace = NULL;
}

static void enqueue_cublas(const bench_gpu *gpu, bool tf32, const bench_routine *routine,
                           const tb_product *product)
{
    BENCH_CUBLAS(cublasSetMathMode(gpu->cublas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
    BENCH_CUBLAS(bench_call_cublas(gpu->cublas, routine, product));
}

static void enqueue_copy(const bench_gpu *gpu, const tb_matrix *target, const tb_matrix *source)
{
    BENCH_CUDA(cudaMemcpy2DAsync(target->data, tb_pitch(target), source->data, tb_pitch(source),
                                 tb_column_bytes(source), (size_t)source->columns, cudaMemcpyDeviceToDevice,
                                 gpu->native));
}

void bench_enqueue(const bench_gpu *gpu, const bench_contender *contender, const bench_routine *routine,
                   const tb_product *product)
{
    if (!contender->kernel) {
        enqueue_cublas(gpu, contender->tf32, routine, product);
        return;
    }
    tb_product aligned = *product;
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (contender->pitched[role].data) {
            enqueue_copy(gpu, &contender->pitched[role].matrix, &product->operands[role].matrix);
            aligned.operands[role] = contender->pitched[role];
        }
    const tb_schedule schedule = tb_make_schedule(contender->kernel, &aligned, tb_target_of(&gpu->chip));
    BENCH_TB(
        tb_enqueue_launch(gpu->stream, contender->kernel, &aligned, &schedule, contender->workspace, false));
}

/* The contender's C for the first set, computed over a C of NaN. */
static void *result_of(const bench_gpu *gpu, const bench_contender *contender, const bench_product *product)
{
    const size_t bytes = tb_matrix_bytes(&product->first.c.matrix);
    void *result = malloc(bytes);
    bench_require(result != NULL, "memory for a result");
    BENCH_CUDA(cudaMemsetAsync(product->first.c.data, 0xff, bytes, gpu->native));
    bench_enqueue(gpu, contender, product->routine, &product->first);
    BENCH_CUDA(cudaMemcpyAsync(result, product->first.c.data, bytes, cudaMemcpyDeviceToHost, gpu->native));
    BENCH_CUDA(cudaStreamSynchronize(gpu->native));
    return result;
}

/* Whether the element of C is in the product's triangle. */
static bool is_written(const tb_product *product, int64_t row, int64_t column)
{
    return product->mask == TB_FULL || (product->mask == TB_LOWER ? row >= column : row <= column);
}

double bench_difference(const bench_gpu *gpu, const bench_contender *one, const bench_contender *other,
                        const bench_product *product)
{
    const tb_element element = product->routine->element;
    const int64_t rows = product->first.m;
    const size_t count = (size_t)rows * (size_t)product->first.n;
    void *a = result_of(gpu, one, product), *b = result_of(gpu, other, product);
    double largest = 0, result = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = bench_number_at(element, a, i), y = bench_number_at(element, b, i);
        if (!is_written(&product->first, (int64_t)i % rows, (int64_t)i / rows)) {
            largest = isnan(x) && isnan(y) ? largest : INFINITY;
            continue;
        }
        const double difference = fabs(x - y);
        result = fmax(result, fabs(y));
        if (!(difference <= largest))
            largest = isfinite(difference) ? difference : INFINITY;
        if (isinf(largest))
            break;
    }
    free(a);
    free(b);
    /* k terms of variance 1 add up to less than 3 sqrt(k), as a rule, with a rounding error of half an ulp each:
     * sqrt(k) of those. Squares, which a rank-k update has on its diagonal, add up to k; other numbers than
     * normal ones to what the largest result shows. */
    const double k = (double)product->first.k;
    const double normal = tb_has_one_operand(&product->first) ? fmax(k, 3 * sqrt(k)) : 3 * sqrt(k);
    const double sum = bench_draws_normal() ? normal : result;
    return largest / (sum * sqrt(k) * tb_element_rows[element].roundoff);
}

/* Seconds per launch of so many in a row. */
static double time_batch(const bench_gpu *gpu, const bench_contender *contender, const bench_product *product,
                         int launches)
{
    float milliseconds;
    BENCH_CUDA(cudaEventRecord(gpu->start, gpu->native));
    for (int launch = 0; launch < launches; launch++) {
        const tb_product at_turn = bench_product_at(product, launch);
        bench_enqueue(gpu, contender, product->routine, &at_turn);
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
