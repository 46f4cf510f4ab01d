#include "lib/machine/prepare.h"

#include "dispatch/tiling.h"
#include "lib/device/device.h"
#include "lib/device/memory.h"
#include "lib/streaming/pipeline.h"
#include "lib/call/precision.h"

/* A product as programs have them who start a device; and the extent of one that is computed for its kernel's sake. */
#define LARGE 4096
#define SMALL 512

/* They are kept, and the first product takes them. */
static void prepare_slots(void)
{
    tb_buffer slots[2 * TB_SLOTS] = {{0}};
    for (int i = 0; i < 2 * TB_SLOTS; i++)
        if (tb_take_buffer(TB_PINNED, tb_slot_bytes(), &slots[i]) != TB_OK)
            break;
    for (int i = 0; i < 2 * TB_SLOTS; i++)
        tb_give_buffer(&slots[i]);
}

static const tb_kernel *find_kernel(const tb_machine *machine, const tb_chip *chip)
{
    const tb_problem large = {
        .m = LARGE, .n = LARGE, .k = LARGE, .lda = LARGE, .ldb = LARGE, .ldc = LARGE, .alpha = 1};
    const tb_facts facts = {.machine = *machine,
                            .kernels = tb_catalog,
                            .kernel_count = tb_catalog_size,
                            .accuracy = tb_wanted_accuracy()};
    tb_plan plan = {.route = TB_ROUTE_STREAMED, .place = {.device = chip->device}};
    return tb_choose_kernel(&large, &facts, false, &plan) ? plan.kernel : NULL;
}

static tb_status multiply(tb_stream *stream, int device, const tb_kernel *kernel, char *memory, size_t bytes)
{
    const tb_problem small = {.m = SMALL,
                              .n = SMALL,
                              .k = SMALL,
                              .lda = SMALL,
                              .ldb = SMALL,
                              .ldc = SMALL,
                              .alpha = 1,
                              .a = (const float *)(const void *)memory,
                              .b = (const float *)(const void *)(memory + bytes),
                              .c = (float *)(void *)(memory + 2 * bytes)};
    const size_t workspace = tb_device.workspace(stream, kernel, &small);
    tb_buffer buffer = {0};
    TB_TRY(workspace > 0 ? tb_take_buffer(device, workspace, &buffer) : TB_OK);
    const tb_status launched = tb_device.launch(stream, kernel, &small, buffer.memory);
    const tb_status finished = tb_device.synchronize(stream);
    tb_give_buffer(&buffer);
    return launched != TB_OK ? launched : finished;
}

/* Its code is loaded by its first launch, whatever lies in its operands. */
static void prepare_kernel(const tb_machine *machine, const tb_chip *chip)
{
    const size_t bytes = (size_t)SMALL * SMALL * sizeof(float);
    const tb_kernel *kernel = find_kernel(machine, chip);
    tb_buffer memory = {0};
    tb_stream *stream;
    if (!kernel || tb_take_buffer(chip->device, 3 * bytes, &memory) != TB_OK)
        return;
    if (tb_device.create_stream(chip->device, &stream) == TB_OK) {
        multiply(stream, chip->device, kernel, memory.memory, bytes);
        tb_device.destroy_stream(stream);
    }
    tb_give_buffer(&memory);
}

void tb_prepare_device(const tb_machine *machine, const tb_chip *chip)
{
    prepare_slots();
    prepare_kernel(machine, chip);
}
