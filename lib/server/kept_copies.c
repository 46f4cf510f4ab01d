#include "lib/server/kept_copies.h"

#include "lib/server/cleaning.h"

#include "lib/device/platform.h"
#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/user/options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* So many copies; the other keys are those that clients have told of. */
enum { COPIES_MOST = 64, TOLD_MOST = TB_WIRE_KEYS - COPIES_MOST };

/* Copies have an eighth of what clients may have of a device, and take no more than half of what is free there. */
enum { SHARE = 8, SHARE_OF_FREE = 2 };

typedef struct kept_copy {
    void *memory; /* NULL: there is none */
    uint64_t key, bytes;
    int device;
    bool is_there;  /* it has been made; until then only its maker touches it */
    bool was_found; /* it may be being read by what stands before the device's fence */
    double used;    /* when it was kept or found last */
    void *notes;
    uint64_t notes_bytes;
} kept_copy;

/* A stream in which nothing is done: it waits for all that has been ordered to read a copy, so that who waits for the stream knows that
 * nobody reads any more. */
typedef struct fence {
    tb_stream *stream;
    tb_event *read;
} fence;

static struct {
    tb_lock lock;
    kept_copy copies[COPIES_MOST];
    fence fences[TB_DEVICES_MAXIMUM];
} store;

/* Keys of copies by their places, and then those that were told last. */
static _Atomic(uint64_t) keys[TB_WIRE_KEYS];
static _Atomic(uint32_t) key_changes, told;

static _Atomic(uint64_t) kept_bytes[TB_DEVICES_MAXIMUM], found_bytes;

uint64_t tb_kept_copies_bytes(int device)
{
    return atomic_load(&kept_bytes[device]);
}

uint64_t tb_found_bytes(void)
{
    return atomic_load(&found_bytes);
}

void tb_begin_keeping_copies(tb_welcome *welcome)
{
    char *next = (char *)welcome->fingerprint_key;
    size_t left = sizeof welcome->fingerprint_key;
    while (left > 0) {
        const ssize_t drawn = getrandom(next, left, GRND_NONBLOCK);
        if (drawn <= 0)
            return;
        next += drawn;
        left -= (size_t)drawn;
    }
    welcome->keeps_copies = tb_option_value(TB_OPTION_OPERAND_CACHE) != 0;
}

/* ---- Keys ------------------------------------------------------------------------------------------------- */

static void set_key(size_t place, uint64_t key)
{
    atomic_store(&keys[place], key);
    atomic_fetch_add(&key_changes, 1);
}

void tb_tell_key(uint64_t key)
{
    for (int i = 0; i < TB_WIRE_KEYS; i++)
        if (atomic_load_explicit(&keys[i], memory_order_relaxed) == key)
            return;
    set_key(COPIES_MOST + atomic_fetch_add(&told, 1) % TOLD_MOST, key);
}

void tb_tell_client_keys(tb_wire *wire)
{
    const uint32_t changes = atomic_load(&key_changes);
    if (atomic_load_explicit(&wire->key_changes, memory_order_relaxed) == changes)
        return;
    for (int i = 0; i < TB_WIRE_KEYS; i++)
        atomic_store_explicit(&wire->keys[i], atomic_load_explicit(&keys[i], memory_order_relaxed),
                              memory_order_relaxed);
    atomic_store(&wire->key_changes, changes);
}

/* ---- Copies that go. All under the lock ------------------------------------------------------------------- */

static void forget(kept_copy *copy)
{
    set_key((size_t)(copy - store.copies), 0);
    atomic_fetch_sub(&kept_bytes[copy->device], copy->bytes);
    free(copy->notes);
    *copy = (kept_copy){0};
}

/* Nobody reads its memory any more, which is the caller's. */
static void *take_memory(kept_copy *copy)
{
    void *const memory = copy->memory;
    if (copy->was_found)
        (void)tb_synchronize(store.fences[copy->device].stream);
    forget(copy);
    return memory;
}

static void drop(kept_copy *copy)
{
    const int device = copy->device;
    const uint64_t bytes = copy->bytes;
    tb_clean_and_release(device, take_memory(copy), bytes);
}

