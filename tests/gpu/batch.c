/* Batches in the memory of a real device, of the sizes that attention and small solvers have: every product is right, by a sample
 * of elements summed in double, and, with --bench, how long they take beside cuBLAS.
 *
 *     batch_gpu                                  right, of all elements, in all ways of saying where matrices lie
 *     batch_gpu --bench [ELEMENT...] [-n COUNT]  times of s and d, or of the elements that are named
 *
 * Of --bench a line is a size: the median of calls that take turns with cuBLAS's, each until the device is done; first of strided
 * batches, then of batches by addresses, which lie equally far apart, then of some that do not. cuBLAS has its addresses in
 * device memory already; ours are on the host, as BLAS wants them. Factors are times as fast as cuBLAS.
 */
#include "bench/timing.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/batch_calls.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 31, ROUNDS_BEFORE = 3, SAMPLES = 60, RANDOM_ELEMENTS = 1 << 22 };

#define MUST(call) must((int)(call), #call)

static void must(int error, const char *call)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: error %d\n", call, error);
    exit(EXIT_FAILURE);
}

static cublasHandle_t cublas;

/* A batch of squares in device memory. */
typedef struct batch {
    tb_element element;
    int64_t m, n, k, count;
    bool transpose_a, transpose_b;
    char *blocks[3];           /* of A, B and C: one matrix behind the other */
    int64_t strides[3];        /* elements */
    void **addresses[3];       /* of each matrix, in some order */
    const void **on_device[3]; /* the same, in device memory, for cuBLAS */
} batch;

typedef enum way { STRIDED, EVEN, SHUFFLED, WAYS } way;
static const char *const way_names[WAYS] = {"strided", "addresses", "shuffled"};

static int64_t extent(const batch *batch, int role)
{
    const int64_t extents[] = {batch->m * batch->k, batch->k * batch->n, batch->m * batch->n};
    return extents[role];
}

static size_t bytes_of(const batch *batch, int role)
{
    return (size_t)(batch->strides[role] * batch->count) * tb_bytes_of(batch->element);
}

/* The same numbers again and again, from another place on. */
static void fill(const batch *batch, int role, check_random *random)
{
    const size_t bytes = bytes_of(batch, role),
                 own = RANDOM_ELEMENTS * tb_bytes_of(tb_real_of(batch->element));
    char *numbers = malloc(own);
    for (int64_t i = 0; i < RANDOM_ELEMENTS; i++)
        if (tb_real_of(batch->element) == TB_FP64)
            ((double *)(void *)numbers)[i] = (double)check_uniform(random);
        else
            ((float *)(void *)numbers)[i] = check_uniform(random);
    for (size_t done = 0; done < bytes;) {
        const size_t from = (size_t)check_between(random, 0, RANDOM_ELEMENTS / 64) * 16;
        const size_t piece = bytes - done < own - from ? bytes - done : own - from;
        MUST(cudaMemcpy(batch->blocks[role] + done, numbers + from, piece, cudaMemcpyHostToDevice));
        done += piece;
    }
    free(numbers);
}

/* Each operand's matrices in an order of its own. */
static void address(batch *batch, bool shuffled, check_random *random)
{
    for (int role = 0; role < 3; role++) {
        const size_t each = (size_t)batch->strides[role] * tb_bytes_of(batch->element);
        for (int64_t i = 0; i < batch->count; i++)
            batch->addresses[role][i] = batch->blocks[role] + (size_t)i * each;
        for (int64_t i = batch->count - 1; shuffled && i > 0; i--) {
            const int64_t other = check_between(random, 0, i);
            void *const address = batch->addresses[role][i];
            batch->addresses[role][i] = batch->addresses[role][other];
            batch->addresses[role][other] = address;
        }
        MUST(cudaMemcpy(batch->on_device[role], batch->addresses[role], (size_t)batch->count * sizeof(void *),
                        cudaMemcpyHostToDevice));
    }
}

static batch make_batch(tb_element element, int64_t m, int64_t n, int64_t k, int64_t count,
                        check_random *random)
{
    batch made = {.element = element, .m = m, .n = n, .k = k, .count = count};
    for (int role = 0; role < 3; role++) {
        made.strides[role] = extent(&made, role);
        made.addresses[role] = malloc((size_t)count * sizeof(void *));
        MUST(cudaMalloc((void **)&made.blocks[role], bytes_of(&made, role)));
        MUST(cudaMalloc((void **)&made.on_device[role], (size_t)count * sizeof(void *)));
        fill(&made, role, random);
    }
    return made;
}

static void free_batch(batch *spent)
{
    for (int role = 0; role < 3; role++) {
        free(spent->addresses[role]);
        MUST(cudaFree(spent->blocks[role]));
        MUST(cudaFree(spent->on_device[role]));
    }
}

/* ---- The two sides ------------------------------------------------------------------------------------------ */

