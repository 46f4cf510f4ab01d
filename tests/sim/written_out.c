/* Copies of operands that miss a kernel's alignment (lib/call/launched.h): every column is there, and begins where
 * the kernel takes it; the room that is asked for holds it; and the link has nothing of copies within a device,
 * but all of those to it.
 */
#include "lib/call/launched.h"
#include "lib/device/copies.h"
#include "lib/reports/counters.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"
#include "tests/sim/started.h"

#include <stdlib.h>

enum { ROWS_MOST = 40, K = 3, FLOATS = (ROWS_MOST + 1) * ROWS_MOST };

static void check_columns(const tb_matrix *copy, const tb_matrix *source)
{
    int wrong = 0;
    for (int64_t column = 0; column < source->columns; column++) {
        float there[ROWS_MOST], expected[ROWS_MOST];
        sim_copy(there, tb_at(copy, 0, column), tb_column_bytes(source));
        sim_copy(expected, tb_at(source, 0, column), tb_column_bytes(source));
        for (int64_t row = 0; row < source->rows; row++)
            wrong += there[row] != expected[row];
    }
    CHECK(wrong == 0, "%lld rows: %d numbers are others", (long long)source->rows, wrong);
}

/* Copies operands out, as the kernel does that copies them first. */
static void write_out(tb_stream *stream, float *memory, int64_t m, int64_t n)
{
    const tb_plan plan = {.kernel = tb_find_kernel("padded"), .pads = {[TB_A] = true, [TB_B] = true}};
    const tb_product product =
        tb_gemm(TB_SGEMM, false, true, m, n, K, 1, memory, m + 1, memory + 1, n, 0, memory, m + 1);
    const tb_room room = tb_room_for_chunks(&product, &plan, K);
    tb_buffer buffers[TB_B + 1] = {{0}};
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (room.written_out[role] > 0)
            CHECK(tb_take_buffer(0, room.written_out[role], &buffers[role]) == TB_OK, "there is no memory");
    tb_launched launched;
    tb_prepare_launch(&product, &plan, 0, buffers, &launched);
    const tb_product *written = tb_launched_product(&launched);
    tb_take_link_bytes();
    CHECK(tb_write_out(stream, &product, &launched) == TB_OK && tb_synchronize(stream) == TB_OK,
          "the operands were not copied");
    CHECK(tb_take_link_bytes() == 0, "the link has a part in copies within the device");
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *source = &product.operands[role], *copy = &written->operands[role];
        CHECK(tb_kernel_takes(plan.kernel, written, role) &&
                  launched.is_written_out[role] == !tb_kernel_takes(plan.kernel, &product, role),
              "%lld rows: columns %lld apart at %p", (long long)source->rows, (long long)copy->ld,
              copy->data);
        check_columns(&copy->matrix, &source->matrix);
        tb_give_buffer(&buffers[role]);
    }
}

static void the_link_has_what_comes_to_the_device(tb_stream *stream, float *there)
{
    static float here[FLOATS];
    const tb_matrix source = {.data = here, .rows = 7, .columns = K, .ld = 9, .element = TB_FP32};
    tb_take_link_bytes();
    CHECK(tb_copy_operand(stream, TB_HOST_TO_DEVICE, &source, there, 8) == TB_OK &&
              tb_synchronize(stream) == TB_OK,
          "the operand was not copied");
    CHECK(tb_take_link_bytes() == 7 * K * sizeof(float), "other bytes over the link");
}

int main(void)
{
    static float numbers[FLOATS];
    tb_stream *stream;
    start_device();
    if (!CHECK(tb_create_stream(0, &stream) == TB_OK, "no stream"))
        return check_result();
    for (int i = 0; i < FLOATS; i++)
        numbers[i] = (float)i;
    float *there = sim_allocate(TB_MEMORY_DEVICE, 0, sizeof numbers);
    sim_copy(there, numbers, sizeof numbers);
    for (int64_t m = 1; m <= ROWS_MOST; m++)
        write_out(stream, there, m, ROWS_MOST + 1 - m);
    the_link_has_what_comes_to_the_device(stream, there);
    tb_destroy_stream(stream);
    sim_release(there);
    return check_result();
}
