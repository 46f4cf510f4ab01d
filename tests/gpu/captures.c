/* Graphs that one thread captures in global mode, which forbids all threads what may disturb a capture, beside products of
 * others: every capture succeeds, every product is right, and the device is not lost. Buffers are not kept, so that each product
 * allocates and frees.
 *
 *   captures up | coming_up     the device is there before the first capture, or comes up in the middle of one
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/spellings.h"
#include "tests/oracle.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { GRAPHS = 20, CALLERS = 3, SIZE_MOST = 900, BYTES = 1 << 20, NODES = 6, SLEEP_MICROSECONDS = 8000 };

static atomic_bool captured;
static atomic_long products;

static bool must(cudaError_t error, const char *step)
{
    return CHECK(error == cudaSuccess, "%s: %s", step, cudaGetErrorString(error));
}
#define MUST(step) must((step), #step)

/* ---- Products --------------------------------------------------------------------------------------------- */

/* Each of one of the elements, by chance. */
static void multiply(check_random *random, int64_t m, int64_t n, int64_t k)
{
    char message[256];
    const tb_element element = check_between(random, 0, 1) ? TB_FP64 : TB_FP32;
    product p = {.m = m, .n = n, .k = k, .alpha = 1, .beta = (float)check_between(random, 0, 1)};
    p.a = matrix_make_of(element, m, k, m, 0);
    p.b = matrix_make_of(element, k, n, k, 0);
    p.c = matrix_make_of(element, m, n, m, 0);
    matrix_fill(&p.a, MATRIX_UNIFORM, random);
    matrix_fill(&p.b, MATRIX_UNIFORM, random);
    matrix_fill(&p.c, p.beta == 0 ? MATRIX_NANS : MATRIX_UNIFORM, random);
    matrix result = matrix_clone(&p.c);
    const call_arguments arguments = {.transpose_a = 111,
                                      .transpose_b = 111,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .lda = p.a.ld,
                                      .ldb = p.b.ld,
                                      .ldc = result.ld,
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .a = matrix_start_in(&p.a, p.a.block),
                                      .b = matrix_start_in(&p.b, p.b.block),
                                      .c = matrix_start_in(&result, result.block)};
    CHECK(call_routine(spelling_named(element == TB_FP64 ? "cblas_dgemm" : "cblas_sgemm"), &arguments),
          "the name is not exported");
    CHECK(product_holds(&p, &result, message, sizeof message), "%lld x %lld x %lld: %s", (long long)m,
          (long long)n, (long long)k, message);
    matrix *spent[] = {&p.a, &p.b, &p.c, &result};
    for (int i = 0; i < 4; i++)
        matrix_free(spent[i]);
    atomic_fetch_add(&products, 1);
}

static void *multiply_meanwhile(void *seed)
{
    check_random random = {.state = *(uint64_t *)seed};
    while (!atomic_load(&captured))
        multiply(&random, check_between(&random, 1, SIZE_MOST), check_between(&random, 1, SIZE_MOST),
                 check_between(&random, 1, SIZE_MOST));
    return NULL;
}

/* ---- Graphs ----------------------------------------------------------------------------------------------- */

/* Copies the first block to the second, piece by piece, with time between. */
static cudaGraph_t capture(cudaStream_t stream, char *from, char *to)
{
    enum { PIECE = BYTES / NODES };
    cudaGraph_t graph = NULL;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < NODES; i++) {
        MUST(cudaMemcpyAsync(to + i * PIECE, from + i * PIECE, PIECE, cudaMemcpyDeviceToDevice, stream));
        usleep(SLEEP_MICROSECONDS);
    }
    MUST(cudaMemsetAsync(from, 0, PIECE, stream));
    return MUST(cudaStreamEndCapture(stream, &graph)) ? graph : NULL;
}

static void capture_and_run(cudaStream_t stream, char *from, char *to, int value)
{
    static unsigned char result[BYTES];
    cudaGraphExec_t executable;
    MUST(cudaMemsetAsync(from, value, BYTES, stream));
    MUST(cudaStreamSynchronize(stream));
    cudaGraph_t graph = capture(stream, from, to);
    if (!graph || !MUST(cudaGraphInstantiate(&executable, graph, 0)))
        return;
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaMemcpyAsync(result, to, BYTES, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    CHECK(result[0] == value && result[BYTES / NODES * NODES - 1] == value, "graph %d has not run", value);
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

static unsigned long long streamed_calls(void)
{
    tileblas_statistics statistics;
    tileblas_read_statistics(&statistics, sizeof statistics);
    return statistics.streamed.calls;
}

int main(int count, char **arguments)
{
    const bool is_up = count < 2 || strcmp(arguments[1], "up") == 0;
    check_random random = {.state = check_seed()};
    if (!arena_has_device())
        SKIP("no device");
    cudaStream_t stream;
    char *from, *to;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMalloc((void **)&from, BYTES));
    MUST(cudaMalloc((void **)&to, BYTES));

    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("KEEP_SECONDS", "0");
    if (is_up) {
        tileblas_set_option("START", "wait");
        multiply(&random, SIZE_MOST, SIZE_MOST, SIZE_MOST);
    }
    pthread_t callers[CALLERS];
    uint64_t seeds[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        seeds[i] = check_next(&random);
        pthread_create(&callers[i], NULL, multiply_meanwhile, &seeds[i]);
    }
    for (int i = 0; i < GRAPHS; i++)
        capture_and_run(stream, from, to, i + 1);
    atomic_store(&captured, true);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);

    const unsigned long long streamed = streamed_calls();
    multiply(&random, SIZE_MOST, SIZE_MOST, SIZE_MOST);
    printf("%ld products, %llu of them streamed\n", atomic_load(&products), streamed);
    CHECK(streamed > 0 && streamed_calls() == streamed + 1, "the device is used no more: %llu streamed calls",
          streamed);
    return check_result();
}
