#include "lib/device/memory.h"

#include "lib/process/clock.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"
#include "lib/process/lock.h"
#include "lib/user/options.h"
#include "lib/process/threads.h"

#include <stdatomic.h>

/* More buffers than this are not kept: slots and operands of eight devices, or of a few threads' calls. */
#define KEPT_MAXIMUM 128

/* Pinned memory that could not be had is not asked for again for so long: the attempt takes longer than the
 * host takes for most products, and fails for as long as the user's limit or the other processes on the host
 * stay what they are. */
#define REFUSED_SECONDS 10.0

/* The share of a device's memory that is for buffers with names. */
#define NAMED_SHARE 0.125

typedef struct kept_buffer {
    tb_buffer buffer;
    double since;  /* seconds */
    uint64_t name; /* 0: nobody wants its contents */
    tb_notes *notes;
    tb_drop_notes *drop;
} kept_buffer;

static kept_buffer kept[KEPT_MAXIMUM];
static size_t kept_count;
static uint64_t names_given;
static size_t refused_bytes;          /* of pinned memory, the least; 0: none were refused */
static double refused_until;          /* in seconds */
static _Atomic unsigned long changes; /* allocated or freed so often */
static bool janitor_at_work;
static _Atomic(uint32_t) exits; /* the janitor sleeps until it changes */
static tb_lock lock;

/* What was kept when somebody left in the middle is believed no more. */
static void take_lock(void)
{
    tb_take_lock(&lock);
    if (!tb_is_damaged(&lock))
        return;
    kept_count = 0;
    tb_mend_lock(&lock);
}

/* Callers may leave at any point (lib/process/leaving.h), and give then what their buffers hold: a buffer is
 * empty before its memory is anybody else's, and has memory when all else in it is right. */
static tb_buffer empty(tb_buffer *buffer)
{
    const tb_buffer contents = *buffer;
    *(void *volatile *)&buffer->memory = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    return contents;
}

static void fill(tb_buffer *buffer, const tb_buffer *contents)
{
    buffer->bytes = contents->bytes;
    buffer->device = contents->device;
    atomic_signal_fence(memory_order_seq_cst);
    *(void *volatile *)&buffer->memory = contents->memory;
}

int tb_pinned_for(int device)
{
    return device >= TB_SERVED_FIRST ? TB_PINNED_SERVED : TB_PINNED;
}

static void release(const tb_buffer *buffer)
{
    atomic_fetch_add(&changes, 1);
    if (buffer->device == TB_PINNED)
        tb_platform.release_pinned(buffer->memory, buffer->bytes);
    else if (buffer->device == TB_PINNED_SERVED)
        tb_served_devices->release_pinned(buffer->memory, buffer->bytes);
    else
        tb_release(buffer->device, buffer->memory);
}

/* Under the lock. */
static void lose_name(kept_buffer *kept_buffer)
{
    if (kept_buffer->notes)
        kept_buffer->drop(kept_buffer->notes);
    kept_buffer->notes = NULL;
    kept_buffer->name = 0;
}

/* Under the lock. */
static tb_buffer remove_kept(size_t index)
{
    lose_name(&kept[index]);
    tb_buffer buffer = kept[index].buffer;
    kept[index] = kept[--kept_count];
    return buffer;
}

void tb_forget_buffers(void)
{
    kept_count = 0;
    refused_bytes = 0;
    janitor_at_work = false;
    lock = (tb_lock){0};
}

void tb_forget_served_buffers(bool pinned_too)
{
    take_lock();
    for (size_t i = kept_count; i-- > 0;)
        if (kept[i].buffer.device >= TB_SERVED_FIRST ||
            (pinned_too && kept[i].buffer.device == TB_PINNED_SERVED))
            remove_kept(i);
    atomic_fetch_add(&changes, 1);
    tb_free_lock(&lock);
}

/* ---- What nobody has used for long ------------------------------------------------------------------------ */

