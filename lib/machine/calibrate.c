#include "lib/machine/calibrate.h"

#include "dispatch/schedule.h"
#include "kernels/launch.h"
#include "lib/process/clock.h"
#include "lib/device/memory.h"
#include "lib/machine/machine.h"
#include "lib/device/platform.h"

/* What an H200 sustains of its highest rates: 1.76 of 1.98 GHz under full load, 4.2 of 4.8 TB/s. */
#define SUSTAINED_CLOCK  0.889
#define SUSTAINED_MEMORY 0.875

#define PRESUMED_LINK   20e9
#define PRESUMED_MEMORY 1e12

/* Long enough that the beginning of a block counts little. */
#define WORK_K 256

/* Queued one behind the other, so that starting and waiting count little. */
#define IN_A_ROW    4
#define REPETITIONS 3

/* Measurements that are off by more than this are not about the device: it was busy. */
#define CREDIBLE 2.0

tb_chip tb_presume_chip(int device, const tb_device_description *description)
{
    const double memory = description->memory_bytes_per_second, clock = 1e3 * description->clock_khz;
    const tb_target target = {.architecture = description->architecture,
                              .multiprocessors = description->multiprocessors};
    return (tb_chip){.device = device,
                     .architecture = description->architecture,
                     .multiprocessors = description->multiprocessors,
                     .clock = SUSTAINED_CLOCK * clock * tb_share_of_lanes(description->architecture),
                     .memory_rate = memory > 0 ? SUSTAINED_MEMORY * memory : PRESUMED_MEMORY,
                     .memory_bytes_a_clock = tb_memory_bytes_a_clock(target, clock, memory),
                     .link_in = PRESUMED_LINK,
                     .link_out = PRESUMED_LINK};
}

/* ---- The link --------------------------------------------------------------------------------------------- */

static tb_status time_copies(tb_stream *stream, const tb_copy *copy, double *rate)
{
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        double start = tb_seconds();
        for (int i = 0; i < IN_A_ROW; i++)
            TB_TRY(tb_enqueue_copy(stream, copy));
        TB_TRY(tb_synchronize(stream));
        double reached = IN_A_ROW * (double)copy->row_bytes / (tb_seconds() - start);
        /* The first one wakes the link up. */
        if (repetition == 1 || (repetition > 1 && reached > *rate))
            *rate = reached;
    }
    return TB_OK;
}

static tb_status measure_link(tb_stream *stream, tb_chip *chip, void *memory)
{
    tb_buffer pinned;
    TB_TRY(tb_take_buffer(TB_PINNED, tb_slot_bytes(), &pinned));
    const tb_copy in = tb_copy_of_bytes(TB_HOST_TO_DEVICE, memory, pinned.memory, tb_slot_bytes()),
                  out = tb_copy_of_bytes(TB_DEVICE_TO_HOST, pinned.memory, memory, tb_slot_bytes());
    tb_status status = time_copies(stream, &in, &chip->link_in);
    if (status == TB_OK)
        status = time_copies(stream, &out, &chip->link_out);
    tb_synchronize(stream);
    tb_give_buffer(&pinned);
    return status;
}

/* ---- The kernels ------------------------------------------------------------------------------------------ */

/* A product of one round of tiles over the multiprocessors. */
static tb_product one_round(const tb_chip *chip, const tb_kernel *kernel)
{
    int64_t tiles_m = 1;
    while ((tiles_m + 1) * (tiles_m + 1) <= chip->multiprocessors)
        tiles_m++;
    const int64_t m = tiles_m * kernel->tile_m, n = chip->multiprocessors / tiles_m * kernel->tile_n;
    return tb_gemm(TB_SGEMM, false, false, m, n, WORK_K, 1, NULL, m, NULL, WORK_K, 0, NULL, m);
}

static tb_status time_launches(tb_stream *stream, const tb_chip *chip, const tb_kernel *kernel,
                               const tb_product *product, void *workspace, double *seconds)
{
    const tb_schedule schedule = tb_make_schedule(kernel, product, tb_target_of(chip));
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        double start = tb_seconds();
        for (int i = 0; i < IN_A_ROW; i++)
            TB_TRY(tb_enqueue_launch(stream, kernel, product, &schedule, workspace, false));
        TB_TRY(tb_synchronize(stream));
        double taken = (tb_seconds() - start) / IN_A_ROW;
        if (repetition == 1 || (repetition > 1 && taken < *seconds))
            *seconds = taken;
    }
    return TB_OK;
}

/* The clock is set to what makes the forecast come true. Operands are whatever the memory holds. */
static tb_status measure_kernel(tb_stream *stream, tb_chip *chip, const tb_kernel *kernel, void *memory,
                                void *workspace)
{
    tb_product product = one_round(chip, kernel);
    product.a.data = memory;
    product.b.data = (char *)memory + tb_matrix_bytes(&product.a.matrix);
    product.c.data = (char *)product.b.data + tb_matrix_bytes(&product.b.matrix);
    double seconds = 0;
    TB_TRY(time_launches(stream, chip, kernel, &product, workspace, &seconds));
    double ratio = tb_kernel_seconds(kernel, &product, chip) / seconds;
    if (ratio < CREDIBLE && ratio > 1 / CREDIBLE)
        chip->clock *= ratio;
    return TB_OK;
}

static const tb_kernel *kernel_to_measure(const tb_chip *chip)
{
    static const char *const names[] = {"sgemm_simt_128x128", "tiled"};
    const tb_product aligned =
        tb_gemm(TB_SGEMM, false, false, 128, 128, 128, 1, NULL, 128, NULL, 128, 0, NULL, 128);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tb_kernel *kernel = tb_find_kernel(names[i]);
        if (kernel && tb_kernel_serves(kernel, &aligned, chip, true))
            return kernel;
    }
    return NULL;
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

static void measure(tb_stream *stream, tb_chip *chip)
{
    const tb_kernel *kernel = kernel_to_measure(chip);
    size_t operands = 0, workspace = 0;
    if (kernel) {
        tb_product product = one_round(chip, kernel);
        operands = tb_product_bytes(&product);
        workspace = tb_make_schedule(kernel, &product, tb_target_of(chip)).workspace;
    }
    void *memory;
    operands = operands > tb_slot_bytes() ? operands : tb_slot_bytes();
    if (tb_allocate(chip->device, operands + workspace, &memory) != TB_OK)
        return;
    tb_status status = measure_link(stream, chip, memory);
    if (status == TB_OK && kernel)
        status = measure_kernel(stream, chip, kernel, memory, (char *)memory + operands);
    tb_synchronize(stream);
    tb_release(chip->device, memory);
}

void tb_measure_chip(tb_chip *chip)
{
    tb_stream *stream;
    if (tb_create_stream(chip->device, &stream) != TB_OK)
        return;
    measure(stream, chip);
    tb_destroy_stream(stream);
}
