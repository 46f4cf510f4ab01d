/* Whether a kernel may call itself FP32: its error on families of matrices, beside that of cuBLAS SGEMM without
 * any reduced precision (pedantic), both against sums in double-double.
 *
 * accuracy [kernel=name] [largest k]. Errors are in units of u d, with u = 2^-24 and d = |A||B|: what one
 * rounding of a sum without cancellation may cost. Of a kernel that promises less (fast), d is more, and so is what is
 * allowed: as docs/precision.md says. A sample of 64 x 64 elements is looked at; it prints a
 * line for every family and k, and at the end what failed.
 */
#include "kernels/catalog.h"
#include "lib/device.h"
#include "tests/check.h"
#include "tests/gpu/accuracy_families.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define M       1024
#define N       1152
#define SAMPLE  64
#define THREADS 16
#define UNIT    0x1p-24

/* Acceptance against the comparator from this k on; below it an absolute bound. */
#define SMALLEST_K      64
#define MAXIMUM_RATIO   1.25
#define SMALL_K_MAXIMUM 4
#define ZERO_MEAN_SLOPE 0.6

/* Of fast kernels: what they may err beyond the comparator, and what a step of k adds to d for each unit of the row's and
 * the column's largest magnitudes. */
#define FAST_MAXIMUM 8
#define FAST_RMS     4
#define FAST_FLOOR   0x1p-15
#define K_COUNT      6
static const int64_t all_k[K_COUNT] = {16, 64, 256, 1024, 4096, 16384};

