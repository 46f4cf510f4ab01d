#include "lib/process/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Beside the owner's number, which has 30 bits at most. */
#define WAITED_FOR UINT32_C(0x80000000)

enum { LOCKS_A_THREAD = 2 };

/* Entered before the lock is tried, cleared after it is free: a thread that leaves finds here all that it may
 * have. */
static _Thread_local tb_lock *taken[LOCKS_A_THREAD] __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t own_number __attribute__((tls_model("initial-exec")));

/* A forked child's only thread has another number; it uses no lock of its parent's. */
static uint32_t number_of_this_thread(void)
{
    if (own_number == 0)
        own_number = (uint32_t)syscall(SYS_gettid);
    return own_number;
}

static tb_lock **place_of(const tb_lock *lock)
{
    for (int i = 0; i < LOCKS_A_THREAD; i++)
        if (taken[i] == lock)
            return &taken[i];
    return NULL;
}

void tb_wait_while(_Atomic(uint32_t) *word, uint32_t that, double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};
    span.tv_nsec = (long)((seconds - (double)span.tv_sec) * 1e9);
    const int error = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, that, seconds < 0 ? NULL : &span, NULL, 0);
    errno = error;
}

void tb_wake_all(_Atomic(uint32_t) *word)
{
    const int error = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    errno = error;
}

void tb_wait_for_none(_Atomic(uint32_t) *count)
{
    for (uint32_t left; (left = atomic_load_explicit(count, memory_order_acquire)) > 0;)
        tb_wait_while(count, left, -1);
}

/* Whoever waits may be gone, and the count with it, when it is none: it is not looked at after that. */
void tb_count_down(_Atomic(uint32_t) *count)
{
    if (atomic_fetch_sub(count, 1) == 1)
        tb_wake_all(count);
}

void tb_take_lock(tb_lock *lock)
{
    const uint32_t self = number_of_this_thread();
    tb_lock **place = place_of(NULL);
    *(tb_lock *volatile *)place = lock;
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t owner = 0;
    if (atomic_compare_exchange_strong_explicit(&lock->owner, &owner, self, memory_order_acquire,
                                                memory_order_relaxed))
        return;
    for (;;) {
        /* Who has waited leaves the mark on, as others may be waiting still. */
        owner = 0;
        if (atomic_compare_exchange_strong_explicit(&lock->owner, &owner, self | WAITED_FOR,
                                                    memory_order_acquire, memory_order_relaxed))
            return;
        if ((owner & WAITED_FOR) || atomic_compare_exchange_strong(&lock->owner, &owner, owner | WAITED_FOR))
            tb_wait_while(&lock->owner, owner | WAITED_FOR, -1);
    }
}

static void give_back(tb_lock *lock)
{
    if (atomic_exchange_explicit(&lock->owner, 0, memory_order_release) & WAITED_FOR)
        tb_wake_all(&lock->owner);
}

void tb_free_lock(tb_lock *lock)
{
    give_back(lock);
    atomic_signal_fence(memory_order_seq_cst);
    *(tb_lock *volatile *)place_of(lock) = NULL;
}

bool tb_has_locks(void)
{
    return taken[0] || taken[1];
}

void tb_give_up_locks(void)
{
    for (int i = 0; i < LOCKS_A_THREAD; i++) {
        tb_lock *lock = taken[i];
        if (lock && (atomic_load(&lock->owner) & ~WAITED_FOR) == number_of_this_thread()) {
            atomic_store(&lock->damaged, true);
            give_back(lock);
        }
        taken[i] = NULL;
    }
}
