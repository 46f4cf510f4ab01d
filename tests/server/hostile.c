/* Orders that a client may not give, at random: a session in this process, whose device is the simulated one, which ends the process
 * at the first thing that a real device would answer with a fault. Bytes of sound orders are changed, numbers made large, the ring's
 * counts are nonsense. What is refused ends the session, and nothing is held after it.
 */
#include "kernels/panels/launch_panel.h"
#include "lib/server/cleaning.h"
#include "lib/server/kept_copies.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

enum { ROUNDS = 400, ORDERS = 8, N = 24, BLOCK_BYTES = 1 << 14, BLOCKS = 4, NOTES_BYTES = 256 };

typedef struct client {
    raw_client raw;
    uint64_t blocks[BLOCKS];
} client;

static void come(client *client)
{
    raw_come(&client->raw);
    for (int i = 0; i < BLOCKS; i++)
        CHECK(raw_ask(&client->raw, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = BLOCK_BYTES},
                      &client->blocks[i]) == TB_OK,
              "a sound question is not answered");
}

/* ---- Orders ------------------------------------------------------------------------------------------------ */

static void *at(const client *client, int block)
{
    return (void *)(uintptr_t)client->blocks[block];
}

static tb_matrix matrix_at(const client *client, int block)
{
    return (tb_matrix){.data = at(client, block), .rows = N, .columns = N, .ld = N, .element = TB_FP64};
}

static tb_copy draw_copy(const client *client, check_random *random)
{
    const size_t bytes = N * sizeof(double);
    tb_copy copy = {.direction = (tb_direction)check_between(random, 0, 2),
                    .target = at(client, 0),
                    .target_pitch = bytes,
                    .source = at(client, 1),
                    .source_pitch = bytes,
                    .row_bytes = bytes,
                    .rows = N};
    if (copy.direction == TB_HOST_TO_DEVICE)
        copy.source = (const void *)(uintptr_t)64;
    else if (copy.direction == TB_DEVICE_TO_HOST)
        copy.target = (void *)(uintptr_t)64;
    return copy;
}

/* Of a rectangle of a matrix of any structure, which may read what lies beside the rectangle, and beside the matrix. */
static tb_expansion draw_expansion(const client *client, check_random *random)
{
    tb_operand whole = {.matrix = matrix_at(client, 0),
                        .structure = (tb_structure)check_between(random, TB_GENERAL, TB_TRIANGULAR),
                        .stored = (tb_triangle)check_between(random, TB_LOWER, TB_UPPER)};
    const int64_t row = check_between(random, 0, N - 1), column = check_between(random, 0, N - 1),
                  rows = check_between(random, 1, N - row), columns = check_between(random, 1, N - column);
    tb_expansion expansion = {.source = tb_operand_part(&whole, row, column, rows, columns),
                              .target = matrix_at(client, 1),
                              .factor = {1, 0}};
    if (check_between(random, 0, 7) == 0)
        expansion.source.diagonal += check_between(random, -200, 200);
    expansion.target.rows = rows;
    expansion.target.columns = columns;
    return expansion;
}

/* By any row of the catalog: many do not take it. */
static void draw_launch(const client *client, check_random *random, tb_command *command)
{
    tb_launch *launch =
        tb_begin_launch(command, &tb_catalog[check_between(random, 0, (int64_t)tb_catalog_size - 1)]);
    const tb_element element = tb_catalog[launch->row].element;
    const tb_routine routine = tb_gemm_routine(element);
    launch->product =
        tb_gemm(routine, check_between(random, 0, 1), check_between(random, 0, 1), N, N, N, 1, at(client, 0),
                N, at(client, 1), N, (double)check_between(random, 0, 1), at(client, 2), N);
    launch->workspace = at(client, 3);
    memset(&launch->schedule, (int)check_between(random, 0, 255), sizeof launch->schedule);
}

/* By pivots that are anything. */
static tb_panel draw_panel(const client *client, check_random *random)
{
    const tb_pivots pivots = {.data = at(client, 2), .bits = 32};
    tb_factor qr = tb_geqrf(TB_DGEQRF, N, check_between(random, 1, N), at(client, 0), N, at(client, 2), NULL);
    qr.reflectors.t = at(client, (int)check_between(random, 0, 3));
    qr.reflectors.v = at(client, (int)check_between(random, 0, 3));
    qr.reflectors.ld_of_t = qr.reflectors.ld_of_v = check_between(random, 1, 2 * N);
    if (check_between(random, 0, 2) == 0)
        return (tb_panel){.block = qr, .info = at(client, 3), .workspace = at(client, 1)};
    return (tb_panel){.block = check_between(random, 0, 1)
                                   ? tb_potrf(TB_DPOTRF, TB_LOWER, N, at(client, 0), N, NULL)
                                   : tb_getrf(TB_DGETRF, check_between(random, 1, 2 * N), N, at(client, 0),
                                              2 * N, pivots, NULL),
                      .info = at(client, 3),
                      .workspace = at(client, 1)};
}

static tb_row_exchange draw_exchange(const client *client, check_random *random)
{
    const int64_t first = check_between(random, 0, N);
    return (tb_row_exchange){.matrix = matrix_at(client, 0),
                             .first = first,
                             .count = check_between(random, 0, N - first),
                             .pivots = {.data = at(client, (int)check_between(random, 0, 3)), .bits = 32},
                             .backwards = check_between(random, 0, 1)};
}

