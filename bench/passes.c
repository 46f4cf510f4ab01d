/* passes: what the launches of a dgemm_crt row take, one behind the other, for numbers that integers take and for such as are
 * left to a row of FP64 units; and how much longer than that row alone the latter take. Operands are in device memory.
 *
 *   bench/passes [ROW [N ...]]            ROW is dgemm_crt_sm90 unless said otherwise
 *
 * The FP64 row's own launch is left out where the passes are timed, and timed by itself: its power would make the rest uncertain.
 * Columns are microseconds up to and with a launch: their differences are what each adds.
 */
#include "bench/measure.h"
#include "bench/timing.h"
#include "dispatch/schedule.h"
#include "kernels/crt/schedule_crt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATED = 20, SAMPLES = 15 };

static const char *const passes[] = {"survey", "gather", "decide", "residues", "multiply", "join"};
enum { PASSES = sizeof passes / sizeof *passes };

static int most; /* launches of a product that are let through */

/* Stands between a launch function and the device. */
typedef struct gate {
    tb_launcher interface;
    const tb_launcher *device;
    int passed;
} gate;

static tb_status load(const tb_launcher *launcher, tb_entry *entry)
{
    const tb_launcher *device = ((const gate *)launcher)->device;
    return device->load(device, entry);
}

static bool lets_through(const tb_launcher *launcher, const tb_entry *entry)
{
    return strstr(entry->symbol, "_crt_") != NULL && ((gate *)launcher)->passed++ < most;
}

static tb_status launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                        int shared_bytes, const void *argument)
{
    const tb_launcher *device = ((const gate *)launcher)->device;
    return lets_through(launcher, entry)
               ? device->launch(device, entry, blocks, threads, shared_bytes, argument)
               : TB_OK;
}

static tb_status launch_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                                 int threads, int shared_bytes, const void *argument)
{
    const tb_launcher *device = ((const gate *)launcher)->device;
    return lets_through(launcher, entry)
               ? device->launch_clusters(device, entry, blocks, cluster, threads, shared_bytes, argument)
               : TB_OK;
}

/* What the row has for its launch function; the linker puts a gate in front of it. */
static tb_status launch_some(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule, void *workspace,
                             tb_status (*inside)(const tb_launcher *, const tb_kernel *, const tb_product *,
                                                 const tb_schedule *, void *))
{
    gate gate = {
        .interface = {.target = launcher->target,
                      .same_a = launcher->same_a,
                      .load = load,
                      .launch = launch,
                      .launch_clusters = launch_clusters},
        .device = launcher,
    };
    return inside(&gate.interface, kernel, product, schedule, workspace);
}

#define PUT_GATE(family)                                                                                     \
    tb_status __real_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *product, const tb_schedule *schedule,              \
                                        void *workspace);                                                    \
    tb_status __wrap_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *product, const tb_schedule *schedule,              \
                                        void *workspace);                                                    \
    tb_status __wrap_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *product, const tb_schedule *schedule,              \
                                        void *workspace)                                                     \
    {                                                                                                        \
        return launch_some(launcher, kernel, product, schedule, workspace, __real_tb_launch_##family);       \
    }
PUT_GATE(crt_sm90)
PUT_GATE(crt_sm80)
PUT_GATE(crt_sm75)

static const tb_kernel *row;

/* Seconds of a launch, the median of samples of several. */
static double time_of(const bench_gpu *gpu, const tb_kernel *kernel, const tb_product *product,
                      const tb_schedule *schedule, void *workspace)
{
    double samples[SAMPLES];
    for (int sample = 0; sample < SAMPLES; sample++) {
        float milliseconds;
        BENCH_TB(tb_enqueue_launch(gpu->stream, kernel, product, schedule, workspace, false));
        BENCH_CUDA(cudaEventRecord(gpu->start, gpu->native));
        for (int i = 0; i < REPEATED; i++)
            BENCH_TB(tb_enqueue_launch(gpu->stream, kernel, product, schedule, workspace, false));
        BENCH_CUDA(cudaEventRecord(gpu->stop, gpu->native));
        BENCH_CUDA(cudaEventSynchronize(gpu->stop));
        BENCH_CUDA(cudaEventElapsedTime(&milliseconds, gpu->start, gpu->stop));
        samples[sample] = milliseconds * 1e-3 / REPEATED;
    }
    return bench_median(samples, SAMPLES);
}

static void measure(const bench_gpu *gpu, int64_t n, bool transpose_a, const char *numbers)
{
    bench_product product;
    bench_draw(bench_find_numbers(numbers));
    bench_allocate(gpu, bench_find_routine("dgemm"), n, n, n, transpose_a, false, 1, &product);
    const tb_schedule schedule = tb_make_schedule(row, &product.first, tb_target_of(&gpu->chip));
    const tb_crt_deal *deal = TB_DEAL(&schedule, tb_crt_deal);
    const tb_kernel *native_row = tb_crt_native(row, deal);
    const tb_schedule native = tb_make_schedule(native_row, &product.first, tb_target_of(&gpu->chip));
    void *workspace;
    BENCH_CUDA(cudaMalloc(&workspace, schedule.workspace + native.workspace));
    printf("%6lld %cN %-8s", (long long)n, transpose_a ? 'T' : 'N', numbers);
    double all = 0;
    for (most = 1; most <= PASSES; most++) {
        all = time_of(gpu, row, &product.first, &schedule, workspace);
        printf(" %s %.1f", passes[most - 1], all * 1e6);
    }
    const double alone = time_of(gpu, native_row, &product.first, &native, workspace);
    printf("  %s alone %.1f, %.2f%%\n", native_row->name, alone * 1e6, 100 * all / alone);
    fflush(stdout);
    BENCH_CUDA(cudaFree(workspace));
    bench_release(&product);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"2048", "4096", "8192"};
    const char *const *sizes = argc > 2 ? (const char *const *)argv + 2 : usual;
    const int count = argc > 2 ? argc - 2 : 3;
    bench_gpu gpu = {0};
    bench_open(&gpu);
    row = tb_find_kernel(argc > 1 ? argv[1] : "dgemm_crt_sm90");
    bench_require(row != NULL && strstr(row->name, "_crt_") != NULL, "a row of dgemm_crt");
    for (int i = 0; i < count; i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            measure(&gpu, atoll(sizes[i]), transposed, "normal");
            measure(&gpu, atoll(sizes[i]), transposed, "spread");
        }
    bench_close(&gpu);
    return 0;
}