static double keep_seconds(void)
{
    return (double)tb_option_value(TB_OPTION_KEEP_SECONDS);
}

/* Under the lock. */
static size_t find_oldest(void)
{
    size_t oldest = 0;
    for (size_t i = 1; i < kept_count; i++)
        if (kept[i].since < kept[oldest].since)
            oldest = i;
    return oldest;
}

/* Gives back the oldest, or says for how many seconds it stays. What lies where nobody can order anything any more is only
 * forgotten. */
static double give_back_oldest(bool reaches_server)
{
    const size_t oldest = find_oldest();
    const double left = kept[oldest].since + keep_seconds() - tb_seconds();
    if (left > 0)
        return left;
    tb_buffer buffer = remove_kept(oldest);
    const bool is_served = buffer.device >= TB_SERVED_FIRST || buffer.device == TB_PINNED_SERVED;
    tb_free_lock(&lock);
    if (!is_served || reaches_server)
        release(&buffer);
    take_lock();
    return 0;
}

/* Lives while anything is kept, asleep. A use of a server begins before the lock is taken, in which buffers are forgotten
 * when it ends. */
static void *give_back_unused(void *unused)
{
    for (double left = 0;;) {
        if (left > 0)
            tb_wait_while(&exits, 0, left);
        const bool reaches_server = tb_begin_use(TB_SERVED_FIRST);
        take_lock();
        const bool goes_on = kept_count > 0 && atomic_load(&exits) == 0;
        if (goes_on)
            left = give_back_oldest(reaches_server);
        else
            janitor_at_work = false;
        tb_free_lock(&lock);
        if (reaches_server)
            tb_end_use(TB_SERVED_FIRST);
        if (!goes_on)
            return unused;
    }
}

/* Under the lock. Where no thread can be had, buffers stay. */
static void see_that_it_is_given_back(void)
{
    if (!janitor_at_work && atomic_load(&exits) == 0)
        janitor_at_work = tb_start_thread(give_back_unused, NULL);
}

/* At exit nothing of the device is called. */
__attribute__((destructor)) static void leave_all_of_it(void)
{
    atomic_store(&exits, 1);
    tb_wake_all(&exits);
}

/* ---- Taking and giving ------------------------------------------------------------------------------------ */

/* The smallest kept buffer that is large enough, or none; those that have names only if they are to be had, too. */
static tb_buffer take_kept(int device, size_t bytes, bool named_too)
{
    tb_buffer found = {0};
    take_lock();
    size_t best = kept_count;
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].buffer.device == device && kept[i].buffer.bytes >= bytes &&
            (named_too || kept[i].name == 0) &&
            (best == kept_count || kept[i].buffer.bytes < kept[best].buffer.bytes))
            best = i;
    if (best < kept_count)
        found = remove_kept(best);
    tb_free_lock(&lock);
    return found;
}

/* Frees what is kept for a device; false when there was nothing. */
static bool release_kept(int device)
{
    bool released = false;
    for (;;) {
        tb_buffer buffer = take_kept(device, 0, true);
        if (!buffer.memory)
            return released;
        release(&buffer);
        released = true;
    }
}

size_t tb_kept_bytes(int device)
{
    size_t bytes = 0;
    take_lock();
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].buffer.device == device)
            bytes += kept[i].buffer.bytes;
    tb_free_lock(&lock);
    return bytes;
}

unsigned long tb_buffer_changes(void)
{
    return atomic_load(&changes);
}

bool tb_pinned_is_refused(size_t bytes)
{
    take_lock();
    const bool refused = refused_bytes > 0 && bytes >= refused_bytes && tb_seconds() < refused_until;
    tb_free_lock(&lock);
    return refused;
}

static void note_refusal(size_t bytes)
{
    take_lock();
    refused_bytes = bytes;
    refused_until = tb_seconds() + REFUSED_SECONDS;
    tb_free_lock(&lock);
}

