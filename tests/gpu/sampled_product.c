#include "tests/gpu/sampled_product.h"
#include "lib/device/platform.h"

#include "tests/target.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define SAMPLE  SAMPLED_SIDE
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

double sampled_number(tb_element element, const void *numbers, int64_t index)
{
    return element == TB_FP64 ? ((const double *)numbers)[index] : (double)((const float *)numbers)[index];
}

static void fill_line(void *what, int64_t outer)
{
    const sampled_operand *x = what;
    /* Programs that begin a second after each other have neighbouring seeds, and share no lines all the same. */
    check_random seeds = {.state = x->seed};
    check_random scrambler = {.state = check_next(&seeds) + (uint64_t)outer * 2 + x->in_b};
    check_random random = {.state = check_next(&scrambler)};
    accuracy_position at = {
        .outer = outer, .outer_count = x->outer, .k_count = x->k, .in_b = x->in_b, .element = x->element};
    for (at.k = 0; at.k < x->k; at.k++) {
        const double number = x->family->fill(&at, &random);
        const int64_t index = outer * x->k + at.k;
        if (x->element == TB_FP64)
            ((double *)x->host)[index] = number;
        else
            ((float *)x->host)[index] = (float)number;
    }
}

sampled_operand sampled_make_lines(const accuracy_family *family, tb_element element, int64_t outer,
                                   int64_t k, bool in_b, uint64_t seed)
{
    sampled_must(outer >= SAMPLE, "taking a sample");
    sampled_operand x = {
        .outer = outer, .k = k, .family = family, .element = element, .in_b = in_b, .seed = seed};
    const size_t bytes = (size_t)(outer * k) * tb_bytes_of(element);
    x.host = malloc(bytes);
    sampled_must(x.host != NULL, "malloc");
    in_parallel(fill_line, &x, outer);
    MUST_CUDA(cudaMalloc(&x.device, bytes));
    MUST_CUDA(cudaMemcpy(x.device, x.host, bytes, cudaMemcpyHostToDevice));
    return x;
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

/* The exponent below which the magnitudes of all finite numbers of the sampled lines are. */
static int exponent_of(const sampled_operand *x)
{
    double largest = 0;
    for (int line = 0; line < SAMPLE; line++)
        for (int64_t k = 0; k < x->k; k++) {
            const double size = fabs(sampled_number(x->element, x->host, line_of(line, x->outer) * x->k + k));
            if (isfinite(size) && size > largest)
                largest = size;
        }
    int exponent = 0;
    frexp(largest, &exponent);
    return exponent;
}

/* A sampled line, divided by a power of 2. */
static void copy_line(const sampled_operand *x, int index, int exponent, double *line)
{
    for (int64_t k = 0; k < x->k; k++)
        line[k] = ldexp(sampled_number(x->element, x->host, line_of(index, x->outer) * x->k + k), -exponent);
}

/* What every product and every addition loses is kept and added up beside the sum. */
static void refer_element(sampled_reference *r, int column, int row, const double *a, const double *b)
{
    const int64_t k_count = r->a->k;
    double sum = 0, lost = 0, magnitude = 0, largest_a = 0, largest_b = 0;
    for (int64_t k = 0; k < k_count; k++) {
        const double product = a[k] * b[k], next = sum + product, part = next - sum;
        lost += (sum - (next - part)) + (product - part) + fma(a[k], b[k], -product);
        sum = next;
        magnitude += fabs(product);
        largest_a = fmax(largest_a, fabs(a[k]));
        largest_b = fmax(largest_b, fabs(b[k]));
    }
    r->sum[column][row] = sum + lost;
    r->rest[column][row] = lost - (r->sum[column][row] - sum);
    r->magnitude[column][row] = magnitude + r->floor * (double)k_count * largest_a * largest_b;
}

static double loop(const sampled_operand *a, const sampled_operand *b, int row, int column)
{
    const size_t first_a = (size_t)(line_of(row, a->outer) * a->k),
                 first_b = (size_t)(line_of(column, b->outer) * b->k);
    if (a->element == TB_FP64) {
        const double *x = (const double *)a->host + first_a, *y = (const double *)b->host + first_b;
        double sum = 0;
        for (int64_t k = 0; k < a->k; k++)
            sum = fma(x[k], y[k], sum);
        return sum;
    }
    const float *x = (const float *)a->host + first_a, *y = (const float *)b->host + first_b;
    float sum = 0;
    for (int64_t k = 0; k < a->k; k++)
        sum = fmaf(x[k], y[k], sum);
    return (double)sum;
}

/* A reference that is being filled in. */
typedef struct referring {
    sampled_reference *reference;
    int exponent_a, exponent_b;
    double *lines_a; /* all sampled ones */
} referring;

static void refer_column(void *what, int64_t column)
{
    const referring *all = what;
    sampled_reference *r = all->reference;
    const int64_t k_count = r->a->k;
    double *b = malloc((size_t)k_count * sizeof *b);
    sampled_must(b != NULL, "malloc");
    copy_line(r->b, (int)column, all->exponent_b, b);
    for (int row = 0; row < SAMPLE; row++) {
        refer_element(r, (int)column, row, all->lines_a + row * k_count, b);
        r->loop[column][row] = loop(r->a, r->b, row, (int)column);
    }
    free(b);
}

void sampled_refer(sampled_reference *r)
{
    referring all = {.reference = r, .exponent_a = exponent_of(r->a), .exponent_b = exponent_of(r->b)};
    r->exponent = all.exponent_a + all.exponent_b;
    all.lines_a = malloc((size_t)(SAMPLE * r->a->k) * sizeof *all.lines_a);
    sampled_must(all.lines_a != NULL, "malloc");
    for (int row = 0; row < SAMPLE; row++)
        copy_line(r->a, row, all.exponent_a, all.lines_a + row * r->a->k);
    in_parallel(refer_column, &all, SAMPLE);
    free(all.lines_a);
}

sampled_errors sampled_measure(const sampled_reference *r, const sampled_elements sample)
{
    sampled_errors e = {0};
    double results = 0, differences = 0;
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++) {
            const double got = ldexp(sample[column][row], -r->exponent);
            const double error = (got - r->sum[column][row]) - r->rest[column][row];
            const double unit = tb_element_rows[r->a->element].roundoff * r->magnitude[column][row];
            const double relative = unit > 0 ? error / unit : 0;
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
    MUST_TB(tb_adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, d->native, &d->stream));
    MUST_CUBLAS(cublasCreate(&d->cublas));
    MUST_CUBLAS(cublasSetStream(d->cublas, d->native));
    MUST_CUDA(cudaMalloc(&d->device_c, sizeof(double) * SAMPLED_ROOM));
    d->host_c = malloc(sizeof(double) * SAMPLED_ROOM);
    sampled_must(d->host_c != NULL, "malloc");
    d->alpha = 1;
}

