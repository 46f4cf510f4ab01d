#include "lib/machine/prepare.h"

#include "dispatch/schedule.h"
#include "dispatch/tiling.h"
#include "lib/device/platform.h"
#include "lib/device/memory.h"
#include "lib/machine/machine.h"
#include "lib/user/precision.h"

/* A product as programs have them who start a device; and the extent of one that is computed for its kernel's
 * sake. */
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

/* Its operands one behind the other. */
static tb_product square(int64_t n, char *memory)
{
    const size_t bytes = (size_t)(n * n) * tb_bytes_of(tb_routine_rows[TB_SGEMM].element);
    return tb_gemm(TB_SGEMM, false, false, n, n, n, 1, memory, n, memory ? memory + bytes : NULL, n, 0,
                   memory ? memory + 2 * bytes : NULL, n);
}

static const tb_kernel *find_kernel(const tb_machine *machine, const tb_chip *chip)
{
    const tb_product large = square(LARGE, NULL);
    const tb_facts facts = {.machine = *machine,
                            .kernels = tb_catalog,
                            .kernel_count = tb_catalog_size,
                            .accuracy = tb_wanted_accuracy()};
    tb_plan plan = {.route = TB_ROUTE_STREAMED, .place = {.device = chip->device}};
    return tb_choose_kernel(&large, &facts, false, &plan) ? plan.kernel : NULL;
}

static void multiply(tb_stream *stream, const tb_chip *chip, const tb_kernel *kernel, char *memory)
{
    const tb_product small = square(SMALL, memory);
    const tb_schedule schedule = tb_make_schedule(kernel, &small, tb_target_of(chip));
    tb_buffer buffer = {0};
    if (schedule.workspace > 0 && tb_take_buffer(chip->device, schedule.workspace, &buffer) != TB_OK)
        return;
    tb_enqueue_launch(stream, kernel, &small, &schedule, buffer.memory, false);
    tb_synchronize(stream);
    tb_give_buffer(&buffer);
}

/* Its code is loaded by its first launch, whatever lies in its operands. */
static void prepare_kernel(const tb_machine *machine, const tb_chip *chip)
{
    const tb_product small = square(SMALL, NULL);
    const tb_kernel *kernel = find_kernel(machine, chip);
    tb_buffer memory = {0};
    tb_stream *stream;
    if (!kernel || tb_take_buffer(chip->device, tb_product_bytes(&small), &memory) != TB_OK)
        return;
    if (tb_create_stream(chip->device, &stream) == TB_OK) {
        multiply(stream, chip, kernel, memory.memory);
        tb_destroy_stream(stream);
    }
    tb_give_buffer(&memory);
}

void tb_prepare_device(const tb_machine *machine, const tb_chip *chip)
{
    prepare_slots();
    prepare_kernel(machine, chip);
}
