#include "lib/server/client_memory.h"

#include "lib/device/platform.h"
#include "lib/server/cleaning.h"

static _Atomic(uint64_t) held_bytes[TB_DEVICES_MAXIMUM];

uint64_t tb_held_bytes(int device)
{
    return atomic_load(&held_bytes[device]);
}

tb_claimed tb_claimed_of(const tb_client_memory *memory, int device)
{
    return (tb_claimed){.held = tb_held_bytes(device), .most = memory->most};
}

bool tb_client_holds(const tb_client_memory *memory, int device, uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < memory->block_count; i++) {
        const tb_client_block *block = &memory->blocks[i];
        if (block->on.device == device && address >= block->address &&
            address - block->address <= block->bytes && bytes <= block->bytes - (address - block->address))
            return true;
    }
    return false;
}

/* ---- Shares ----------------------------------------------------------------------------------------------- */

/* A device's memory as far as clients may have it: all of it, what no client holds, what is kept of that or still to be zeroed, and what those
 * hold who sleep. */
typedef struct room {
    uint64_t total, free, asleep;
} room;

static tb_status find_room(const tb_client_memory *memory, tb_client_device on, room *room)
{
    size_t free_bytes = 0, total_bytes = 0;
    TB_TRY(tb_device_at(on.device)->memory(on.device, &free_bytes, &total_bytes));
    free_bytes += tb_bytes_to_take(on.device); /* some may be counted twice */
    if (free_bytes > total_bytes)
        free_bytes = total_bytes;
    const uint64_t most = memory->most, held = tb_held_bytes(on.device);
    const uint64_t left = most == 0 ? UINT64_MAX : held < most ? most - held : 0;
    const uint64_t most_free = free_bytes + tb_kept_copies_bytes(on.device);
    *room = (struct room){.total = most > 0 && most < total_bytes ? most : total_bytes,
                          .free = left < most_free ? left : most_free,
                          .asleep = tb_bytes_asleep(memory->sleeper, on.number)};
    return TB_OK;
}

/* A client that asks for all leaves some to the others: it may hold half of what these leave it, or as much as it had if all clients
 * and one more held the same. So what it is told is free does not change with what it takes. So many bytes beside what it holds. */
static uint64_t share_of(const tb_client_memory *memory, tb_client_device on, const room *room)
{
    const uint64_t held = atomic_load(&memory->sleeper->held_bytes[on.number]),
                   left = room->free + room->asleep, half = (held + left) / 2,
                   same = room->total / ((uint64_t)tb_count_sessions() + 1),
                   share = half > same ? half : same, more = share > held ? share - held : 0;
    return more < left ? more : left;
}

tb_status tb_find_client_share(const tb_client_memory *memory, tb_client_device on, uint64_t *share,
                               uint64_t *total)
{
    room room = {0};
    const tb_status status = find_room(memory, on, &room);
    *share = share_of(memory, on, &room);
    *total = room.total;
    return status;
}

/* ---- Blocks ----------------------------------------------------------------------------------------------- */

/* What others hold who sleep is taken back where there is not enough without. */
static tb_status allocate_share(const tb_client_memory *memory, tb_client_device on, uint64_t bytes,
                                void **block)
{
    for (;;) {
        const tb_claimed claimed = tb_claimed_of(memory, on.device);
        room room;
        TB_TRY(find_room(memory, on, &room));
        tb_status status = TB_OUT_OF_MEMORY;
        if (bytes > share_of(memory, on, &room))
            return status;
        if (bytes <= room.free)
            status = tb_allocate_past_copies(on.device, bytes, &claimed, block);
        if (status != TB_OUT_OF_MEMORY || !tb_take_back_from_sleeper(memory->sleeper, on.number))
            return status;
    }
}

static void note_held(const tb_client_memory *memory, const tb_client_block *block, int64_t sign)
{
    atomic_fetch_add(&held_bytes[block->on.device], (uint64_t)sign * block->taken);
    atomic_fetch_add(&memory->sleeper->held_bytes[block->on.number], (uint64_t)sign * block->taken);
}

/* Blocks of few sizes: what one client has given back, cleaned, is of the size that the next one wants, and the driver, which takes a
 * quarter of a millisecond, need not be asked. Large ones are not rounded up. */
#define ROUNDED_MOST ((uint64_t)64 << 20)

static uint64_t round_block(uint64_t bytes)
{
    uint64_t step = 1;
    while (step <= bytes / 8)
        step *= 2;
    return bytes > ROUNDED_MOST ? bytes : (bytes + step - 1) / step * step;
}

tb_status tb_take_client_block(tb_client_memory *memory, tb_client_device on, uint64_t bytes, void **block)
{
    uint64_t taking = round_block(bytes);
    if (memory->block_count == TB_CLIENT_BLOCKS)
        return TB_OUT_OF_MEMORY;
    tb_status status = allocate_share(memory, on, taking, block);
    if (status == TB_OUT_OF_MEMORY && taking > bytes)
        status = allocate_share(memory, on, taking = bytes, block);
    TB_TRY(status);
    tb_client_block *taken = &memory->blocks[memory->block_count++];
    *taken = (tb_client_block){on, (uintptr_t)*block, bytes, taking};
    note_held(memory, taken, 1);
    return TB_OK;
}

const tb_client_block *tb_find_client_block(const tb_client_memory *memory, uint64_t address)
{
    for (int i = 0; i < memory->block_count; i++)
        if (memory->blocks[i].address == address)
            return &memory->blocks[i];
    return NULL;
}

/* The last, whose place none has to take when it is given back. */
const tb_client_block *tb_any_client_block(const tb_client_memory *memory)
{
    return memory->block_count > 0 ? &memory->blocks[memory->block_count - 1] : NULL;
}

void tb_give_client_block(tb_client_memory *memory, const tb_client_block *block)
{
    const tb_client_block freed = *block;
    memory->blocks[block - memory->blocks] = memory->blocks[--memory->block_count];
    tb_clean_and_release(freed.on.device, (void *)(uintptr_t)freed.address, freed.taken);
    note_held(memory, &freed, -1);
}
