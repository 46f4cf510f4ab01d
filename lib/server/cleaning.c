#include "lib/server/cleaning.h"

#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What comes from the host; the rest is copied from that, twice as much each time. */
#define ZERO_BYTES ((uint64_t)64 << 10)
static const char zeros[ZERO_BYTES];

/* Where there are no means for it, some may be given back in between. */
enum { ATTEMPTS = 100 };
#define ATTEMPT_NANOSECONDS 10000000

/* What is kept: of a device's memory a share, so many blocks, and each for so long. */
enum { KEPT_SHARE = 16, KEPT_MOST = 64 };
#define KEPT_SECONDS 10.0

typedef struct kept_block {
    int device;
    void *memory; /* NULL: there is none */
    uint64_t bytes;
    double since;
} kept_block;

typedef struct dirty {
    struct dirty *next;
    int device;
    char *memory;
    uint64_t bytes;
} dirty;

static tb_lock lock;
static dirty *first;
static bool is_at_work;                               /* a thread is */
static _Atomic(uint64_t) cleaned[TB_DEVICES_MAXIMUM]; /* bytes that are to be cleaned, and blocks */
static _Atomic(uint32_t) blocks[TB_DEVICES_MAXIMUM];
static _Atomic(uint32_t) changes;
static kept_block kept[KEPT_MOST];
static uint64_t kept_bytes[TB_DEVICES_MAXIMUM];

/* ---- What is kept ----------------------------------------------------------------------------------------- */

static uint64_t most_kept(int device)
{
    size_t free_bytes, total_bytes = 0;
    return tb_device_at(device)->memory(device, &free_bytes, &total_bytes) == TB_OK ? total_bytes / KEPT_SHARE
                                                                                    : 0;
}

static bool keep(const dirty *clean)
{
    const uint64_t most = most_kept(clean->device);
    kept_block *place = NULL;
    tb_take_lock(&lock);
    for (int i = 0; i < KEPT_MOST && !place; i++)
        if (!kept[i].memory)
            place = &kept[i];
    const bool has_room = place && kept_bytes[clean->device] + clean->bytes <= most;
    if (has_room) {
        *place = (kept_block){clean->device, clean->memory, clean->bytes, tb_seconds()};
        kept_bytes[clean->device] += clean->bytes;
    }
    tb_free_lock(&lock);
    return has_room;
}

typedef bool is_wanted(const kept_block *block, int device, uint64_t bytes);

static bool is_of_size(const kept_block *block, int device, uint64_t bytes)
{
    return block->device == device && block->bytes == bytes;
}

static bool is_of_device(const kept_block *block, int device, uint64_t bytes)
{
    (void)bytes;
    return block->device == device;
}

static bool is_old(const kept_block *block, int device, uint64_t bytes)
{
    (void)device, (void)bytes;
    return tb_seconds() - block->since > KEPT_SECONDS;
}

static bool take_kept(is_wanted *is, int device, uint64_t bytes, kept_block *taken)
{
    bool any = false;
    tb_take_lock(&lock);
    for (int i = 0; i < KEPT_MOST && !any; i++)
        if (kept[i].memory && is(&kept[i], device, bytes)) {
            *taken = kept[i];
            kept[i].memory = NULL;
            kept_bytes[taken->device] -= taken->bytes;
            any = true;
        }
    tb_free_lock(&lock);
    return any;
}

static bool release_kept(is_wanted *is, int device)
{
    kept_block block;
    bool any = false;
    for (; take_kept(is, device, 1, &block); any = true)
        tb_release(block.device, block.memory);
    return any;
}

void tb_give_back_kept(void)
{
    (void)release_kept(is_old, 0);
}

bool tb_give_back_all_kept(int device)
{
    return release_kept(is_of_device, device);
}

tb_status tb_take_clean(int device, uint64_t bytes, void **memory)
{
    for (;;) {
        kept_block block;
        if (take_kept(is_of_size, device, bytes, &block)) {
            *memory = block.memory;
            return TB_OK;
        }
        const tb_status status = tb_allocate(device, (size_t)bytes, memory);
        if (status != TB_OUT_OF_MEMORY || (!tb_give_back_all_kept(device) && !tb_wait_for_cleaning(device)))
            return status;
    }
}

