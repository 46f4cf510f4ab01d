/* Threads of the library's own beside the program's. */
#ifndef TB_THREADS_H
#define TB_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts a thread that nobody will join. The program's signals are for the program's threads: all are blocked
 * in it but those that its own instructions raise, by which write barriers and garbage collectors live. It
 * begins with the default floating-point environment, whatever the caller's is. False when no thread could be
 * had. */
bool tb_start_thread(void *(*work)(void *), void *argument);

/* Whether the thread with the kernel's number is one of those, and whether there are any. More than some hundreds are not
 * known. */
bool tb_is_own_thread(uint32_t number);
bool tb_has_own_threads(void);

/* Called by whoever has started one; NULL: nobody wants to know. Of lib/device/last_threads.c. */
extern void (*_Atomic tb_when_started)(void);

/* Calls that the thread is in (lib/process/leaving.h); a thread of the library's own is in one for all its life. */
extern _Thread_local int tb_call_depth __attribute__((tls_model("initial-exec")));

/* pthread_once for what a signal handler may call as well: one that interrupts it in its own thread would wait for itself. */
typedef struct tb_once {
    atomic_bool is_done;
    pthread_once_t once;
} tb_once;
#define TB_ONCE                                                                                              \
    {                                                                                                        \
        .once = PTHREAD_ONCE_INIT                                                                            \
    }
void tb_do_held_back(tb_once *once, void (*routine)(void));

static inline void tb_do_once(tb_once *once, void (*routine)(void))
{
    if (!atomic_load_explicit(&once->is_done, memory_order_acquire))
        tb_do_held_back(once, routine);
}

/* Around a few steps that a jump out of a handler must not divide: the program's signals wait meanwhile, for
 * this thread or another one. */
void tb_hold_signals(sigset_t *before);
void tb_let_signals(const sigset_t *before);

#endif
