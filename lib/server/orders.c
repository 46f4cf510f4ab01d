#include "lib/server/orders.h"

#include "kernels/panels/launch_panel.h"
#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "lib/server/cleaning.h"
#include "lib/server/port.h"
#include "words/integers.h"

#include <stdlib.h>
#include <string.h>

static bool holds(const tb_holdings *holdings, int device, uint64_t address, uint64_t bytes)
{
    const tb_client *client = (const void *)holdings;
    return tb_client_holds(&client->memory, device, address, bytes);
}

void tb_begin_client(tb_client *client, tb_berth *berth, const tb_chip *chips, int chip_count)
{
    client->holdings = (tb_holdings){.slots = berth->slots, .extent = &berth->extent, .holds = holds};
    client->berth = berth;
    client->wire = berth->wire;
    client->events.wire = berth->wire;
    client->events.hears_devices = berth->hears_devices;
    client->chips = chips;
    client->chip_count = chip_count;
}

static const tb_chip *chip_of(const tb_client *client, uint32_t number)
{
    return number < (uint32_t)client->chip_count ? &client->chips[number] : NULL;
}

static void answer(tb_client *client, const tb_order *order, tb_status status, uint64_t first,
                   uint64_t second)
{
    tb_wire *wire = client->wire;
    wire->answer = (int32_t)status;
    wire->answers[0] = first;
    wire->answers[1] = second;
    atomic_store(&wire->answered, order->number);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->answered);
}

/* ---- Streams ---------------------------------------------------------------------------------------------- */

static tb_stream *stream_of(const tb_client *client, const tb_order *order)
{
    return order->stream < TB_WIRE_STREAMS ? client->streams[order->stream].stream : NULL;
}

/* Whether what the launch before has made of A serves again, where the client says so. */
static bool may_have_same_a(const tb_launch *last, const tb_launch *now)
{
    const tb_product *x = &last->product, *y = &now->product;
    return last->row == now->row && last->workspace == now->workspace && x->a.data == y->a.data &&
           x->a.ld == y->a.ld && x->m == y->m && x->k == y->k && x->a.transposed == y->a.transposed;
}

static void give_workspace(tb_client_stream *stream)
{
    if (stream->workspace)
        tb_clean_and_release(stream->chip->device, stream->workspace, stream->workspace_bytes);
    stream->workspace = NULL;
    stream->workspace_bytes = 0;
}

static tb_status take_workspace(tb_client_stream *stream, size_t bytes)
{
    static const char zeros[TB_PANEL_CLEARED_BYTES];
    TB_TRY(tb_synchronize(stream->stream));
    give_workspace(stream);
    TB_TRY(tb_take_clean(stream->chip->device, bytes, &stream->workspace));
    stream->workspace_bytes = bytes;
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, stream->workspace, zeros, sizeof zeros);
    return tb_issue_copy(stream->stream, &clear);
}

/* The server's own: a panel's blocks wait there for each other, and would do so for ever if a client wrote there. */
static tb_status set_workspace(tb_client_stream *stream, tb_panel *panel)
{
    const tb_factor *block = &panel->block;
    const size_t bytes =
        tb_panel_workspace(block->routine, tb_larger(block->m, block->n), tb_target_of(stream->chip));
    if (bytes > stream->workspace_bytes)
        TB_TRY(take_workspace(stream, bytes));
    panel->workspace = bytes > 0 ? stream->workspace : NULL;
    return TB_OK;
}

static tb_status command(tb_client *client, tb_order *order)
{
    tb_stream *stream = stream_of(client, order);
    if (!stream || !tb_check_command(&client->holdings, client->streams[order->stream].chip, &order->command))
        return TB_REFUSED;
    if (order->command.kind == TB_COMMAND_LAUNCH) {
        tb_launch *launch = &order->command.launch, *last = &client->streams[order->stream].last;
        launch->same_a = launch->same_a && may_have_same_a(last, launch);
        *last = *launch;
    }
    if (order->command.kind == TB_COMMAND_PANEL)
        TB_TRY(set_workspace(&client->streams[order->stream], &order->command.panel));
    return tb_enqueue(stream, &order->command);
}