static void must(bool condition, const char *step)
{
    if (condition)
        return;
    fprintf(stderr, "%s failed: %s\n", step, cudaGetErrorString(cudaGetLastError()));
    exit(EXIT_FAILURE);
}
#define MUST_CUDA(call)   must((call) == cudaSuccess, #call)
#define MUST_CUBLAS(call) must((call) == CUBLAS_STATUS_SUCCESS, #call)
#define MUST_TB(call)     must((call) == TB_OK, #call)

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
        must(pthread_create(&shares[i].thread, NULL, run_share, &shares[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(shares[i].thread, NULL);
}

/* ---- one operand: on the host, on the device, and the sampled lines ------------------------------------ */

typedef struct operand {
    int64_t outer, k;
    const accuracy_family *family;
    bool in_b;
    uint64_t seed;
    float *host, *device; /* k contiguous: A is stored transposed, B is not */
} operand;

static void fill_line(void *what, int64_t outer)
{
    const operand *x = what;
    check_random scrambler = {.state = x->seed + (uint64_t)outer * 2 + x->in_b};
    check_random random = {.state = check_next(&scrambler)};
    accuracy_position at = {.outer = outer, .outer_count = x->outer, .k_count = x->k, .in_b = x->in_b};
    for (at.k = 0; at.k < x->k; at.k++)
        x->host[outer * x->k + at.k] = (float)x->family->fill(&at, &random);
}

static operand make_operand(const accuracy_family *family, int64_t outer, int64_t k, bool in_b, uint64_t seed)
{
    operand x = {.outer = outer, .k = k, .family = family, .in_b = in_b, .seed = seed};
    size_t bytes = (size_t)(outer * k) * sizeof(float);
    x.host = malloc(bytes);
    must(x.host != NULL, "malloc");
    in_parallel(fill_line, &x, outer);
    MUST_CUDA(cudaMalloc((void **)&x.device, bytes));
    MUST_CUDA(cudaMemcpy(x.device, x.host, bytes, cudaMemcpyHostToDevice));
    return x;
}

static void drop_operand(operand *x)
{
    free(x->host);
    cudaFree(x->device);
}

/* The sample: lines at even distances, the first and the last among them. */
static int64_t sampled(int index, int64_t count)
{
    return (count - 1) * index / (SAMPLE - 1);
}

typedef struct reference {
    const operand *a, *b;
    double floor;                                          /* FAST_FLOOR, or 0 */
    double sum[SAMPLE][SAMPLE], magnitude[SAMPLE][SAMPLE]; /* [column][row] */
    float loop[SAMPLE][SAMPLE]; /* what a plain loop of fused multiply-adds makes of it */
} reference;

/* Products of floats are exact in double; what every addition loses is kept and added up beside it. */
static void refer_column(void *what, int64_t column)
{
    reference *r = what;
    const int64_t k_count = r->a->k;
    const float *b = r->b->host + sampled((int)column, r->b->outer) * k_count;
    for (int row = 0; row < SAMPLE; row++) {
        const float *a = r->a->host + sampled(row, r->a->outer) * k_count;
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

typedef struct errors {
    double maximum, rms, bias; /* in u d */
    double of_result;          /* rms error over rms result */
} errors;

static errors measure(const reference *r, const float sample[SAMPLE][SAMPLE])
{
    errors e = {0};
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

/* ---- the two sides ------------------------------------------------------------------------------------ */

typedef struct sides {
    const tb_kernel *kernel;
    tb_stream *stream;
    cudaStream_t native;
    cublasHandle_t cublas;
    float *device_c, *host_c;
    float sample[SAMPLE][SAMPLE]; /* of host_c */
} sides;

static bool is_fast(const sides *s)
{
    return s->kernel->accuracy == TB_ACCURACY_FAST;
}

static void multiply(const sides *s, const tb_problem *problem)
{
    void *workspace = NULL;
    size_t bytes = tb_device.workspace(s->stream, s->kernel, problem);
    if (bytes > 0)
        MUST_TB(tb_device.allocate(0, bytes, &workspace));
    MUST_TB(tb_device.launch(s->stream, s->kernel, problem, workspace));
    MUST_TB(tb_device.synchronize(s->stream));
    if (workspace)
        tb_device.release(0, workspace);
}

/* And poisons it, so that an element that the next product leaves out is found. */
static void fetch_c(sides *s)
{
    MUST_CUDA(cudaMemcpy(s->host_c, s->device_c, sizeof(float) * M * N, cudaMemcpyDeviceToHost));
    MUST_CUDA(cudaMemset(s->device_c, 0xff, sizeof(float) * M * N));
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++)
            s->sample[column][row] = s->host_c[sampled(row, M) + sampled(column, N) * M];
}

static tb_problem problem_of(const sides *s, const operand *a, const operand *b)
{
    return (tb_problem){.m = M,
                        .n = N,
                        .k = a->k,
                        .lda = a->k,
                        .ldb = a->k,
                        .ldc = M,
                        .a = a->device,
                        .b = b->device,
                        .c = s->device_c,
                        .alpha = 1,
                        .transpose_a = 1};
}

/* ---- what is promised --------------------------------------------------------------------------------- */

static void judge(const accuracy_family *family, bool fast, int64_t k, const errors *ours,
                  const errors *theirs)
{
    const char *name = family->name;
    double room = family->beyond ? MAXIMUM_RATIO : 1;
    double more = fast ? FAST_MAXIMUM : 0, more_rms = fast ? FAST_RMS : 0;
    printf("%-16s %6" PRId64 "   %8.3f %8.4f %+8.4f   %8.3f %8.4f %+8.4f\n", name, k, ours->maximum,
           ours->rms, ours->bias, theirs->maximum, theirs->rms, theirs->bias);
    if (k < SMALLEST_K) {
        CHECK(ours->maximum <= fmax(SMALL_K_MAXIMUM, theirs->maximum) + more, "%s, k %" PRId64 ": maximum %g",
              name, k, ours->maximum);
        return;
    }
    CHECK(ours->maximum <= MAXIMUM_RATIO * theirs->maximum + more,
          "%s, k %" PRId64 ": maximum %g, cuBLAS has %g", name, k, ours->maximum, theirs->maximum);
    CHECK(ours->rms <= room * theirs->rms + more_rms, "%s, k %" PRId64 ": rms %g, cuBLAS has %g", name, k,
          ours->rms, theirs->rms);
    CHECK(fabs(ours->bias) <= theirs->rms + more_rms, "%s, k %" PRId64 ": bias %g, cuBLAS has an rms of %g",
          name, k, ours->bias, theirs->rms);
}

static errors compare_sides(sides *s, const accuracy_family *family, int64_t k, uint64_t seed)
{
    operand a = make_operand(family, M, k, false, seed), b = make_operand(family, N, k, true, seed);
    static reference r;
    r = (reference){.a = &a, .b = &b, .floor = is_fast(s) ? FAST_FLOOR : 0};
    in_parallel(refer_column, &r, SAMPLE);

    const tb_problem problem = problem_of(s, &a, &b);
    const float one = 1, zero = 0;
    multiply(s, &problem);
    fetch_c(s);
    errors ours = measure(&r, s->sample);
    MUST_CUBLAS(cublasSgemm(s->cublas, CUBLAS_OP_T, CUBLAS_OP_N, M, N, (int)k, &one, a.device, (int)k,
                            b.device, (int)k, &zero, s->device_c, M));
    MUST_CUDA(cudaStreamSynchronize(s->native));
    fetch_c(s);
    errors theirs = measure(&r, s->sample);
    if (family->beyond) {
        errors of_loop = measure(&r, r.loop);
        theirs = theirs.rms > of_loop.rms ? theirs : of_loop;
    }
    judge(family, is_fast(s), k, &ours, &theirs);
    drop_operand(&a);
    drop_operand(&b);
    return ours;
}

/* For zero-mean data the error, measured by the result, grows no faster than a random walk: as the root of k. */
static void the_error_grows_slowly(const accuracy_family *family, const errors *all, int count)
{
    double slope =
        log(all[count - 1].of_result / all[1].of_result) / log((double)all_k[count - 1] / (double)all_k[1]);
    printf("%-16s slope of the rms error against k: %.3f\n", family->name, slope);
    CHECK(slope <= ZERO_MEAN_SLOPE, "%s: the error grows with k to the power of %g", family->name, slope);
}

/* ---- exact results ------------------------------------------------------------------------------------ */

static double fill_identity(const accuracy_position *at, check_random *random)
{
    (void)random;
    return at->outer == at->k;
}

static double fill_integers(const accuracy_position *at, check_random *random)
{
    (void)at;
    return (double)check_between(random, -64, 64);
}

static double fill_normal_times_256(const accuracy_position *at, check_random *random)
{
    (void)at;
    return 256 * (double)(float)accuracy_normal(random);
}

static void multiply_families(sides *s, const accuracy_family *of_a, const accuracy_family *of_b, int64_t k,
                              uint64_t seed, operand *a, operand *b)
{
    *a = make_operand(of_a, M, k, false, seed);
    *b = make_operand(of_b, N, k, true, seed);
    const tb_problem problem = problem_of(s, a, b);
    multiply(s, &problem);
    fetch_c(s);
}

static void the_identity_changes_nothing(sides *s, uint64_t seed)
{
    operand a, b;
    multiply_families(s, &(accuracy_family){.name = "I", .fill = fill_identity}, &accuracy_families[4], M,
                      seed, &a, &b);
    CHECK(memcmp(s->host_c, b.host, sizeof(float) * M * N) == 0, "I * B is not B");
    drop_operand(&a);
    drop_operand(&b);
}

static void integers_are_exact(sides *s, uint64_t seed)
{
    const accuracy_family integers = {.name = "integers", .fill = fill_integers};
    operand a, b;
    multiply_families(s, &integers, &integers, 2048, seed, &a, &b);
    static reference r;
    r = (reference){.a = &a, .b = &b};
    in_parallel(refer_column, &r, SAMPLE);
    CHECK(measure(&r, s->sample).maximum == 0, "products of integers are not exact");
    drop_operand(&a);
    drop_operand(&b);
}

static void powers_of_two_commute(sides *s, uint64_t seed)
{
    const accuracy_family larger = {.name = "256 normal", .fill = fill_normal_times_256};
    const size_t count = (size_t)M * N;
    operand a, b;
    float *first = malloc(count * sizeof *first);
    must(first != NULL, "malloc");
    multiply_families(s, &accuracy_families[2], &accuracy_families[2], 1000, seed, &a, &b);
    memcpy(first, s->host_c, count * sizeof *first);
    drop_operand(&a);
    drop_operand(&b);
    multiply_families(s, &larger, &accuracy_families[2], 1000, seed, &a, &b);
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += s->host_c[i] != 256 * first[i];
    CHECK(different == 0, "256 A * B differs from 256 (A * B) in %zu elements", different);
    drop_operand(&a);
    drop_operand(&b);
    free(first);
}

static double fill_exceptions(const accuracy_position *at, check_random *random)
{
    static const double exceptions[] = {INFINITY, -INFINITY, NAN, 0};
    double value = accuracy_normal(random);
    bool exceptional =
        accuracy_shared_uniform(at->in_b ? 7 : 6, at->outer) < 0.3 && check_next(random) % 256 == 0;
    return exceptional ? CHECK_PICK(random, exceptions) : value;
}

static void infinities_and_nans_are_those_of_a_loop(sides *s, uint64_t seed)
{
    const accuracy_family exceptions = {.name = "exceptions", .fill = fill_exceptions};
    operand a, b;
    multiply_families(s, &exceptions, &exceptions, 300, seed, &a, &b);
    static reference r;
    r = (reference){.a = &a, .b = &b};
    in_parallel(refer_column, &r, SAMPLE);
    for (int column = 0; column < SAMPLE; column++)
        for (int row = 0; row < SAMPLE; row++) {
            float ours = s->sample[column][row], loop = r.loop[column][row];
            CHECK(isnan(ours) == isnan(loop) && isinf(ours) == isinf(loop) &&
                      (!isinf(ours) || signbit(ours) == signbit(loop)),
                  "row %d, column %d: %g where a loop has %g", row, column, (double)ours, (double)loop);
        }
    drop_operand(&a);
    drop_operand(&b);
}

int main(int argc, char **argv)
{
    sides s = {.kernel = tb_find_kernel("sgemm_bf16x6_sm90")};
    int64_t largest_k = all_k[K_COUNT - 1];
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "kernel=", 7) == 0)
            s.kernel = tb_find_kernel(argv[i] + 7);
        else
            largest_k = atoll(argv[i]);
    int devices;
    tb_device_description description;
    if (tb_device.open(&devices) != TB_OK || tb_device.describe(0, &description) != TB_OK ||
        tb_device.open_device(0) != TB_OK)
        SKIP("no device");
    if (!s.kernel || description.architecture < s.kernel->architecture ||
        (s.kernel->architecture_end && description.architecture >= s.kernel->architecture_end))
        SKIP("no such kernel here");
    uint64_t seed = check_seed();

    MUST_CUDA(cudaStreamCreate(&s.native));
    MUST_TB(tb_device.adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, s.native, &s.stream));
    MUST_CUBLAS(cublasCreate(&s.cublas));
    MUST_CUBLAS(cublasSetStream(s.cublas, s.native));
    MUST_CUBLAS(cublasSetMathMode(s.cublas, CUBLAS_PEDANTIC_MATH));
    MUST_CUDA(cudaMalloc((void **)&s.device_c, sizeof(float) * M * N));
    s.host_c = malloc(sizeof(float) * M * N);
    must(s.host_c != NULL, "malloc");

    printf("%s on %s, %d x %d\n", s.kernel->name, description.name, M, N);
    printf("%-16s %6s   %8s %8s %8s   %8s %8s %8s\n", "family", "k", "max", "rms", "bias", "cuBLAS", "rms",
           "bias");
    for (int f = 0; f < accuracy_family_count; f++) {
        errors all[K_COUNT];
        int count = 0;
        for (; count < K_COUNT && all_k[count] <= largest_k; count++)
            all[count] = compare_sides(&s, &accuracy_families[f], all_k[count], seed);
        if (accuracy_families[f].zero_mean && count > 2)
            the_error_grows_slowly(&accuracy_families[f], all, count);
    }
    if (!is_fast(&s))
        the_identity_changes_nothing(&s, seed);
    integers_are_exact(&s, seed);
    powers_of_two_commute(&s, seed);
    infinities_and_nans_are_those_of_a_loop(&s, seed);
    return check_result();
}
