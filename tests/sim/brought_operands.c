/* Copies of operands (tb_bring_operand): every column is there, and begins where kernels take it; of copies within a device the
 * link has nothing; and where there is no memory, the operand is what it was.
 */
#include "include/tileblas.h"
#include "lib/device/copies.h"
#include "lib/reports/counters.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdlib.h>

enum { ROWS_MOST = 40, COLUMNS = 3, ROOM = (ROWS_MOST + 1) * COLUMNS * 16, VECTOR_BYTES = 16 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static unsigned char number_at(size_t byte)
{
    return (unsigned char)(byte * 7 + byte / 251);
}

static tb_operand operand_at(void *memory, tb_element element, int64_t rows)
{
    return (tb_operand){.data = memory, .rows = rows, .columns = COLUMNS, .ld = rows + 1, .element = element};
}

static void check_columns(const tb_operand *copy, const tb_operand *source)
{
    const size_t bytes = tb_bytes_of(source->element), column_bytes = tb_column_bytes(source);
    CHECK(copy->ld >= source->rows && copy->rows == source->rows && copy->columns == COLUMNS &&
              copy->ld * (int64_t)bytes % VECTOR_BYTES == 0 && (uintptr_t)copy->data % VECTOR_BYTES == 0,
          "%lld rows of %zu bytes: columns %lld apart at %p", (long long)source->rows, bytes,
          (long long)copy->ld, copy->data);
    int wrong = 0;
    for (int64_t column = 0; column < COLUMNS; column++) {
        unsigned char there[ROOM];
        sim_copy(there, tb_at(copy, 0, column), column_bytes);
        for (size_t i = 0; i < column_bytes; i++)
            wrong += there[i] != number_at((size_t)(column * source->ld) * bytes + i);
    }
    CHECK(wrong == 0, "%lld rows of %zu bytes: %d bytes are others", (long long)source->rows, bytes, wrong);
}

static void bring(tb_stream *stream, tb_direction direction, void *memory, tb_element element, int64_t rows)
{
    const tb_operand source = operand_at(memory, element, rows);
    const double bytes = (double)tb_column_bytes(&source) * COLUMNS;
    tb_operand copy = source;
    tb_buffer buffer = {0};
    tb_take_link_bytes();
    CHECK(tb_bring_operand(stream, direction, 0, &copy, &buffer) == TB_OK &&
              tb_device.synchronize(stream) == TB_OK,
          "the operand was not brought");
    const double linked = tb_take_link_bytes();
    CHECK(linked == (direction == TB_HOST_TO_DEVICE ? bytes : 0), "%g bytes over the link, of %g", linked,
          bytes);
    check_columns(&copy, &source);
    tb_give_buffer(&buffer);
}

static void without_memory_the_operand_is_what_it_was(tb_stream *stream, void *memory)
{
    tb_operand much = {
        .data = memory, .rows = INT64_C(1) << 36, .columns = 1, .ld = INT64_C(1) << 36, .element = TB_FP64};
    tb_buffer buffer = {0};
    CHECK(tb_bring_operand(stream, TB_DEVICE_TO_DEVICE, 0, &much, &buffer) == TB_OUT_OF_MEMORY,
          "half a terabyte was taken");
    CHECK(much.data == memory && much.ld == INT64_C(1) << 36 && !buffer.memory, "the operand is another");
}

static void start_device(void)
{
    static float a[1], b[1], c[1];
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    cblas_sgemm(102, 111, 111, 1, 1, 1, 1, a, 1, b, 1, 0, c, 1);
}

int main(void)
{
    static unsigned char on_host[ROOM];
    tb_stream *stream;
    start_device();
    if (!CHECK(tb_device.create_stream(0, &stream) == TB_OK, "no stream"))
        return check_result();
    for (size_t i = 0; i < sizeof on_host; i++)
        on_host[i] = number_at(i);
    void *there = sim_allocate(TB_MEMORY_DEVICE, 0, sizeof on_host);
    sim_copy(there, on_host, sizeof on_host);
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        for (int64_t rows = 1; rows <= ROWS_MOST; rows++) {
            bring(stream, TB_DEVICE_TO_DEVICE, there, element, rows);
            bring(stream, TB_HOST_TO_DEVICE, on_host, element, rows);
        }
    without_memory_the_operand_is_what_it_was(stream, there);
    tb_device.destroy_stream(stream);
    sim_release(there);
    return check_result();
}
