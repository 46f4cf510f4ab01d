/* Orders that use all that a client holds, and not a byte more; and the same orders a byte or a number further, which are refused.
 * And launches that are said to have the A of the one before. Sessions in this process, on the simulated device.
 */
#include "dispatch/schedule.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

enum { N = 32, BLOCK_BYTES = N * N * (int)sizeof(double), ROW = 64 };

/* Of a client that has come. */
static uint64_t block, other;

static tb_order order_of(tb_command_kind kind)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    order.command.kind = kind;
    return order;
}

static tb_order copy(tb_direction direction, uint64_t to, uint64_t from, size_t bytes)
{
    tb_order order = order_of(TB_COMMAND_COPY);
    order.command.copy =
        tb_copy_of_bytes(direction, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return order;
}

/* Two rows, the second at the end of the block. */
static tb_order copy_rows(size_t row_bytes)
{
    tb_order order = copy(TB_DEVICE_TO_DEVICE, other, block, row_bytes);
    tb_copy *rows = &order.command.copy;
    rows->rows = 2;
    rows->row_bytes = row_bytes;
    rows->source_pitch = rows->target_pitch = BLOCK_BYTES - ROW;
    return order;
}

/* One number of a symmetric matrix, at the block's first place, and its image so many rows further below and columns before it. */
static tb_order expand_image(int64_t above, tb_triangle stored)
{
    tb_order order = order_of(TB_COMMAND_EXPAND);
    const tb_operand whole = {
        .matrix = {.data = (void *)(uintptr_t)block, .rows = N, .columns = N, .ld = N, .element = TB_FP64},
        .structure = TB_SYMMETRIC,
        .stored = stored};
    order.command.expansion = (tb_expansion){
        .source = tb_operand_part(&whole, 0, 0, 1, 1),
        .target = {.data = (void *)(uintptr_t)other, .rows = 1, .columns = 1, .ld = 1, .element = TB_FP64},
        .factor = {1, 0}};
    order.command.expansion.source.diagonal -= above;
    return order;
}

/* With A at the block's end, and so many columns more than lie there. */
static tb_order multiply(int more)
{
    tb_order order = order_of(TB_COMMAND_EXPAND);
    order.command.expansion = (tb_expansion){
        .source = {.matrix = {.data = (void *)(uintptr_t)block,
                              .rows = N,
                              .columns = N,
                              .ld = N + more,
                              .element = TB_FP64}},
        .target = {.data = (void *)(uintptr_t)other, .rows = N, .columns = N, .ld = N, .element = TB_FP64},
        .factor = {1, 0}};
    return order;
}

/* Pivots at the other block's end, of which one more each. */
static tb_order eliminate(int64_t more, bool exchanges)
{
    enum { COLUMNS = 8 };
    tb_order order = order_of(exchanges ? TB_COMMAND_EXCHANGE : TB_COMMAND_PANEL);
    const tb_pivots pivots = {.data = (void *)(uintptr_t)(other + BLOCK_BYTES - COLUMNS * sizeof(int32_t)),
                              .bits = 32};
    void *const matrix = (void *)(uintptr_t)block;
    if (exchanges)
        order.command.exchange = (tb_row_exchange){
            .matrix = {matrix, N, N, N, TB_FP64}, .count = COLUMNS + more, .pivots = pivots};
    else
        order.command.panel =
            (tb_panel){.block = tb_getrf(TB_DGETRF, N, COLUMNS + more, matrix, N, pivots, NULL),
                       .info = (void *)(uintptr_t)other};
    return order;
}

/* Rows of LU's panel to the block's end, and info at the other one's. */
static tb_order panel(int64_t columns, uint64_t info)
{
    tb_order order = order_of(TB_COMMAND_PANEL);
    const tb_pivots pivots = {.data = (void *)(uintptr_t)other, .bits = 32};
    order.command.panel = (tb_panel){
        .block = tb_getrf(TB_DGETRF, 2 * N, columns, (void *)(uintptr_t)block, 2 * N, pivots, NULL),
        .info = (void *)(uintptr_t)(other + info)};
    return order;
}

static tb_order keep(uint64_t address, uint64_t notes)
{
    return (tb_order){.kind = TB_ORDER_FIND_COPY,
                      .address = address,
                      .bytes = BLOCK_BYTES,
                      .copy = {.key = 1, .notes = notes, .notes_bytes = ROW}};
}

static void check_order(const char *what, tb_order (*make)(int64_t), int64_t argument, bool is_taken)
{
    raw_client client;
    uint64_t bytes;
    raw_come(&client);
    if (raw_ask(&client, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = BLOCK_BYTES}, &block) != TB_OK ||
        raw_ask(&client, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = BLOCK_BYTES}, &other) != TB_OK)
        abort();
    const tb_order order = make(argument);
    raw_send(&client, &order);
    const bool goes_on = raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK;
    raw_leave(&client);
    CHECK(goes_on == is_taken && client.ending == (is_taken ? TB_CLIENT_LEFT : TB_CLIENT_REFUSED),
          "%s, %d further, is %s", what, (int)argument, goes_on ? "taken" : "refused");
}