static void call_ours(const batch *b, way way, double beta)
{
    static const char letters[] = "sdcz";
    char name[64];
    snprintf(name, sizeof name, "cblas_%cgemm_batch%s", letters[b->element],
             way == STRIDED ? "_strided" : "");
    const batch_group group = {b->transpose_a ? 'T' : 'N',
                               b->transpose_b ? 'T' : 'N',
                               b->m,
                               b->n,
                               b->k,
                               b->transpose_a ? b->k : b->m,
                               b->transpose_b ? b->n : b->k,
                               b->m,
                               {1, 0},
                               {beta, 0},
                               {b->strides[0], b->strides[1], b->strides[2]},
                               b->count};
    const void *const first[] = {b->blocks[0], b->blocks[1]};
    void *const c = b->blocks[2];
    if (!batch_call(batch_spelling_named(name), false, &group, 1,
                    way == STRIDED ? &first[0] : (const void *const *)b->addresses[0],
                    way == STRIDED ? &first[1] : (const void *const *)b->addresses[1],
                    way == STRIDED ? &c : b->addresses[2]))
        must(1, name);
}

static void call_cublas(const batch *b, way way)
{
    const int m = (int)b->m, n = (int)b->n, k = (int)b->k, count = (int)b->count;
    const cublasOperation_t ta = b->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                            tb = b->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int lda = b->transpose_a ? k : m, ldb = b->transpose_b ? n : k;
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    if (b->element == TB_FP32 && way == STRIDED)
        MUST(cublasSgemmStridedBatched(cublas, ta, tb, m, n, k, &one, (float *)(void *)b->blocks[0], lda,
                                       b->strides[0], (float *)(void *)b->blocks[1], ldb, b->strides[1],
                                       &zero, (float *)(void *)b->blocks[2], m, b->strides[2], count));
    else if (b->element == TB_FP32)
        MUST(cublasSgemmBatched(cublas, ta, tb, m, n, k, &one, (const float *const *)b->on_device[0], lda,
                                (const float *const *)b->on_device[1], ldb, &zero,
                                (float *const *)(void *)b->on_device[2], m, count));
    else if (b->element == TB_FP64 && way == STRIDED)
        MUST(cublasDgemmStridedBatched(cublas, ta, tb, m, n, k, &one64, (double *)(void *)b->blocks[0], lda,
                                       b->strides[0], (double *)(void *)b->blocks[1], ldb, b->strides[1],
                                       &zero64, (double *)(void *)b->blocks[2], m, b->strides[2], count));
    else if (b->element == TB_FP64)
        MUST(cublasDgemmBatched(cublas, ta, tb, m, n, k, &one64, (const double *const *)b->on_device[0], lda,
                                (const double *const *)b->on_device[1], ldb, &zero64,
                                (double *const *)(void *)b->on_device[2], m, count));
    MUST(cudaStreamSynchronize(0));
}

/* ---- Right -------------------------------------------------------------------------------------------------- */

typedef struct number {
    double re, im;
} number;

static number fetch(const batch *b, const void *matrix, int64_t index)
{
    double words[2] = {0, 0};
    const size_t bytes = tb_bytes_of(b->element);
    MUST(cudaMemcpy(words, (const char *)matrix + (size_t)index * bytes, bytes, cudaMemcpyDeviceToHost));
    const float *single = (const float *)(const void *)words;
    const bool is_complex = tb_is_complex(b->element);
    return tb_real_of(b->element) == TB_FP64
               ? (number){words[0], words[1]}
               : (number){(double)single[0], is_complex ? (double)single[1] : 0};
}

/* A line of a matrix along k. */
static number *fetch_line(const batch *b, const void *matrix, int64_t first, int64_t step)
{
    const size_t bytes = tb_bytes_of(b->element);
    char *raw = malloc(bytes * (size_t)b->k);
    number *line = malloc(sizeof *line * (size_t)b->k);
    MUST(cudaMemcpy2D(raw, bytes, (const char *)matrix + (size_t)first * bytes, (size_t)step * bytes, bytes,
                      (size_t)b->k, cudaMemcpyDeviceToHost));
    for (int64_t l = 0; l < b->k; l++) {
        const float *single = (const float *)(const void *)(raw + bytes * (size_t)l);
        const double *twice = (const double *)(const void *)(raw + bytes * (size_t)l);
        const bool is_complex = tb_is_complex(b->element);
        line[l] = tb_real_of(b->element) == TB_FP64
                      ? (number){twice[0], is_complex ? twice[1] : 0}
                      : (number){(double)single[0], is_complex ? (double)single[1] : 0};
    }
    free(raw);
    return line;
}

