#include "tests/gpu/sampled_product.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define M       SAMPLED_M
#define N       SAMPLED_N
#define SAMPLE  SAMPLED_SIDE
#define UNIT    SAMPLED_UNIT
#define THREADS 16

void sampled_must(bool condition, const char *step)
{
    if (condition)
        return;
    fprintf(stderr, "%s failed: %s\n", step, cudaGetErrorString(cudaGetLastError()));
    exit(EXIT_FAILURE);
}

/* ---- work on several threads -------------------------------------------------------------------------- */

typedef struct share {
    pthread_t thread;
    void (*work)(void *what, int64_t index);
    void *what;
    int64_t first, count;
} share;

static void *run_share(void *argument)
{
    share *mine = argument;
    for (int64_t index = mine->first; index < mine->count; index += THREADS)
        mine->work(mine->what, index);
    return NULL;
}

static void in_parallel(void (*work)(void *what, int64_t index), void *what, int64_t count)
{
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){.work = work, .what = what, .first = i, .count = count};
        sampled_must(pthread_create(&shares[i].thread, NULL, run_share, &shares[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(shares[i].thread, NULL);
}

/* ---- one operand: on the host, on the device, and the sampled lines ------------------------------------ */

static void fill_line(void *what, int64_t outer)
{
    const sampled_operand *x = what;
    check_random scrambler = {.state = x->seed + (uint64_t)outer * 2 + x->in_b};
    check_random random = {.state = check_next(&scrambler)};
    accuracy_position at = {.outer = outer, .outer_count = x->outer, .k_count = x->k, .in_b = x->in_b};
    for (at.k = 0; at.k < x->k; at.k++)
        x->host[outer * x->k + at.k] = (float)x->family->fill(&at, &random);
}

sampled_operand sampled_make_lines(const accuracy_family *family, int64_t outer, int64_t k, bool in_b,
                                   uint64_t seed)
{
    sampled_must(outer >= SAMPLE, "taking a sample");
    sampled_operand x = {.outer = outer, .k = k, .family = family, .in_b = in_b, .seed = seed};
    size_t bytes = (size_t)(outer * k) * sizeof(float);
    x.host = malloc(bytes);
    sampled_must(x.host != NULL, "malloc");
    in_parallel(fill_line, &x, outer);
    MUST_CUDA(cudaMalloc((void **)&x.device, bytes));
    MUST_CUDA(cudaMemcpy(x.device, x.host, bytes, cudaMemcpyHostToDevice));
    return x;
}

sampled_operand sampled_make_operand(const accuracy_family *family, int64_t k, bool in_b, uint64_t seed)
{
    return sampled_make_lines(family, in_b ? N : M, k, in_b, seed);
}

void sampled_drop_operand(sampled_operand *x)
{
    free(x->host);
    cudaFree(x->device);
}

/* The sample: lines at even distances, the first and the last among them. */
static int64_t line_of(int index, int64_t count)
{
    return (count - 1) * index / (SAMPLE - 1);
}

/* Products of floats are exact in double; what every addition loses is kept and added up beside it. */
static void refer_column(void *what, int64_t column)
{
    sampled_reference *r = what;
    const int64_t k_count = r->a->k;
    const float *b = r->b->host + line_of((int)column, r->b->outer) * k_count;
    for (int row = 0; row < SAMPLE; row++) {
        const float *a = r->a->host + line_of(row, r->a->outer) * k_count;
        double sum = 0, lost = 0, magnitude = 0, largest_a = 0, largest_b = 0;
        float loop = 0;
        for (int64_t k = 0; k < k_count; k++) {
            double product = (double)a[k] * (double)b[k];
            double next = sum + product, part = next - sum;
            lost += (sum - (next - part)) + (product - part);
            sum = next;
            magnitude += fabs(product);
            largest_a = fmax(largest_a, fabs((double)a[k]));
            largest_b = fmax(largest_b, fabs((double)b[k]));
            loop = fmaf(a[k], b[k], loop);
        }
        r->loop[column][row] = loop;
        r->sum[column][row] = sum + lost;
        r->magnitude[column][row] = magnitude + r->floor * (double)k_count * largest_a * largest_b;
    }
}

void sampled_refer(sampled_reference *r)
{
    in_parallel(refer_column, r, SAMPLE);
}

sampled_errors sampled_measure(const sampled_reference *r, const sampled_elements sample)
{
    sampled_errors e = {0};
    double results = 0, differences = 0;
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++) {
            double error = (double)sample[column][row] - r->sum[column][row];
            double relative = r->magnitude[column][row] > 0 ? error / (UNIT * r->magnitude[column][row]) : 0;
            if (!(fabs(relative) <= e.maximum))
                e.maximum = fabs(relative);
            e.rms += relative * relative;
            e.bias += relative;
            differences += error * error;
            results += r->sum[column][row] * r->sum[column][row];
        }
    e.rms = sqrt(e.rms / (SAMPLE * SAMPLE));
    e.bias /= SAMPLE * SAMPLE;
    e.of_result = sqrt(differences / results);
    return e;
}

/* ---- on the device ------------------------------------------------------------------------------------ */

void sampled_open(sampled_device *d)
{
    MUST_CUDA(cudaStreamCreate(&d->native));
    MUST_TB(tb_device.adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, d->native, &d->stream));
    MUST_CUBLAS(cublasCreate(&d->cublas));
    MUST_CUBLAS(cublasSetStream(d->cublas, d->native));
    MUST_CUDA(cudaMalloc((void **)&d->device_c, sizeof(float) * M * N));
    d->host_c = malloc(sizeof(float) * M * N);
    sampled_must(d->host_c != NULL, "malloc");
}

