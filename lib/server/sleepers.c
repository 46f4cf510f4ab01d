#include "lib/server/sleepers.h"

#include "lib/process/clock.h"
#include "lib/process/lock.h"

#include <time.h>

/* A client that has wanted nothing for so long sleeps: pauses between products of one that is at work are shorter. */
#define ASLEEP_SECONDS 0.1

/* How long a session is waited for that is to give something back: it may have a device's work to wait for. */
#define GIVE_BACK_SECONDS 1.0
#define LOOK_SECONDS      50e-6

enum { SESSIONS_MOST = 512 };

static tb_lock lock;
static tb_sleeper *sessions[SESSIONS_MOST];
static atomic_int session_count;

bool tb_enter_sleepers(tb_sleeper *sleeper)
{
    tb_take_lock(&lock);
    const bool has_room = session_count < SESSIONS_MOST;
    if (has_room)
        sessions[session_count++] = sleeper;
    tb_free_lock(&lock);
    return has_room;
}

void tb_leave_sleepers(const tb_sleeper *sleeper)
{
    tb_take_lock(&lock);
    for (int i = 0; i < session_count; i++)
        if (sessions[i] == sleeper) {
            sessions[i] = sessions[--session_count];
            break;
        }
    tb_free_lock(&lock);
}

int tb_count_sessions(void)
{
    return atomic_load_explicit(&session_count, memory_order_relaxed);
}

/* Under the lock. */
static bool is_asleep(const tb_sleeper *sleeper, const tb_sleeper *own, uint32_t device)
{
    return sleeper != own && atomic_load(&sleeper->held_bytes[device]) > 0 &&
           atomic_load(&sleeper->wire->use) == 0 &&
           tb_seconds() - atomic_load(&sleeper->moved) > ASLEEP_SECONDS;
}

uint64_t tb_bytes_asleep(const tb_sleeper *own, uint32_t device)
{
    uint64_t bytes = 0;
    tb_take_lock(&lock);
    for (int i = 0; i < session_count; i++)
        if (is_asleep(sessions[i], own, device))
            bytes += atomic_load(&sessions[i]->held_bytes[device]);
    tb_free_lock(&lock);
    return bytes;
}

/* NULL: nobody sleeps who holds any. It may be gone when the lock is free. */
static const tb_sleeper *want_from_sleeper(const tb_sleeper *own, uint32_t device, uint64_t *held)
{
    tb_sleeper *longest = NULL;
    tb_take_lock(&lock);
    for (int i = 0; i < session_count; i++)
        if (is_asleep(sessions[i], own, device) &&
            (!longest || atomic_load(&sessions[i]->moved) < atomic_load(&longest->moved)))
            longest = sessions[i];
    if (longest) {
        *held = atomic_load(&longest->held_bytes[device]);
        atomic_store(&longest->is_wanted, 1);
        tb_wire_wake((_Atomic(uint32_t) *)(uintptr_t)&longest->wire->tail);
    }
    tb_free_lock(&lock);
    return longest;
}

typedef enum what_came { NOTHING_YET, NOTHING, SOMETHING } what_came;

static what_came see_what_came(const tb_sleeper *sleeper, uint32_t device, uint64_t held)
{
    what_came came = SOMETHING; /* of one that has ended */
    tb_take_lock(&lock);
    for (int i = 0; i < session_count; i++)
        if (sessions[i] == sleeper)
            came = atomic_load(&sleeper->is_wanted)                   ? NOTHING_YET
                   : atomic_load(&sleeper->held_bytes[device]) < held ? SOMETHING
                                                                      : NOTHING;
    tb_free_lock(&lock);
    return came;
}

bool tb_take_back_from_sleeper(const tb_sleeper *own, uint32_t device)
{
    const double start = tb_seconds();
    uint64_t held = 0;
    const tb_sleeper *sleeper = want_from_sleeper(own, device, &held);
    while (sleeper) {
        const what_came came = see_what_came(sleeper, device, held);
        if (came == SOMETHING)
            return true;
        if (tb_seconds() - start > GIVE_BACK_SECONDS)
            return false;
        if (came == NOTHING) /* it has woken up */
            sleeper = want_from_sleeper(own, device, &held);
        else
            nanosleep(&(struct timespec){.tv_nsec = (long)(LOOK_SECONDS * 1e9)}, NULL);
    }
    return false;
}