static void check_samples(const batch *b, const char *way, check_random *random)
{
    for (int sample = 0; sample < SAMPLES; sample++) {
        const int64_t p = sample == 0 ? b->count - 1 : check_between(random, 0, b->count - 1),
                      i = check_between(random, 0, b->m - 1), j = check_between(random, 0, b->n - 1);
        number *x = b->transpose_a ? fetch_line(b, b->addresses[0][p], i * b->k, 1)
                                   : fetch_line(b, b->addresses[0][p], i, b->m),
               *y = b->transpose_b ? fetch_line(b, b->addresses[1][p], j, b->n)
                                   : fetch_line(b, b->addresses[1][p], j * b->k, 1);
        number sum = {0, 0};
        double size = 0;
        for (int64_t l = 0; l < b->k; l++) {
            sum.re += x[l].re * y[l].re - x[l].im * y[l].im;
            sum.im += x[l].re * y[l].im + x[l].im * y[l].re;
            size += (fabs(x[l].re) + fabs(x[l].im)) * (fabs(y[l].re) + fabs(y[l].im));
        }
        const number c = fetch(b, b->addresses[2][p], i + j * b->m);
        /* The most that a product may be off, beside the rounding of the sum in double. */
        const double most = (double)(2 * b->k + 3) * 2 * tb_element_rows[b->element].roundoff * size;
        CHECK(
            fabs(c.re - sum.re) <= most && fabs(c.im - sum.im) <= most,
            "%s, element %d, %lld products of %lld x %lld x %lld: product %lld, (%lld, %lld) is %g%+gi, not "
            "%g%+gi",
            way, b->element, (long long)b->count, (long long)b->m, (long long)b->n, (long long)b->k,
            (long long)p, (long long)i, (long long)j, c.re, c.im, sum.re, sum.im);
        free(x);
        free(y);
    }
}

static void check_all(check_random *random)
{
    static const int64_t shapes[][4] = {{64, 64, 64, 1000},  {128, 128, 128, 300}, {33, 65, 47, 200},
                                        {256, 256, 256, 64}, {512, 512, 512, 20},  {100, 100, 1000, 3},
                                        {1, 64, 64, 500},    {64, 1, 300, 100}};
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
            for (way way = STRIDED; way < WAYS; way++) {
                const int64_t *s = shapes[shape];
                batch b = make_batch(element, s[0], s[1], s[2], s[3], random);
                b.transpose_a = check_between(random, 0, 1);
                b.transpose_b = check_between(random, 0, 1);
                address(&b, way == SHUFFLED, random);
                MUST(cudaMemset(b.blocks[2], 0xff, bytes_of(&b, 2))); /* NaN, which is not read */
                call_ours(&b, way, 0);
                check_samples(&b, way_names[way], random);
                char plan[256];
                tileblas_last_plan(plan, sizeof plan);
                CHECK(strstr(plan, "resident"), "%s", plan);
                free_batch(&b);
            }
}

/* ---- Times -------------------------------------------------------------------------------------------------- */

static void bench_size(tb_element element, int64_t n, int64_t count, check_random *random)
{
    batch b = make_batch(element, n, n, n, count, random);
    printf("%4lld ", (long long)n);
    for (way way = STRIDED; way < WAYS; way++) {
        double ours[ROUNDS], theirs[ROUNDS];
        address(&b, way == SHUFFLED, random);
        for (int round = -ROUNDS_BEFORE; round < ROUNDS; round++) {
            const double start = tb_seconds();
            call_ours(&b, way, 0);
            const double between = tb_seconds();
            call_cublas(&b, way);
            if (round >= 0) {
                ours[round] = between - start;
                theirs[round] = tb_seconds() - between;
            }
        }
        const double median = bench_median(ours, ROUNDS), other = bench_median(theirs, ROUNDS);
        printf("  %9.1f us %9.1f us %5.2f", 1e6 * median, 1e6 * other, other / median);
    }
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    printf("  %s\n", plan);
    free_batch(&b);
}

static void bench(const char *elements, int64_t count, check_random *random)
{
    static const int64_t sizes[] = {32, 64, 96, 128, 160, 200, 256, 320, 384, 448, 512};
    static const char letters[] = "sd";
    for (; *elements; elements++) {
        const char *letter = strchr(letters, *elements);
        if (!letter)
            continue;
        printf("%cgemm, %lld products; ours, cuBLAS, times as fast: strided; by addresses; shuffled\n",
               *elements, (long long)count);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            bench_size((tb_element)(letter - letters), sizes[i], count, random);
    }
}

int main(int argc, char **argv)
{
    check_random random = {.state = 1};
    char elements[8] = "";
    int64_t count = 1000;
    bool benches = false;
    if (!arena_has_device())
        SKIP("no device");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--bench") == 0)
            benches = true;
        else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            count = atoll(argv[++i]);
        else if (strlen(elements) < 4)
            strncat(elements, argv[i], 1);
    MUST(cublasCreate(&cublas));
    if (benches) {
        bench(*elements ? elements : "sd", count, &random);
        return EXIT_SUCCESS;
    }
    random.state = check_seed();
    check_all(&random);
    return check_result();
}
