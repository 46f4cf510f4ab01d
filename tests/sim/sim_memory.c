/* Memory of the simulated device: a table of all allocations, so that any address can be told apart.
 *
 * Device memory is one file mapped twice. The program's mapping has no permissions, so a host that reads or
 * writes a device pointer faults as it would on a real machine; the device works on the other.
 */
#include "tests/sim/sim.h"
#include "lib/device/platform.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A signalling NaN: memory that nobody has written shows in any result computed from it. */
#define POISON 0x7fa0dead

typedef struct block {
    char *start;  /* as the program knows it */
    char *inside; /* as the device reads and writes it */
    size_t bytes;
    tb_place place;
    bool owned;
    bool lent; /* it was there before, and stays */
} block;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static block *table;
static size_t table_length, table_room;
static size_t owned_bytes_most; /* of one device */
static atomic_bool handed_out;

static void take_table(sigset_t *before)
{
    sim_hold_signals(before);
    pthread_mutex_lock(&table_lock);
}

static void free_table(const sigset_t *before)
{
    pthread_mutex_unlock(&table_lock);
    sim_let_signals(before);
}

static void lock_table(void)
{
    pthread_mutex_lock(&table_lock);
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&table_lock);
}

/* A forked child may ask where its operands lie. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(lock_table, unlock_table, unlock_table);
}

static void *map_file(int file, size_t bytes, int protection)
{
    void *memory = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        sim_abort("cannot map %zu bytes", bytes);
    return memory;
}

/* What the device memory held that was given back last, as much as a block of a test's has. */
static uint32_t last_words[1 << 18];
static size_t last_count;

static void keep_words(const block *freed)
{
    if (!sim_get_settings()->stale || freed->place.memory != TB_MEMORY_DEVICE)
        return;
    last_count = freed->bytes / sizeof *last_words;
    if (last_count > sizeof last_words / sizeof *last_words)
        last_count = sizeof last_words / sizeof *last_words;
    memcpy(last_words, freed->inside, last_count * sizeof *last_words);
}

static void map_block(block *block)
{
    int file = memfd_create("simulated device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)block->bytes) != 0)
        sim_abort("the host has no memory for the device");
    bool hidden = block->place.memory == TB_MEMORY_DEVICE || block->place.write_combined;
    block->inside = map_file(file, block->bytes, PROT_READ | PROT_WRITE);
    block->start = hidden ? map_file(file, block->bytes, PROT_NONE) : block->inside;
    close(file);

    uint32_t *words = (uint32_t *)(void *)block->inside;
    const size_t stale = sim_get_settings()->stale ? last_count : 0;
    for (size_t i = 0; i < block->bytes / sizeof *words; i++)
        words[i] = i < stale ? last_words[i] : POISON;
}

static void unmap_block(const block *block)
{
    if (block->lent)
        return;
    keep_words(block);
    munmap(block->inside, block->bytes);
    if (block->start != block->inside)
        munmap(block->start, block->bytes);
}

static size_t used_bytes(int device, bool owned_alone)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table_length; i++)
        if (table[i].place.memory == TB_MEMORY_DEVICE && table[i].place.device == device &&
            (table[i].owned || !owned_alone))
            bytes += table[i].bytes;
    return bytes;
}

static block *find_block(const void *address)
{
    for (size_t i = 0; i < table_length; i++)
        if ((const char *)address >= table[i].start &&
            (const char *)address < table[i].start + table[i].bytes)
            return &table[i];
    return NULL;
}

static void add_block(const block *fresh)
{
    if (table_length == table_room) {
        table_room = 2 * table_room + 16;
        table = realloc(table, table_room * sizeof *table);
        if (table == NULL)
            sim_abort("the host is out of memory");
    }
    table[table_length++] = *fresh;
}