static void fetch(sampled_device *d, int64_t m, int64_t n)
{
    MUST_CUDA(cudaMemcpy(d->host_c, d->device_c, sizeof(float) * (size_t)(m * n), cudaMemcpyDeviceToHost));
    MUST_CUDA(cudaMemset(d->device_c, 0xff, sizeof(float) * M * N));
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++)
            d->sample[column][row] = d->host_c[line_of(row, m) + line_of(column, n) * m];
}

tb_product sampled_product(const sampled_device *d, const sampled_operand *a, const sampled_operand *b)
{
    sampled_must(a->outer * b->outer <= (int64_t)M * N, "finding room for C");
    return tb_gemm(TB_SGEMM, true, false, a->outer, b->outer, a->k, 1, a->device, a->k, b->device, a->k, 0,
                   d->device_c, a->outer);
}

void sampled_multiply(sampled_device *d, const tb_kernel *kernel, const sampled_operand *a,
                      const sampled_operand *b)
{
    const tb_product product = sampled_product(d, a, b);
    void *workspace = NULL;
    const tb_schedule schedule = tb_device.prepare(d->stream, kernel, &product);
    if (schedule.workspace > 0)
        MUST_TB(tb_device.allocate(0, schedule.workspace, &workspace));
    MUST_TB(tb_device.launch(d->stream, kernel, &product, &schedule, workspace));
    MUST_TB(tb_device.synchronize(d->stream));
    if (workspace)
        tb_device.release(0, workspace);
    fetch(d, a->outer, b->outer);
}

void sampled_multiply_cublas(sampled_device *d, bool tf32, const sampled_operand *a, const sampled_operand *b)
{
    const float one = 1, zero = 0;
    const int m = (int)a->outer, n = (int)b->outer, k = (int)a->k;
    MUST_CUBLAS(cublasSetMathMode(d->cublas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    MUST_CUBLAS(cublasSgemm(d->cublas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a->device, k, b->device, k,
                            &zero, d->device_c, m));
    MUST_CUDA(cudaStreamSynchronize(d->native));
    fetch(d, a->outer, b->outer);
}