static tb_status record(tb_client *client, const tb_order *order)
{
    tb_stream *stream = stream_of(client, order);
    return stream ? tb_record_client_event(&client->events, order,
                                           client->streams[order->stream].chip->device, stream)
                  : TB_REFUSED;
}

static tb_status wait(const tb_client *client, const tb_order *order)
{
    tb_stream *stream = stream_of(client, order);
    return stream ? tb_wait_client_event(&client->events, order->event, stream) : TB_REFUSED;
}

static tb_status create_stream(tb_client *client, const tb_order *order)
{
    const tb_chip *chip = chip_of(client, order->device);
    if (!chip || order->stream >= TB_WIRE_STREAMS || client->streams[order->stream].stream)
        return TB_REFUSED;
    client->streams[order->stream].chip = chip;
    memset(&client->streams[order->stream].last, 0, sizeof(tb_launch));
    return tb_create_stream(chip->device, &client->streams[order->stream].stream);
}

static tb_status destroy_stream(tb_client *client, uint32_t number)
{
    tb_stream *stream = client->streams[number].stream;
    if (!stream)
        return TB_OK;
    const tb_status status = tb_synchronize(stream);
    tb_destroy_stream(stream);
    give_workspace(&client->streams[number]);
    client->streams[number].stream = NULL;
    return status;
}

/* Nothing that the client has ordered uses memory that is given back. */
static tb_status finish_device(const tb_client *client, int device)
{
    for (int i = 0; i < TB_WIRE_STREAMS; i++)
        if (client->streams[i].stream && client->streams[i].chip->device == device)
            TB_TRY(tb_synchronize(client->streams[i].stream));
    return TB_OK;
}

/* ---- Memory ----------------------------------------------------------------------------------------------- */

static bool find_device(const tb_client *client, uint32_t number, tb_client_device *found)
{
    const tb_chip *chip = chip_of(client, number);
    if (chip)
        *found = (tb_client_device){chip->device, number};
    return chip;
}

static tb_status allocate(tb_client *client, const tb_order *order)
{
    tb_client_device on;
    void *block = NULL;
    if (!find_device(client, order->device, &on))
        return TB_REFUSED;
    const tb_status status = tb_take_client_block(&client->memory, on, order->bytes, &block);
    answer(client, order, status, (uintptr_t)block, 0);
    return status == TB_OUT_OF_MEMORY ? TB_OK : status;
}

static tb_status give_block(tb_client *client, const tb_client_block *block)
{
    TB_TRY(finish_device(client, block->on.device));
    tb_give_client_block(&client->memory, block);
    return TB_OK;
}

static tb_status release(tb_client *client, const tb_order *order)
{
    const tb_client_block *block = tb_find_client_block(&client->memory, order->address);
    return block ? give_block(client, block) : TB_REFUSED;
}

static tb_status tell_memory(tb_client *client, const tb_order *order)
{
    tb_client_device on;
    uint64_t share, total;
    if (!find_device(client, order->device, &on))
        return TB_REFUSED;
    const tb_status status = tb_find_client_share(&client->memory, on, &share, &total);
    answer(client, order, status, share, total);
    return status;
}

/* ---- Copies of operands ----------------------------------------------------------------------------------- */

static bool check_copied(tb_client *client, const tb_order *order, tb_copied_block *block, char **notes)
{
    block->stream = stream_of(client, order);
    if (!block->stream || order->copy.key == 0 || order->copy.notes_bytes > TB_NOTES_BYTES_MOST)
        return false;
    block->device = client->streams[order->stream].chip->device;
    block->key = order->copy.key;
    block->memory = (void *)(uintptr_t)order->address;
    block->bytes = order->bytes;
    *notes = tb_check_slot(&client->holdings, order->copy.notes, order->copy.notes_bytes);
    return *notes && order->bytes > 0 &&
           tb_client_holds(&client->memory, block->device, order->address, order->bytes);
}

