#include "lib/serving/slots.h"

#include "lib/process/lock.h"
#include "lib/serving/connection.h"

#include <string.h>

/* They are given out in pieces, the first that are free. */
#define PIECE ((size_t)64 << 10)
enum { PIECES_MOST = 1 << 15 };
static uint8_t piece_taken[PIECES_MOST];
static uint32_t steps_asked; /* by which the slots are to have grown */
static tb_lock lock;

static size_t pieces_of(size_t bytes)
{
    return bytes == 0 ? 1 : (bytes + PIECE - 1) / PIECE;
}

static size_t all_pieces(void)
{
    const size_t all = (size_t)tb_slots_after(&tb_server_welcome()->slots, tb_server_slots_steps()) / PIECE;
    return all < PIECES_MOST ? all : PIECES_MOST;
}

/* What a device copies does not go beyond a step. */
static bool begins_step(size_t piece)
{
    const tb_slots_extent *slots = &tb_server_welcome()->slots;
    const uint64_t offset = (uint64_t)piece * PIECE;
    return offset >= slots->first && slots->step > 0 && (offset - slots->first) % slots->step < PIECE;
}

tb_status tb_take_slots(size_t bytes, void **memory)
{
    const size_t count = pieces_of(bytes), all = all_pieces();
    size_t first = 0, free = 0;
    tb_take_lock(&lock);
    for (size_t piece = 0; piece < all && free < count; piece++) {
        free = piece_taken[piece] ? 0 : begins_step(piece) ? 1 : free + 1;
        first = piece + 1 - free;
    }
    if (free == count)
        memset(piece_taken + first, 1, count);
    tb_free_lock(&lock);
    *memory = tb_server_slots() + first * PIECE;
    return free == count ? TB_OK : TB_OUT_OF_MEMORY;
}

void tb_give_slots(void *memory, size_t bytes)
{
    const size_t first = (size_t)((char *)memory - tb_server_slots()) / PIECE;
    tb_take_lock(&lock);
    memset(piece_taken + first, 0, pieces_of(bytes));
    tb_free_lock(&lock);
}

bool tb_are_slots(const void *address)
{
    const tb_slots_extent *slots = &tb_server_welcome()->slots;
    return (uintptr_t)address - (uintptr_t)tb_server_slots() < tb_slots_after(slots, slots->steps_most);
}

int tb_count_pipelines(void)
{
    return (int)tb_server_slots_steps() + 1;
}

/* One step after the other is asked for. */
bool tb_want_pipelines(int wanted)
{
    const uint32_t steps = tb_server_slots_steps();
    if (wanted <= (int)steps + 1 || steps == tb_server_welcome()->slots.steps_most)
        return false;
    tb_take_lock(&lock);
    const bool asks = steps_asked == steps;
    if (asks)
        steps_asked++;
    tb_free_lock(&lock);
    return asks;
}

void tb_forget_slots(void)
{
    memset(piece_taken, 0, sizeof piece_taken);
    steps_asked = 0;
    lock = (tb_lock){0};
}
