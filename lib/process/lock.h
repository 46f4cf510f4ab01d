/* Locks that outlive a thread's leaving: a signal handler of the program's may jump out of a call with one of
 * them taken. The owner's number is the lock, taken in one step, so that it is known at every instant who has
 * it; whoever leaves gives up what it has (tb_give_up_locks), and what the lock protects counts as damaged
 * from then on.
 *
 * And waiting for a word to change, which holds nothing.
 */
#ifndef TB_LOCK_H
#define TB_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tb_lock {
    _Atomic(uint32_t) owner; /* the thread's number as the kernel has it, and whether others wait; 0: free */
    atomic_bool damaged;     /* somebody left while it was taken: what it protects may be half changed */
} tb_lock;

/* A thread has at most two at a time. */
void tb_take_lock(tb_lock *lock);
void tb_free_lock(tb_lock *lock);

/* Whether the calling thread has, or is about to have, a lock. */
bool tb_has_locks(void);
void tb_give_up_locks(void);

static inline bool tb_is_damaged(tb_lock *lock)
{
    return atomic_load_explicit(&lock->damaged, memory_order_relaxed);
}

/* With the lock: what it protects is whole again. */
static inline void tb_mend_lock(tb_lock *lock)
{
    atomic_store_explicit(&lock->damaged, false, memory_order_relaxed);
}

/* Sleeps while the word is that, until it is woken, or seconds have passed; may return early. Less than 0:
 * for ever. */
void tb_wait_while(_Atomic(uint32_t) *word, uint32_t that, double seconds);
void tb_wake_all(_Atomic(uint32_t) *word);

/* The same of a count of those that somebody waits for: until there are none; and one is done, perhaps the last. */
void tb_wait_for_none(_Atomic(uint32_t) *count);
void tb_count_down(_Atomic(uint32_t) *count);

#endif