/* The one that was used least recently; of any device where that is less than 0. NULL: there is none. */
static kept_copy *find_oldest(int device)
{
    kept_copy *oldest = NULL;
    for (int i = 0; i < COPIES_MOST; i++) {
        kept_copy *copy = &store.copies[i];
        if (copy->is_there && (device < 0 || copy->device == device) &&
            (!oldest || copy->used < oldest->used))
            oldest = copy;
    }
    return oldest;
}

static bool drop_oldest(int device)
{
    kept_copy *oldest = find_oldest(device);
    if (oldest)
        drop(oldest);
    return oldest != NULL;
}

void tb_drop_copies(double unused_seconds)
{
    tb_take_lock(&store.lock);
    const double now = tb_seconds();
    for (int i = 0; i < COPIES_MOST; i++)
        if (store.copies[i].is_there && now - store.copies[i].used >= unused_seconds)
            drop(&store.copies[i]);
    tb_free_lock(&store.lock);
}

/* ---- Memory for clients ----------------------------------------------------------------------------------- */

static bool is_too_much(int device, uint64_t bytes, const tb_claimed *claimed)
{
    return claimed->most > 0 && claimed->held + bytes + tb_kept_copies_bytes(device) > claimed->most;
}

/* False: there was none. */
static bool give_way(int device)
{
    tb_take_lock(&store.lock);
    const bool any = drop_oldest(device);
    tb_free_lock(&store.lock);
    return any;
}

tb_status tb_allocate_past_copies(int device, uint64_t bytes, const tb_claimed *claimed, void **memory)
{
    while (is_too_much(device, bytes, claimed) && give_way(device))
        ;
    tb_status status = tb_take_clean(device, bytes, memory);
    while (status == TB_OUT_OF_MEMORY && give_way(device))
        status = tb_take_clean(device, bytes, memory);
    return status;
}

/* ---- Keeping ---------------------------------------------------------------------------------------------- */

/* Under the lock; with a key of 0 a place that is free. NULL: there is none. */
static kept_copy *find_place(uint64_t key, int device)
{
    for (int i = 0; i < COPIES_MOST; i++) {
        kept_copy *copy = &store.copies[i];
        if (key == 0 ? !copy->memory : copy->memory && copy->key == key && copy->device == device)
            return copy;
    }
    return NULL;
}

/* Under the lock. Older copies go for it, as far as the share goes. One of the same size leaves its memory: to give that back and to
 * ask for as much would wait for the device. NULL: there is no memory for the copy. */
static void *take_room(const tb_copied_block *block, const tb_claimed *claimed)
{
    size_t free_bytes, total_bytes;
    void *memory;
    const int device = block->device;
    if (tb_device_at(device)->memory(device, &free_bytes, &total_bytes) != TB_OK)
        return NULL;
    const uint64_t most = claimed->most > 0 && claimed->most < total_bytes ? claimed->most : total_bytes;
    if (block->bytes > most / SHARE)
        return NULL;
    while (tb_kept_copies_bytes(device) + block->bytes > most / SHARE) {
        kept_copy *oldest = find_oldest(device);
        if (!oldest)
            return NULL;
        if (oldest->bytes == block->bytes)
            return take_memory(oldest);
        drop(oldest);
    }
    const bool fits = (find_place(0, 0) || drop_oldest(-1)) &&
                      tb_device_at(device)->memory(device, &free_bytes, &total_bytes) == TB_OK &&
                      block->bytes <= free_bytes / SHARE_OF_FREE &&
                      !is_too_much(device, block->bytes, claimed) &&
                      tb_take_clean(device, block->bytes, &memory) == TB_OK;
    return fits ? memory : NULL;
}

/* Whether the copy with that key stands as it is, or is being made by another client. */
static bool stands(kept_copy *copy, const tb_copied_block *block, const void *notes, uint64_t notes_bytes)
{
    copy->used = tb_seconds();
    return !copy->is_there || (copy->bytes == block->bytes && copy->notes_bytes == notes_bytes &&
                               memcmp(copy->notes, notes, notes_bytes) == 0);
}

