/* Products one of whose operands is known to be a triangle written out with zeros: TFLOP/s, of what is not zeros, by every row that
 * is forecast to take at most twice as long as the fastest, with what is known and without, and the forecasts; beside cuBLAS's trmm
 * out of place. "fastest" is forecast to be. Of lower triangles; --all: of upper ones too.
 */
#include "bench/measure.h"
#include "bench/timing.h"
#include "dispatch/plan.h"
#include "tests/matrix.h"

#include <math.h>
#include <string.h>

enum { TURNS = 7, CALLS = 4, ROWS_MOST = 64, LARGEST_ORDER = 8192 };

/* Which operand is the triangle, and which one it is. */
typedef struct known {
    bool left, lower;
} known;

typedef struct bench {
    bench_gpu gpu;
    void *triangle, *full, *c, *workspace;
    size_t workspace_bytes;
} bench;

static void call_cublas(const bench *bench, const tb_product *p, known known)
{
    const cublasSideMode_t side = known.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t fill = known.lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const int n = (int)p->n;
    const float one = 1;
    const double one_double = 1;
    BENCH_CUBLAS(p->c.element == TB_FP64
                     ? cublasDtrmm(bench->gpu.cublas, side, fill, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n,
                                   &one_double, bench->triangle, n, bench->full, n, bench->c, n)
                     : cublasStrmm(bench->gpu.cublas, side, fill, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n,
                                   &one, bench->triangle, n, bench->full, n, bench->c, n));
}

/* Milliseconds of one of a few calls behind each other, the median; row NULL: cuBLAS. */
static double time_of(const bench *bench, const tb_kernel *row, const tb_product *p, known known)
{
    const bench_gpu *gpu = &bench->gpu;
    double times[TURNS];
    tb_schedule schedule = {.clocks = 0};
    if (row)
        schedule = tb_device.prepare(gpu->stream, row, p);
    for (int turn = -2; turn < TURNS; turn++) {
        float milliseconds = 0;
        BENCH_CUDA(cudaEventRecord(gpu->start, gpu->native));
        for (int call = 0; call < CALLS; call++)
            if (row)
                BENCH_TB(tb_device.launch(gpu->stream, row, p, &schedule, bench->workspace));
            else
                call_cublas(bench, p, known);
        BENCH_CUDA(cudaEventRecord(gpu->stop, gpu->native));
        BENCH_CUDA(cudaEventSynchronize(gpu->stop));
        BENCH_CUDA(cudaEventElapsedTime(&milliseconds, gpu->start, gpu->stop));
        if (turn >= 0)
            times[turn] = milliseconds / CALLS;
    }
    return bench_median(times, TURNS);
}

static double forecast_of(const bench *bench, const tb_kernel *row, const tb_product *p)
{
    return 1e3 * tb_kernel_seconds(row, p, &bench->gpu.chip);
}

static bool is_candidate(const bench *bench, const tb_kernel *row, const tb_product *p)
{
    const tb_chip *chip = &bench->gpu.chip;
    return tb_kernel_serves(row, p, chip, false) && !row->forced_only && row->prepare &&
           tb_prepare(row, p, tb_target_of(chip)).workspace <= bench->workspace_bytes;
}

static void bench_shape(const bench *bench, tb_element element, int64_t n, known known)
{
    const tb_product whole = tb_gemm(element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, n, n, n, 1,
                                     known.left ? bench->triangle : bench->full, n,
                                     known.left ? bench->full : bench->triangle, n, 0, bench->c, n);
    tb_product zeros = whole;
    *(known.left ? &zeros.a_nonzero : &zeros.b_nonzero) = known.lower ? TB_LOWER : TB_UPPER;
    const tb_kernel *rows[ROWS_MOST];
    int count = 0;
    double fastest = INFINITY;
    for (size_t i = 0; i < tb_catalog_size && count < ROWS_MOST; i++)
        if (is_candidate(bench, &tb_catalog[i], &zeros)) {
            rows[count++] = &tb_catalog[i];
            fastest = fmin(fastest, forecast_of(bench, &tb_catalog[i], &zeros));
        }
    const double tflop = 2e-9 * tb_volume(&zeros), them = time_of(bench, NULL, &zeros, known);
    printf("%s %5lld, %s %s: cuBLAS %8.3f ms %6.1f TFLOP/s\n", element == TB_FP64 ? "d" : "s", (long long)n,
           known.left ? "left " : "right", known.lower ? "lower" : "upper", them, tflop / them);
    for (int i = 0; i < count; i++) {
        const double forecast = forecast_of(bench, rows[i], &zeros);
        if (forecast > 2 * fastest)
            continue;
        const double with = time_of(bench, rows[i], &zeros, known),
                     without = time_of(bench, rows[i], &whole, known);
        printf("    %-22s %8.3f ms %6.1f TFLOP/s, %.2f of cuBLAS; forecast %8.3f; without %8.3f, forecast "
               "%8.3f%s\n",
               rows[i]->name, with, tflop / with, them / with, forecast, without,
               forecast_of(bench, rows[i], &whole), forecast == fastest ? "  fastest" : "");
    }
    fflush(stdout);
}

static void copy_to_device(void *target, const matrix *x)
{
    const size_t bytes = (size_t)(x->lines * x->ld) * tb_bytes_of(x->element);
    BENCH_CUDA(cudaMemcpy(target, matrix_start_in(x, x->block), bytes, cudaMemcpyHostToDevice));
}

/* Numbers in [-1, 1], but for the zeros of the triangle. */
static void fill(const bench *bench, tb_element element, int64_t n, bool lower, check_random *random)
{
    matrix x = matrix_make_of(element, n, n, n, 0);
    matrix_fill(&x, MATRIX_UNIFORM, random);
    copy_to_device(bench->full, &x);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (lower ? i < j : i > j)
                matrix_set(&x, j, i, 0);
    copy_to_device(bench->triangle, &x);
    matrix_free(&x);
}

int main(int argc, char **argv)
{
    static const int64_t orders[] = {512, 1024, 2048, 4096, LARGEST_ORDER};
    const bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    check_random random = {.state = check_seed()};
    bench bench = {.workspace_bytes = (size_t)4 << 30};
    bench_open(&bench.gpu);
    void **matrices[] = {&bench.triangle, &bench.full, &bench.c};
    for (int i = 0; i < 3; i++)
        BENCH_CUDA(cudaMalloc(matrices[i], (size_t)LARGEST_ORDER * LARGEST_ORDER * sizeof(double)));
    BENCH_CUDA(cudaMalloc(&bench.workspace, bench.workspace_bytes));
    for (int kind = 0; kind < (all ? 4 : 2); kind++)
        for (tb_element element = TB_FP32; element <= TB_FP64; element++)
            for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
                const known known = {.left = kind % 2 == 0, .lower = kind / 2 == 0};
                fill(&bench, element, orders[i], known.lower, &random);
                bench_shape(&bench, element, orders[i], known);
            }
    for (int i = 0; i < 3; i++)
        BENCH_CUDA(cudaFree(*matrices[i]));
    BENCH_CUDA(cudaFree(bench.workspace));
    bench_close(&bench.gpu);
    return EXIT_SUCCESS;
}