/* ---- What is zeroed --------------------------------------------------------------------------------------- */

static tb_status zero_in(tb_stream *stream, const dirty *dirty)
{
    uint64_t done = dirty->bytes < ZERO_BYTES ? dirty->bytes : ZERO_BYTES;
    const tb_copy start = tb_copy_of_bytes(TB_HOST_TO_DEVICE, dirty->memory, zeros, done);
    TB_TRY(tb_issue_copy(stream, &start));
    for (uint64_t more; done < dirty->bytes; done += more) {
        more = dirty->bytes - done < done ? dirty->bytes - done : done;
        const tb_copy next = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, dirty->memory + done, dirty->memory, more);
        TB_TRY(tb_enqueue_copy(stream, &next));
    }
    return TB_OK;
}

static tb_status zero(const dirty *dirty)
{
    tb_stream *stream;
    TB_TRY(tb_create_stream(dirty->device, &stream));
    tb_status status = zero_in(stream, dirty);
    const tb_status finished = tb_synchronize(stream);
    tb_destroy_stream(stream);
    return status != TB_OK ? status : finished;
}

/* Memory that cannot be zeroed is nobody's any more, unless the device is lost, with all that it held. */
static void clean(const dirty *dirty)
{
    tb_status status = zero(dirty);
    for (int i = 0; i < ATTEMPTS && status != TB_OK && status != TB_DEVICE_LOST; i++) {
        nanosleep(&(struct timespec){.tv_nsec = ATTEMPT_NANOSECONDS}, NULL);
        status = zero(dirty);
    }
    if ((status == TB_OK && !keep(dirty)) || status == TB_DEVICE_LOST)
        tb_release(dirty->device, dirty->memory);
    atomic_fetch_sub(&cleaned[dirty->device], dirty->bytes);
    atomic_fetch_sub(&blocks[dirty->device], 1);
    atomic_fetch_add(&changes, 1);
    tb_wake_all(&changes);
}

static dirty *take_first(void)
{
    tb_take_lock(&lock);
    dirty *taken = first;
    if (taken)
        first = taken->next;
    else
        is_at_work = false;
    tb_free_lock(&lock);
    return taken;
}

/* Not where the session has to be that has started it. */
static void leave_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(getpid(), sizeof cores, &cores) == 0)
        (void)!sched_setaffinity(0, sizeof cores, &cores);
}

static void *clean_all(void *unused)
{
    leave_cores();
    for (dirty *dirty; (dirty = take_first());) {
        clean(dirty);
        free(dirty);
    }
    return unused;
}

static void queue(dirty *given)
{
    tb_take_lock(&lock);
    given->next = first;
    first = given;
    const bool starts = !is_at_work;
    is_at_work = true;
    tb_free_lock(&lock);
    if (starts && !tb_start_thread(clean_all, NULL))
        clean_all(NULL);
}

void tb_clean_and_release(int device, void *memory, uint64_t bytes)
{
    const dirty given = {.device = device, .memory = memory, .bytes = bytes};
    dirty *queued = malloc(sizeof *queued);
    atomic_fetch_add(&cleaned[device], bytes);
    atomic_fetch_add(&blocks[device], 1);
    if (!queued) {
        clean(&given);
        return;
    }
    *queued = given;
    queue(queued);
}

uint64_t tb_bytes_to_take(int device)
{
    tb_take_lock(&lock);
    const uint64_t bytes = kept_bytes[device];
    tb_free_lock(&lock);
    return bytes + atomic_load(&cleaned[device]);
}

bool tb_wait_for_cleaning(int device)
{
    bool waited = false;
    for (uint32_t seen; seen = atomic_load(&changes), atomic_load(&blocks[device]) > 0; waited = true)
        tb_wait_while(&changes, seen, 1);
    return waited;
}