static tb_status find_copy(tb_client *client, const tb_order *order)
{
    tb_copied_block block;
    uint64_t notes_bytes;
    char *notes;
    if (!check_copied(client, order, &block, &notes))
        return TB_REFUSED;
    TB_TRY(tb_find_copy(&block, notes, order->copy.notes_bytes, &notes_bytes));
    answer(client, order, TB_OK, notes_bytes, 0);
    return TB_OK;
}

/* The client goes on when its notes have been read. */
static tb_status keep_copy(tb_client *client, const tb_order *order)
{
    tb_copied_block block;
    char *notes;
    if (!check_copied(client, order, &block, &notes))
        return TB_REFUSED;
    const tb_claimed claimed = tb_claimed_of(&client->memory, block.device);
    void *own = malloc(order->copy.notes_bytes + 1);
    if (own)
        memcpy(own, notes, order->copy.notes_bytes);
    answer(client, order, TB_OK, 0, 0);
    return own ? tb_keep_copy(&block, &claimed, own, order->copy.notes_bytes) : TB_OK;
}

static tb_status tell_key(const tb_order *order)
{
    if (order->copy.key == 0)
        return TB_REFUSED;
    tb_tell_key(order->copy.key);
    return TB_OK;
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

static tb_status carry_out(tb_client *client, tb_order *order)
{
    switch (order->kind) {
    case TB_ORDER_COMMAND:
        return command(client, order);
    case TB_ORDER_RECORD:
        return record(client, order);
    case TB_ORDER_WAIT:
        return wait(client, order);
    case TB_ORDER_CREATE_STREAM:
        return create_stream(client, order);
    case TB_ORDER_DESTROY_STREAM:
        return order->stream < TB_WIRE_STREAMS ? destroy_stream(client, order->stream) : TB_REFUSED;
    case TB_ORDER_CREATE_EVENT: /* it is made when it is recorded, on the device where that is */
        return order->event < TB_WIRE_EVENTS ? TB_OK : TB_REFUSED;
    case TB_ORDER_DESTROY_EVENT:
        return tb_destroy_client_event(&client->events, order->event);
    case TB_ORDER_ALLOCATE:
        return allocate(client, order);
    case TB_ORDER_RELEASE:
        return release(client, order);
    case TB_ORDER_MEMORY:
        return tell_memory(client, order);
    case TB_ORDER_MORE_SLOTS:
        tb_want_slots(client->berth);
        return TB_OK;
    case TB_ORDER_TELL_KEY:
        return tell_key(order);
    case TB_ORDER_KEEP_COPY:
        return keep_copy(client, order);
    case TB_ORDER_FIND_COPY:
        return find_copy(client, order);
    }
    return TB_REFUSED;
}

/* Copied out before it is looked at. */
tb_status tb_do_next_order(tb_client *client, bool *any)
{
    tb_wire *wire = client->wire;
    tb_order order;
    const uint32_t waiting = atomic_load(&wire->tail) - client->head;
    *any = waiting > 0;
    if (waiting == 0)
        return TB_OK;
    if (waiting > TB_WIRE_ORDERS)
        return TB_REFUSED;
    memcpy(&order, &wire->orders[client->head % TB_WIRE_ORDERS], sizeof order);
    atomic_store(&wire->head, ++client->head);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->head);
    client->holdings.steps = atomic_load(&client->berth->steps);
    return carry_out(client, &order);
}

/* ---- The end ---------------------------------------------------------------------------------------------- */

tb_status tb_give_all_blocks(tb_client *client)
{
    const tb_client_block *block;
    while ((block = tb_any_client_block(&client->memory)))
        TB_TRY(give_block(client, block));
    return TB_OK;
}

void tb_free_client(tb_client *client)
{
    for (uint32_t stream = 0; stream < TB_WIRE_STREAMS; stream++)
        (void)destroy_stream(client, stream);
    tb_free_client_events(&client->events);
    (void)tb_give_all_blocks(client);
}