static tb_status allocate(int device, size_t bytes, void **memory)
{
    atomic_fetch_add(&changes, 1);
    return device == TB_PINNED          ? tb_platform.allocate_pinned(bytes, memory)
           : device == TB_PINNED_SERVED ? tb_served_devices->allocate_pinned(bytes, memory)
                                        : tb_allocate(device, bytes, memory);
}

tb_status tb_take_buffer(int device, size_t bytes, tb_buffer *buffer)
{
    tb_buffer taken = take_kept(device, bytes, false);
    *buffer = (tb_buffer){0};
    if (!taken.memory) {
        if (device == TB_PINNED && tb_pinned_is_refused(bytes))
            return TB_OUT_OF_MEMORY;
        taken = (tb_buffer){.bytes = bytes, .device = device};
        tb_status status = allocate(device, bytes, &taken.memory);
        if (status == TB_OUT_OF_MEMORY && release_kept(device))
            status = allocate(device, bytes, &taken.memory);
        if (status == TB_OUT_OF_MEMORY && device == TB_PINNED)
            note_refusal(bytes);
        TB_TRY(status);
    }
    fill(buffer, &taken);
    return TB_OK;
}

/* Under the lock. Those of the device that were used least recently lose their names while there are too many
 * bytes of them. */
static void limit_named(int device, double most)
{
    for (;;) {
        double bytes = 0;
        kept_buffer *oldest = NULL;
        for (size_t i = 0; i < kept_count; i++)
            if (kept[i].buffer.device == device && kept[i].name != 0) {
                bytes += (double)kept[i].buffer.bytes;
                if (!oldest || kept[i].since < oldest->since)
                    oldest = &kept[i];
            }
        if (bytes <= most)
            return;
        lose_name(oldest);
    }
}

static uint64_t give(tb_buffer *buffer, size_t device_bytes, tb_notes *notes, tb_drop_notes *drop)
{
    if (!buffer->memory && notes)
        drop(notes);
    if (!buffer->memory)
        return 0;
    kept_buffer given = {.buffer = empty(buffer), .since = tb_seconds(), .notes = notes, .drop = drop};
    take_lock();
    const uint64_t name = given.name = device_bytes > 0 ? ++names_given : 0;
    const bool room = kept_count < KEPT_MAXIMUM && keep_seconds() > 0;
    if (!room || name == 0)
        lose_name(&given);
    if (room) {
        kept[kept_count++] = given;
        see_that_it_is_given_back();
    }
    if (device_bytes > 0)
        limit_named(given.buffer.device, NAMED_SHARE * (double)device_bytes);
    tb_free_lock(&lock);
    if (!room)
        release(&given.buffer);
    return name;
}

void tb_keep_buffer(tb_buffer *buffer)
{
    give(buffer, 0, NULL, NULL);
}

/* ---- Names ------------------------------------------------------------------------------------------------ */

uint64_t tb_give_buffer_named(tb_buffer *buffer, size_t device_bytes, tb_notes *notes, tb_drop_notes *drop)
{
    return give(buffer, device_bytes, notes, drop);
}

/* Under the lock; NULL: there is none. */
static kept_buffer *find_named(uint64_t name)
{
    for (size_t i = 0; i < kept_count && name != 0; i++)
        if (kept[i].name == name)
            return &kept[i];
    return NULL;
}

bool tb_take_buffer_named(uint64_t name, tb_buffer *buffer, tb_notes **notes)
{
    *buffer = (tb_buffer){0};
    *notes = NULL;
    take_lock();
    kept_buffer *found = find_named(name);
    if (found) {
        *notes = found->notes;
        found->notes = NULL;
        *buffer = remove_kept((size_t)(found - kept));
    }
    tb_free_lock(&lock);
    return found != NULL;
}

void tb_forget_buffer_name(uint64_t name)
{
    take_lock();
    kept_buffer *found = find_named(name);
    if (found)
        lose_name(found);
    tb_free_lock(&lock);
}