static tb_order draw_command(const client *client, check_random *random)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    tb_command *command = &order.command;
    command->kind = (tb_command_kind)check_between(random, TB_COMMAND_COPY, TB_COMMAND_EXCHANGE);
    switch (command->kind) {
    case TB_COMMAND_COPY:
        command->copy = draw_copy(client, random);
        break;
    case TB_COMMAND_COPY_MASKED:
        command->masked = (tb_masked_copy){.source = matrix_at(client, 0),
                                           .target = matrix_at(client, 1),
                                           .mask = (tb_triangle)check_between(random, TB_LOWER, TB_UPPER),
                                           .diagonal = check_between(random, -N, N)};
        break;
    case TB_COMMAND_EXPAND:
        command->expansion = draw_expansion(client, random);
        break;
    case TB_COMMAND_FOLD:
        command->folding = (tb_folding){.sums = matrix_at(client, 0),
                                        .c = {.matrix = matrix_at(client, 1)},
                                        .beta = {1, 0},
                                        .mask = TB_LOWER};
        break;
    case TB_COMMAND_LAUNCH:
        draw_launch(client, random, command);
        break;
    case TB_COMMAND_PANEL:
        command->panel = draw_panel(client, random);
        break;
    case TB_COMMAND_EXCHANGE:
        command->exchange = draw_exchange(client, random);
        break;
    }
    return order;
}

static tb_order draw_order(const client *client, check_random *random)
{
    tb_order order = draw_command(client, random);
    if (check_between(random, 0, 3) > 0)
        return order;
    order.kind = (uint32_t)check_between(random, TB_ORDER_COMMAND, TB_ORDER_FIND_COPY + 1);
    if (order.kind >= TB_ORDER_TELL_KEY)
        order.copy =
            (tb_wire_copy){.key = (uint64_t)check_between(random, 1, 3),
                           .notes = (uint64_t)check_between(random, 0, RAW_SLOTS_BYTES - NOTES_BYTES),
                           .notes_bytes = NOTES_BYTES};
    order.event = (uint32_t)check_between(random, 0, 3);
    order.number = 1;
    order.bytes = BLOCK_BYTES;
    order.address = client->blocks[check_between(random, 0, BLOCKS - 1)];
    return order;
}

/* Numbers that are at the edge of something. */
static uint64_t draw_number(check_random *random)
{
    static const uint64_t numbers[] = {
        0,         1,          N - 1,     N + 1,      BLOCK_BYTES,       BLOCK_BYTES + 1,  RAW_SLOTS_BYTES,
        INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_C(1) << 40, UINT64_C(1) << 63};
    return CHECK_PICK(random, numbers);
}

static void spoil(tb_order *order, check_random *random)
{
    const bool in_command = order->kind == TB_ORDER_COMMAND && check_between(random, 0, 7) > 0;
    const size_t first = in_command ? offsetof(tb_order, command) : 0,
                 bytes = in_command ? sizeof order->command : sizeof *order;
    const size_t place = first + (size_t)check_between(random, 0, (int64_t)(bytes / 4) - 2) * 4;
    const uint64_t number = draw_number(random);
    const size_t width = (size_t)1 << check_between(random, 0, 3);
    memcpy((char *)order + place, &number, width);
}

static void behave_badly(client *client, check_random *random)
{
    for (int i = 0; i < ORDERS && !raw_is_over(&client->raw); i++) {
        tb_order order = draw_order(client, random);
        if (check_between(random, 0, 1))
            spoil(&order, random);
        raw_send(&client->raw, &order);
    }
    if (check_between(random, 0, 9) == 0) {
        atomic_store(&client->raw.berth.wire->tail, (uint32_t)draw_number(random));
        tb_wire_wake(&client->raw.berth.wire->tail);
    }
}

int main(void)
{
    check_random random = {check_seed()};
    if (!raw_open(1 << 20))
        return EXIT_FAILURE;
    long refused = 0, kept = 0;
    for (int round = 0; round < ROUNDS; round++) {
        client client;
        come(&client);
        behave_badly(&client, &random);
        raw_leave(&client.raw);
        refused += client.raw.ending == TB_CLIENT_REFUSED;
        CHECK(client.raw.ending != TB_DEVICES_FAILED, "round %d: the device has failed", round);
        kept += tb_kept_copies_bytes(0) > 0;
        if (round % 2)
            tb_drop_copies(0);
        tb_wait_for_cleaning(0);
        tb_give_back_all_kept(0);
        const sim_usage usage = sim_get_usage();
        /* What copies have, and a stream and an event of theirs, are the server's. */
        CHECK(usage.device_bytes == tb_kept_copies_bytes(0) && usage.pinned_blocks == 0 &&
                  usage.streams <= 1 && usage.events <= 1,
              "round %d: %ld blocks, %ld pinned ones, %ld streams and %ld events stay", round,
              usage.device_blocks, usage.pinned_blocks, usage.streams, usage.events);
    }
    tb_drop_copies(0);
    CHECK(kept > ROUNDS / 20 && sim_get_usage().device_blocks == 0,
          "copies were kept in %ld rounds, and %ld blocks stay", kept, sim_get_usage().device_blocks);
    CHECK(refused > ROUNDS / 10 && refused < ROUNDS, "%ld of %d clients were refused", refused, ROUNDS);
    return check_result();
}