static tb_order load_from(int64_t more)
{
    return copy(TB_HOST_TO_DEVICE, block, (uint64_t)(RAW_SLOTS_BYTES - BLOCK_BYTES + more), BLOCK_BYTES);
}

static tb_order load_to(int64_t more)
{
    return copy(TB_HOST_TO_DEVICE, block + (uint64_t)more, 0, BLOCK_BYTES);
}

static tb_order store_from(int64_t more)
{
    return copy(TB_DEVICE_TO_HOST, 0, block + (uint64_t)more, BLOCK_BYTES);
}

static tb_order store_to(int64_t more)
{
    return copy(TB_DEVICE_TO_HOST, (uint64_t)(RAW_SLOTS_BYTES - BLOCK_BYTES + more), block, BLOCK_BYTES);
}

static tb_order larger(int64_t more)
{
    return copy(TB_HOST_TO_DEVICE, block, 0, (size_t)(BLOCK_BYTES + more));
}

static tb_order rows(int64_t more)
{
    return copy_rows((size_t)(ROW + more));
}

static tb_order image_above(int64_t more)
{
    return expand_image(more, TB_LOWER);
}

static tb_order image_below(int64_t more)
{
    return expand_image(-(N + 2) * more, TB_UPPER);
}

static tb_order columns(int64_t more)
{
    return multiply((int)more);
}

static tb_order pivots_of_panel(int64_t more)
{
    return eliminate(more, false);
}

static tb_order pivots_of_exchange(int64_t more)
{
    return eliminate(more, true);
}

static tb_order panel_columns(int64_t more)
{
    return panel(N / 2 + more, 256);
}

static tb_order panel_info(int64_t more)
{
    return panel(1, BLOCK_BYTES + (uint64_t)(more - 1) * sizeof(int64_t));
}

static tb_order find_at(int64_t more)
{
    return keep(block + (uint64_t)more, 0);
}

static tb_order notes_at(int64_t more)
{
    return keep(block, (uint64_t)(RAW_SLOTS_BYTES - ROW + more));
}

/* ---- Launches after others --------------------------------------------------------------------------------- */

/* Twice as many numbers as a matrix has, in each block. */
enum { NUMBERS = N * N, WIDE_BYTES = 2 * BLOCK_BYTES };

typedef struct launches {
    uint64_t a, other_a, b, c;
} launches;

static uint64_t numbers(raw_client *client, double each)
{
    uint64_t address;
    double *slot = (double *)(void *)client->berth.slots;
    if (raw_ask(client, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = WIDE_BYTES}, &address) != TB_OK)
        abort();
    for (int i = 0; i < 2 * NUMBERS; i++)
        slot[i] = each;
    const tb_order load = copy(TB_HOST_TO_DEVICE, address, 0, WIDE_BYTES);
    raw_send(client, &load);
    raw_finish(client);
    return address;
}

/* Whether each number of C is that. */
static bool is_product(raw_client *client, const launches *own, double each)
{
    const double *slot = (const double *)(const void *)client->berth.slots;
    const tb_order store = copy(TB_DEVICE_TO_HOST, 0, own->c, BLOCK_BYTES);
    raw_send(client, &store);
    raw_finish(client);
    for (int i = 0; i < NUMBERS; i++)
        if (slot[i] != each)
            return false;
    return true;
}

typedef enum change {
    NO_CHANGE,
    OTHER_A,
    WIDER_A,
    TURNED_A,
    SHORTER_K,
    FEWER_ROWS,
    OTHER_WORKSPACE,
    OTHER_ROW,
    CHANGES
} change;