/* Under the lock. A place with memory for the copy; NULL: there is none to be made. */
static kept_copy *begin_copy(const tb_copied_block *block, const tb_claimed *claimed, void *notes,
                             uint64_t notes_bytes)
{
    kept_copy *copy = find_place(block->key, block->device);
    if (copy && stands(copy, block, notes, notes_bytes))
        return NULL;
    if (copy)
        drop(copy);
    void *const memory = take_room(block, claimed);
    if (!memory)
        return NULL;
    copy = find_place(0, 0);
    *copy = (kept_copy){.memory = memory,
                        .key = block->key,
                        .bytes = block->bytes,
                        .device = block->device,
                        .used = tb_seconds(),
                        .notes = notes,
                        .notes_bytes = notes_bytes};
    atomic_fetch_add(&kept_bytes[block->device], block->bytes);
    return copy;
}

static tb_status make_copy(const kept_copy *copy, const tb_copied_block *block)
{
    const tb_copy on_device =
        tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, copy->memory, block->memory, (size_t)block->bytes);
    const tb_status status = tb_enqueue_copy(block->stream, &on_device), done = tb_synchronize(block->stream);
    return status == TB_OK ? done : status;
}

tb_status tb_keep_copy(const tb_copied_block *block, const tb_claimed *claimed, void *notes,
                       uint64_t notes_bytes)
{
    tb_take_lock(&store.lock);
    kept_copy *copy = begin_copy(block, claimed, notes, notes_bytes);
    tb_free_lock(&store.lock);
    if (!copy) {
        free(notes);
        return TB_OK;
    }
    const tb_status status = make_copy(copy, block);
    tb_take_lock(&store.lock);
    copy->is_there = status == TB_OK;
    if (copy->is_there)
        set_key((size_t)(copy - store.copies), copy->key);
    else
        drop(copy);
    tb_free_lock(&store.lock);
    return status == TB_DEVICE_LOST ? status : TB_OK;
}

/* ---- Finding ---------------------------------------------------------------------------------------------- */

static tb_status need_fence(int device)
{
    fence *fence = &store.fences[device];
    if (!fence->stream)
        TB_TRY(tb_create_stream(device, &fence->stream));
    return fence->read ? TB_OK : tb_create_event(device, &fence->read);
}

/* Under the lock. The copy is not given back before the fence has let the reading pass. */
static tb_status read_copy(kept_copy *copy, const tb_copied_block *block)
{
    const fence *fence = &store.fences[block->device];
    const tb_copy on_device =
        tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, block->memory, copy->memory, (size_t)block->bytes);
    TB_TRY(need_fence(block->device));
    copy->was_found = true;
    TB_TRY(tb_enqueue_copy(block->stream, &on_device));
    tb_status status = tb_record(fence->read, block->stream);
    if (status == TB_OK)
        status = tb_stream_wait(fence->stream, fence->read);
    return status == TB_OK ? TB_OK : tb_synchronize(block->stream);
}

/* Under the lock. */
static tb_status find_copy(const tb_copied_block *block, void *notes, uint64_t room, uint64_t *notes_bytes)
{
    kept_copy *copy = block->key != 0 ? find_place(block->key, block->device) : NULL;
    if (!copy || !copy->is_there || copy->bytes != block->bytes || copy->notes_bytes > room)
        return TB_OK;
    const tb_status status = read_copy(copy, block);
    if (status != TB_OK)
        return status == TB_DEVICE_LOST ? status : TB_OK;
    memcpy(notes, copy->notes, copy->notes_bytes);
    *notes_bytes = copy->notes_bytes;
    copy->used = tb_seconds();
    atomic_fetch_add(&found_bytes, copy->bytes);
    return TB_OK;
}

tb_status tb_find_copy(const tb_copied_block *block, void *notes, uint64_t room, uint64_t *notes_bytes)
{
    *notes_bytes = 0;
    tb_take_lock(&store.lock);
    const tb_status status = find_copy(block, notes, room, notes_bytes);
    tb_free_lock(&store.lock);
    return status;
}
