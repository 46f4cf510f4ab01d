#include "bench/measure.h"

#include "bench/normal.h"
#include "bench/timing.h"

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
    BENCH_CUBLAS(cublasSetMathMode(gpu->cublas, CUBLAS_DEFAULT_MATH));
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

static double number_at(tb_element element, const void *numbers, size_t index)
{
    return element == TB_FP64 ? ((const double *)numbers)[index] : (double)((const float *)numbers)[index];
}

static void set_number(tb_element element, void *numbers, size_t index, double number)
{
    if (element == TB_FP64)
        ((double *)numbers)[index] = number;
    else
        ((float *)numbers)[index] = (float)number;
}

/* One sequence of numbers, of which the host keeps what was ever wanted: drawing takes longer than measuring. */
static struct {
    bench_numbers *draw;
    tb_element element;
    void *numbers;
    size_t count;
    uint64_t state;
} drawn = {.draw = bench_normal, .element = TB_ELEMENTS};

void bench_draw(bench_numbers *numbers)
{
    if (drawn.draw != numbers)
        drawn.count = 0;
    drawn.draw = numbers;
}

/* The numbers from `first` to first + count. */
static void *random_matrices(tb_element element, size_t first, size_t count)
{
    const size_t bytes = tb_bytes_of(element);
    bench_require(drawn.element == TB_ELEMENTS || drawn.element == element, "all products of one element");
    drawn.element = element;
    if (drawn.count == 0)
        drawn.state = 0x9e3779b97f4a7c15;
    if (first + count > drawn.count) {
        drawn.numbers = realloc(drawn.numbers, (first + count) * bytes);
        bench_require(drawn.numbers != NULL, "memory for random numbers");
        for (; drawn.count < first + count; drawn.count++)
            set_number(element, drawn.numbers, drawn.count, drawn.draw(&drawn.state));
    }
    void *device;
    BENCH_CUDA(cudaMalloc(&device, count * bytes));
    BENCH_CUDA(
        cudaMemcpy(device, (char *)drawn.numbers + first * bytes, count * bytes, cudaMemcpyHostToDevice));
    return device;
}

/* Each set begins where cudaMalloc would have put it. */
static size_t aligned(int64_t rows, int64_t columns)
{
    return ((size_t)rows * (size_t)columns + 63) / 64 * 64;
}

void bench_allocate(const bench_gpu *gpu, const bench_routine *routine, int64_t m, int64_t n, int64_t k,
                    bool transpose_a, bool transpose_b, int sets, bench_product *product)
{
    const bool has_b = bench_has_operand(routine, TB_B);
    const size_t element_bytes = tb_bytes_of(routine->element);
    *product = (bench_product){
        .routine = routine,
        .strides = {[TB_A] = aligned(m, k), [TB_B] = has_b ? aligned(k, n) : 0, [TB_C] = aligned(m, n)},
    };
    const size_t *strides = product->strides;
    size_t bytes = (strides[TB_A] + strides[TB_B] + strides[TB_C]) * element_bytes;
    size_t wanted = sets ? (size_t)sets : 2 * gpu->l2_bytes / bytes + 1;
    product->sets = wanted < SETS_MAXIMUM ? (int)wanted : SETS_MAXIMUM;

    size_t count = (size_t)product->sets;
    void *a = random_matrices(routine->element, 0, count * strides[TB_A]);
    void *b = has_b ? random_matrices(routine->element, count * strides[TB_A], count * strides[TB_B]) : NULL;
    void *c;
    BENCH_CUDA(cudaMalloc(&c, count * strides[TB_C] * element_bytes));
    BENCH_CUDA(cudaMemset(c, 0xff, count * strides[TB_C] * element_bytes));
    product->first = bench_product_of(routine, transpose_a, transpose_b, m, n, k, a, b, c);
    product->flop = bench_flop(&product->first);
}

static void round_matrices(tb_element element, void *device, size_t count, int bits)
{
    const size_t bytes = count * tb_bytes_of(element);
    void *host = malloc(bytes);
    bench_require(host != NULL, "memory for rounded numbers");
    BENCH_CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        int exponent;
        const double fraction = frexp(number_at(element, host, i), &exponent);
        set_number(element, host, i, ldexp(round(ldexp(fraction, bits)), exponent - bits));
    }
    BENCH_CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
}

void bench_round_operands(const bench_product *product, int bits)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (bench_has_operand(product->routine, role))
            round_matrices(product->routine->element, product->first.operands[role].data,
                           (size_t)product->sets * product->strides[role], bits);
}

void bench_release(bench_product *product)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (bench_has_operand(product->routine, role))
            BENCH_CUDA(cudaFree(product->first.operands[role].data));
}

tb_product bench_product_at(const bench_product *product, int64_t turn)
{
    tb_product at_turn = product->first;
    const size_t set = (size_t)(turn % product->sets);
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const size_t stride = product->strides[bench_has_operand(product->routine, role) ? role : TB_A];
        at_turn.operands[role].data = (char *)product->first.operands[role].data +
                                      set * stride * tb_bytes_of(product->routine->element);
    }
    return at_turn;
}

const char *bench_refusal(const bench_gpu *gpu, const tb_kernel *kernel, const tb_product *product)
{
    if (!tb_kernel_runs_on(kernel, gpu->description.architecture))
        return "architecture";
    if (kernel->element != tb_element_of(product))
        return "element";
    if (kernel->k_limit && product->k > kernel->k_limit)
        return "k";
    if (!kernel->pads && !(tb_kernel_takes(kernel, &product->a) && tb_kernel_takes(kernel, &product->b)))
        return "alignment";
    return NULL;
}

/* Room for a copy of the operand whose columns begin where every kernel wants them. */
static tb_operand allocate_pitched(const tb_operand *operand)
{
    tb_operand pitched = *operand;
    size_t pitch;
    BENCH_CUDA(cudaMallocPitch(&pitched.data, &pitch, tb_column_bytes(operand), (size_t)operand->columns));
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
        if (kernel->pads && !tb_kernel_takes(kernel, &first->operands[role]))
            contender->pitched[role] = allocate_pitched(&first->operands[role]);
    const size_t workspace = tb_device.prepare(gpu->stream, kernel, first).workspace;
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

static void enqueue_copy(const bench_gpu *gpu, const tb_operand *target, const tb_operand *source)
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
            enqueue_copy(gpu, &contender->pitched[role], &product->operands[role]);
            aligned.operands[role] = contender->pitched[role];
        }
    const tb_schedule schedule = tb_device.prepare(gpu->stream, contender->kernel, &aligned);
    BENCH_TB(tb_device.launch(gpu->stream, contender->kernel, &aligned, &schedule, contender->workspace));
}

/* The contender's C for the first set, computed over a C of NaN. */
static void *result_of(const bench_gpu *gpu, const bench_contender *contender, const bench_product *product)
{
    const size_t bytes = tb_operand_bytes(&product->first.c);
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
        const double x = number_at(element, a, i), y = number_at(element, b, i);
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
     * sqrt(k) of those. Squares, which a rank-k update has on its diagonal, add up to k; other numbers than normal ones to what the
     * largest result shows. */
    const double k = (double)product->first.k;
    const double normal = tb_has_one_operand(&product->first) ? fmax(k, 3 * sqrt(k)) : 3 * sqrt(k);
    const double sum = drawn.draw == bench_normal ? normal : result;
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