static void *map_place(const tb_place *place, size_t bytes, bool owned)
{
    block fresh = {.bytes = bytes == 0 ? 1 : bytes, .place = *place, .owned = owned};
    const tb_memory memory = place->memory;
    const int device = place->device;
    size_t room = sim_get_settings()->memory_bytes;

    sigset_t signals;
    take_table(&signals);
    if (memory != TB_MEMORY_DEVICE || used_bytes(device, false) + fresh.bytes <= room) {
        map_block(&fresh);
        add_block(&fresh);
        const size_t owned_bytes = used_bytes(device, true);
        owned_bytes_most = owned_bytes > owned_bytes_most ? owned_bytes : owned_bytes_most;
        atomic_store(&handed_out, true);
    }
    free_table(&signals);
    return fresh.start;
}

void *sim_map(tb_memory memory, int device, size_t bytes, bool owned)
{
    return map_place(&(tb_place){.memory = memory, .device = device}, bytes, owned);
}

void *sim_allocate_write_combined(size_t bytes)
{
    return map_place(&(tb_place){.memory = TB_MEMORY_PINNED, .write_combined = true}, bytes, false);
}

tb_status sim_pin(void *memory, size_t bytes)
{
    sigset_t signals;
    TB_TRY(sim_attempt(SIM_NO_DEVICE, SIM_PINNED, NULL));
    take_table(&signals);
    add_block(&(block){.start = memory,
                       .inside = memory,
                       .bytes = bytes,
                       .place = {.memory = TB_MEMORY_PINNED},
                       .owned = true,
                       .lent = true});
    free_table(&signals);
    return TB_OK;
}

void sim_unpin(void *memory)
{
    sim_unmap(memory);
}

void sim_unmap(void *memory)
{
    if (memory == NULL)
        return;
    sigset_t signals;
    take_table(&signals);
    block *found = find_block(memory);
    if (found == NULL || found->start != memory)
        sim_abort("release of %p, which is not allocated", memory);
    unmap_block(found);
    *found = table[--table_length];
    free_table(&signals);
}

void sim_locate(const void *address, tb_place *place, tb_span *span)
{
    sigset_t signals;
    take_table(&signals);
    const block *found = find_block(address);
    *place = found != NULL ? found->place : (tb_place){.memory = TB_MEMORY_HOST};
    if (span)
        *span = found != NULL ? (tb_span){(uintptr_t)found->start, found->bytes} : (tb_span){0, 0};
    free_table(&signals);
}

void *sim_reach(const void *address, size_t bytes, int device, const char *what)
{
    sigset_t signals;
    take_table(&signals);
    const block *found = find_block(address);
    if (found == NULL)
        sim_abort("%s at %p is not memory that a device can reach", what, address);
    if (device != SIM_NO_DEVICE && found->place.memory == TB_MEMORY_DEVICE && found->place.device != device)
        sim_abort("%s at %p belongs to device %d, not %d", what, address, found->place.device, device);
    size_t before = (size_t)((const char *)address - found->start);
    if (bytes > found->bytes - before)
        sim_abort("%s: %zu bytes at %p pass the end of an allocation of %zu", what, bytes, address,
                  found->bytes);
    char *inside = found->inside + before;
    free_table(&signals);
    return inside;
}

size_t sim_free_bytes(int device)
{
    sigset_t signals;
    take_table(&signals);
    size_t bytes = sim_get_settings()->memory_bytes - used_bytes(device, false);
    free_table(&signals);
    return bytes;
}

bool sim_handed_out(void)
{
    return atomic_load(&handed_out);
}

void sim_count_memory(sim_usage *usage)
{
    sigset_t signals;
    take_table(&signals);
    for (size_t i = 0; i < table_length; i++) {
        if (!table[i].owned)
            continue;
        bool pinned = table[i].place.memory == TB_MEMORY_PINNED;
        *(pinned ? &usage->pinned_blocks : &usage->device_blocks) += 1;
        *(pinned ? &usage->pinned_bytes : &usage->device_bytes) += table[i].bytes;
    }
    usage->device_bytes_most = owned_bytes_most;
    free_table(&signals);
}
