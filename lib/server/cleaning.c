#include "lib/server/cleaning.h"

#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <stdlib.h>
#include <time.h>

/* What comes from the host; the rest is copied from that, twice as much each time. */
#define ZERO_BYTES ((uint64_t)64 << 10)
static const char zeros[ZERO_BYTES];

/* Where there are no means for it, some may be given back in between. */
enum { ATTEMPTS = 100 };
#define ATTEMPT_NANOSECONDS 10000000

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
    if (status == TB_OK || status == TB_DEVICE_LOST)
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

static void *clean_all(void *unused)
{
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

uint64_t tb_bytes_being_cleaned(int device)
{
    return atomic_load(&cleaned[device]);
}

bool tb_wait_for_cleaning(int device)
{
    bool waited = false;
    for (uint32_t seen; seen = atomic_load(&changes), atomic_load(&blocks[device]) > 0; waited = true)
        tb_wait_while(&changes, seen, 1);
    return waited;
}
