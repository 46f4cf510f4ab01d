/* Panels whose blocks wait for each other, as a device has them that runs no clusters, ordered by a client: their workspace is the
 * server's, whatever the client says of it, and set to 0, without which the simulated device ends the process. Factors are right, and
 * nothing of a workspace stays when the client has left.
 */
#include "kernels/panels/launch_panel.h"
#include "lib/server/cleaning.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

enum { ROWS = 300, COLUMNS = 4, BLOCK_BYTES = ROWS * COLUMNS * 2 * (int)sizeof(double) };

/* Of the client's. */
static uint64_t matrix, pivots, info, letters;

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Of zeros but for a row in which the first column's largest number is, at the end. */
static void write_matrix(raw_client *client)
{
    double *const slot = (double *)(void *)client->berth.slots;
    memset(slot, 0, BLOCK_BYTES);
    slot[ROWS - 1] = 4;
    slot[0] = 2;
    slot[2 * ROWS + 1] = 1;
    tb_order load = {.kind = TB_ORDER_COMMAND, .command = {.kind = TB_COMMAND_COPY}};
    load.command.copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, at(matrix), NULL, BLOCK_BYTES);
    raw_send(client, &load);
}

static void order_panel(raw_client *client, uint32_t stream, tb_routine routine, uint64_t workspace)
{
    tb_order order = {.kind = TB_ORDER_COMMAND, .stream = stream, .command = {.kind = TB_COMMAND_PANEL}};
    order.command.panel = (tb_panel){
        .block = tb_getrf(routine, ROWS, COLUMNS, at(matrix), ROWS, (tb_pivots){at(pivots), 32}, NULL),
        .info = at(info),
        .workspace = at(workspace)};
    raw_send(client, &order);
}

static int32_t first_pivot(raw_client *client)
{
    tb_order store = {.kind = TB_ORDER_COMMAND, .command = {.kind = TB_COMMAND_COPY}};
    store.command.copy = tb_copy_of_bytes(TB_DEVICE_TO_HOST, NULL, at(pivots), sizeof(int32_t));
    raw_send(client, &store);
    raw_finish(client);
    int32_t pivot;
    memcpy(&pivot, client->berth.slots, sizeof pivot);
    return pivot;
}

static void come(raw_client *client)
{
    uint64_t *const blocks[] = {&matrix, &pivots, &info, &letters};
    raw_come(client);
    for (int i = 0; i < 4; i++) {
        if (raw_take(client, BLOCK_BYTES, blocks[i]) != TB_OK)
            abort();
        raw_write(client, *blocks[i], BLOCK_BYTES, 0x11);
    }
}

int main(void)
{
    sim_set("ARCHITECTURE", "80");
    if (!raw_open(1 << 22))
        return EXIT_FAILURE;
    const tb_target target = tb_target_of(raw_facts.chips);
    CHECK(tb_panel_workspace(TB_SGETRF, ROWS, target) > 0 &&
              tb_panel_workspace(TB_ZGETRF, ROWS, target) > tb_panel_workspace(TB_SGETRF, ROWS, target),
          "panels of this device need no workspace");
    raw_client client;
    come(&client);
    const uint64_t said[] = {0, letters, 8, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        write_matrix(&client);
        order_panel(&client, 0, TB_DGETRF, said[i]);
        const int32_t pivot = first_pivot(&client);
        CHECK(pivot == ROWS, "with a workspace at %llx the first pivot is %d", (unsigned long long)said[i],
              (int)pivot);
    }
    order_panel(&client, 0, TB_ZGETRF, letters);
    order_panel(&client, 0, TB_SGETRF, letters);
    raw_send(&client, &(tb_order){.kind = TB_ORDER_CREATE_STREAM, .stream = 1});
    order_panel(&client, 1, TB_CGETRF, letters);
    raw_send(&client, &(tb_order){.kind = TB_ORDER_DESTROY_STREAM, .stream = 1});
    raw_finish(&client);
    CHECK(!raw_is_over(&client), "a panel was refused");
    raw_leave(&client);
    CHECK(client.ending == TB_CLIENT_LEFT, "the session has ended otherwise");
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    CHECK(sim_get_usage().device_blocks == 0, "%ld blocks stay", sim_get_usage().device_blocks);
    return check_result();
}
