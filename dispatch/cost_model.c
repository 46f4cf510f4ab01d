/* Forecasts in seconds, from the problem and the machine alone. */
#include "dispatch/plan.h"

#include <math.h>

/* OpenBLAS 0.3.34 on Sapphire Rapids: 3.1 TFLOP/s on 16 cores at n = 4096. A strong host is assumed, so that
 * a weaker one is served by the device later than it could be, never sooner than it should. */
#define HOST_FLOPS_PER_CORE 200e9
#define HOST_CALL_SECONDS   1e-6

/* H200, PCIe 5 x16: pageable copies of 1 MiB and more, and what a call costs before the first byte moves. */
#define LINK_IN_BYTES_PER_SECOND  14e9
#define LINK_OUT_BYTES_PER_SECOND 12e9
#define STREAMED_CALL_SECONDS     60e-6

/* H200: 128 fused multiply-adds a cycle at 1.76 GHz is the 59.6 TFLOP/s that 132 multiprocessors sustain. */
#define DEVICE_CLOCK                   1.76e9
#define DEVICE_PEAK_PER_MULTIPROCESSOR (59.6e12 / 132)
#define DEVICE_USUAL_EFFICIENCY        0.6
#define DEVICE_BYTES_PER_SECOND        4.2e12
#define LAUNCH_SECONDS                 3e-6
/* Filling the first buffers and writing C, for a block that nothing else on its multiprocessor covers up. */
#define BLOCK_SECONDS 4e-6
/* Starting one device-to-device copy, and its launch gap. */
#define PAD_SECONDS 3e-6

static double flop(const tb_problem *problem)
{
    return 2.0 * (double)problem->m * (double)problem->n * (double)problem->k;
}

static double bytes(int64_t rows, int64_t columns)
{
    return (double)sizeof(float) * (double)rows * (double)columns;
}

double tb_host_seconds(const tb_problem *problem, const tb_machine *machine)
{
    int cores = machine->host_cores > 0 ? machine->host_cores : 1;
    return HOST_CALL_SECONDS + flop(problem) / (HOST_FLOPS_PER_CORE * cores);
}

double tb_streamed_seconds(const tb_problem *problem, const tb_machine *machine)
{
    /* Before the device is up nobody knows its size: take a middling one. */
    int multiprocessors = machine->multiprocessors > 0 ? machine->multiprocessors : 64;
    double in = bytes(problem->m, problem->k) + bytes(problem->k, problem->n);
    double out = bytes(problem->m, problem->n);
    if (problem->beta != 0)
        in += out;
    return STREAMED_CALL_SECONDS + in / LINK_IN_BYTES_PER_SECOND + out / LINK_OUT_BYTES_PER_SECOND +
           flop(problem) / (DEVICE_PEAK_PER_MULTIPROCESSOR * DEVICE_USUAL_EFFICIENCY * multiprocessors);
}

/* Copying the operands that the kernel would not take into pitched memory. */
static double pad_seconds(const tb_kernel *kernel, const tb_problem *problem)
{
    double seconds = 0;
    if (!tb_kernel_takes(kernel, problem->a, problem->lda))
        seconds += PAD_SECONDS + 2 * bytes(problem->m, problem->k) / DEVICE_BYTES_PER_SECOND;
    if (!tb_kernel_takes(kernel, problem->b, problem->ldb))
        seconds += PAD_SECONDS + 2 * bytes(problem->k, problem->n) / DEVICE_BYTES_PER_SECOND;
    return seconds;
}

/* Whole tiles: the busiest multiprocessor works through its share of blocks, a few at a time. */
static double tile_seconds(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors)
{
    double tiles = ceil((double)problem->m / kernel->tile_m) * ceil((double)problem->n / kernel->tile_n);
    double tile_flop = 2.0 * kernel->tile_m * kernel->tile_n * (double)problem->k;
    return ceil(tiles / multiprocessors) *
           (tile_flop / (DEVICE_PEAK_PER_MULTIPROCESSOR * kernel->efficiency) +
            BLOCK_SECONDS / kernel->blocks);
}

double tb_kernel_seconds(const tb_kernel *kernel, const tb_problem *problem, const tb_machine *machine)
{
    double arithmetic = kernel->clocks
                            ? kernel->clocks(kernel, problem, machine->multiprocessors) / DEVICE_CLOCK
                            : tile_seconds(kernel, problem, machine->multiprocessors);
    double traffic =
        bytes(problem->m, problem->k) + bytes(problem->k, problem->n) + bytes(problem->m, problem->n);
    double seconds = LAUNCH_SECONDS + fmax(arithmetic, traffic / DEVICE_BYTES_PER_SECOND);
    return kernel->pads ? seconds + pad_seconds(kernel, problem) : seconds;
}