static tb_order launch(const launches *own, change change)
{
    tb_order order = order_of(TB_COMMAND_LAUNCH);
    tb_launch *launch = tb_begin_launch(
        &order.command, tb_find_kernel(change == OTHER_ROW ? "dgemm_mma_32x32" : "dgemm_naive"));
    void *const a = (void *)(uintptr_t)(change == OTHER_A ? own->other_a : own->a);
    launch->same_a = true;
    launch->product = tb_gemm(TB_DGEMM, change == TURNED_A, false, change == FEWER_ROWS ? N / 2 : N, N,
                              change == SHORTER_K ? N / 2 : N, 1, a, change == WIDER_A ? N + 1 : N,
                              (void *)(uintptr_t)own->b, N, 0, (void *)(uintptr_t)own->c, N);
    launch->workspace = (void *)(uintptr_t)(change == OTHER_WORKSPACE ? own->other_a : own->b);
    return order;
}

/* Whatever the client says: A is another one than in the launch before, or nothing was made of it for this launch. The simulated device
 * ends the process that launches it as the same. */
static void check_launches(void)
{
    for (change change = NO_CHANGE; change < CHANGES; change++) {
        raw_client client;
        raw_come(&client);
        const launches own = {numbers(&client, 1), numbers(&client, 2), numbers(&client, 1),
                              numbers(&client, -1)};
        const tb_order before = launch(&own, NO_CHANGE), now = launch(&own, change);
        raw_send(&client, &before);
        raw_send(&client, &now);
        const double each = change == OTHER_A ? 2 * N : change == SHORTER_K ? N / 2 : N;
        CHECK(is_product(&client, &own, each) && !raw_is_over(&client), "launch %d computes something else",
              (int)change);
        raw_leave(&client);
    }
}

/* A launch whose workspace lies so far from the beginning of a block that is so much too large. */
static bool is_taken(int64_t offset, int64_t more)
{
    raw_client client;
    uint64_t memory, unused;
    raw_come(&client);
    const launches own = {numbers(&client, 1), numbers(&client, 2), numbers(&client, 1),
                          numbers(&client, -1)};
    tb_order order = launch(&own, NO_CHANGE);
    tb_launch *launch = &order.command.launch;
    const tb_kernel *kernel = tb_find_kernel("dgemm_crt_sm90");
    const tb_schedule schedule = tb_make_schedule(kernel, &launch->product, tb_target_of(raw_facts.chips));
    CHECK(schedule.workspace > 0, "%s needs no workspace", kernel->name);
    if (raw_take(&client, (uint64_t)((int64_t)schedule.workspace + more), &memory) != TB_OK)
        abort();
    launch->row = tb_row_of(kernel);
    launch->workspace = (void *)(uintptr_t)(memory + (uint64_t)offset);
    raw_send(&client, &order);
    const bool goes_on = raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &unused) == TB_OK;
    raw_leave(&client);
    return goes_on;
}

static void check_workspaces(void)
{
    enum { ALIGNMENT = 256 };
    CHECK(is_taken(0, 0) && is_taken(ALIGNMENT, ALIGNMENT), "a workspace is refused");
    CHECK(!is_taken(0, -1) && !is_taken(ALIGNMENT, ALIGNMENT - 1), "a workspace that is too small is taken");
    CHECK(!is_taken(ALIGNMENT / 2, ALIGNMENT), "a workspace that begins anywhere is taken");
}

int main(void)
{
    static const struct {
        const char *what;
        tb_order (*make)(int64_t);
    } orders[] = {{"a copy from slots", load_from},
                  {"a copy to the device", load_to},
                  {"a copy from the device", store_from},
                  {"a copy to slots", store_to},
                  {"a larger copy", larger},
                  {"rows", rows},
                  {"a number whose image lies before", image_above},
                  {"a number whose image lies behind", image_below},
                  {"columns", columns},
                  {"pivots of a panel", pivots_of_panel},
                  {"pivots of an exchange", pivots_of_exchange},
                  {"columns of a panel", panel_columns},
                  {"info of a panel", panel_info},
                  {"a copy that is looked for", find_at},
                  {"notes", notes_at}};
    if (!raw_open(1 << 26))
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int more = 0; more < 2; more++)
            check_order(orders[i].what, orders[i].make, more, more == 0);
    check_launches();
    check_workspaces();
    return check_result();
}