static void fetch(sampled_device *d, tb_element element, int64_t m, int64_t n)
{
    MUST_CUDA(
        cudaMemcpy(d->host_c, d->device_c, tb_bytes_of(element) * (size_t)(m * n), cudaMemcpyDeviceToHost));
    MUST_CUDA(cudaMemset(d->device_c, 0xff, sizeof(double) * (size_t)(m * n)));
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++)
            d->sample[column][row] =
                sampled_number(element, d->host_c, line_of(row, m) + line_of(column, n) * m);
}

tb_product sampled_product(const sampled_device *d, const sampled_operand *a, const sampled_operand *b)
{
    sampled_must((size_t)(a->outer * b->outer) <= SAMPLED_ROOM, "finding room for C");
    return tb_gemm(a->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, true, false, a->outer, b->outer, a->k,
                   d->alpha, a->device, a->k, b->device, a->k, 0, d->device_c, a->outer);
}

/* C, whose real and imaginary parts take turns along its columns where it is complex. */
static void fetch_product(sampled_device *d, const tb_product *product)
{
    const int64_t parts = tb_is_complex(tb_element_of(product)) ? 2 : 1;
    fetch(d, tb_real_of(tb_element_of(product)), parts * product->m, product->n);
}

void sampled_multiply_product(sampled_device *d, const tb_kernel *kernel, const tb_product *product)
{
    void *workspace = NULL;
    const tb_schedule schedule = tb_make_schedule(kernel, product, target_of_device(0));
    if (schedule.workspace > 0)
        MUST_TB(tb_allocate(0, schedule.workspace, &workspace));
    MUST_TB(tb_enqueue_launch(d->stream, kernel, product, &schedule, workspace, false));
    MUST_TB(tb_synchronize(d->stream));
    if (workspace)
        tb_release(0, workspace);
    fetch_product(d, product);
}

void sampled_multiply(sampled_device *d, const tb_kernel *kernel, const sampled_operand *a,
                      const sampled_operand *b)
{
    const tb_product product = sampled_product(d, a, b);
    sampled_multiply_product(d, kernel, &product);
}

static cublasOperation_t op_of(const tb_operand *operand)
{
    return operand->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

void sampled_multiply_product_cublas(sampled_device *d, bool tf32, const tb_product *product)
{
    const cuDoubleComplex one = {1, 0}, zero = {0, 0};
    const cuComplex one_float = {1, 0}, zero_float = {0, 0};
    const tb_operand *a = &product->a, *b = &product->b, *c = &product->c;
    const int m = (int)product->m, n = (int)product->n, k = (int)product->k, lda = (int)a->ld,
              ldb = (int)b->ld, ldc = (int)c->ld;
    MUST_CUBLAS(cublasSetMathMode(d->cublas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    switch (c->element) {
    case TB_FP32:
        MUST_CUBLAS(cublasSgemm(d->cublas, op_of(a), op_of(b), m, n, k, &one_float.x, a->data, lda, b->data,
                                ldb, &zero_float.x, c->data, ldc));
        break;
    case TB_FP64:
        MUST_CUBLAS(cublasDgemm(d->cublas, op_of(a), op_of(b), m, n, k, &one.x, a->data, lda, b->data, ldb,
                                &zero.x, c->data, ldc));
        break;
    case TB_COMPLEX_FP32:
        MUST_CUBLAS(cublasCgemm(d->cublas, op_of(a), op_of(b), m, n, k, &one_float, a->data, lda, b->data,
                                ldb, &zero_float, c->data, ldc));
        break;
    default:
        MUST_CUBLAS(cublasZgemm(d->cublas, op_of(a), op_of(b), m, n, k, &one, a->data, lda, b->data, ldb,
                                &zero, c->data, ldc));
    }
    MUST_CUDA(cudaStreamSynchronize(d->native));
    fetch_product(d, product);
}

void sampled_multiply_cublas(sampled_device *d, bool tf32, const sampled_operand *a, const sampled_operand *b)
{
    const tb_product product = sampled_product(d, a, b);
    sampled_multiply_product_cublas(d, tf32, &product);
}
