/* The door to the driver: every operation of a device of the process's own goes in and out through it. It knows which threads are
 * inside, so that one that leaves from there by a jump is told from others (lib/process/leaving.h), and is
 * shut when the process exits: no operation is begun once exit handlers run.
 */
#ifndef TB_DEVICE_ENTRY_H
#define TB_DEVICE_ENTRY_H

#include "words/status.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Operations that the thread is inside of; they nest. */
extern _Thread_local int tb_device_depth __attribute__((tls_model("initial-exec")));
extern atomic_bool tb_device_shut;

/* TB_DEVICE_LOST when the door is shut; then there is nothing to leave. */
static inline tb_status tb_enter_device(void)
{
    if (atomic_load_explicit(&tb_device_shut, memory_order_relaxed))
        return TB_DEVICE_LOST;
    tb_device_depth++;
    atomic_signal_fence(memory_order_seq_cst);
    return TB_OK;
}

static inline void tb_leave_device(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    tb_device_depth--;
}

/* Shuts the door when exit handlers begin to run, those registered later than this aside. Threads of the
 * library's own that bring a device up have half a second then to come out of the driver: it takes itself
 * down next, and a thread that is initializing it would find it gone. (On an H200 one of 81 processes that
 * ended in these 0.4 s died of a segmentation fault.) */
void tb_shut_device_at_exit(void);
void tb_begin_bringing_up(void);
void tb_end_bringing_up(void);
bool tb_is_bringing_up(void);

/* In a forked child, which does not have those threads. */
void tb_forget_bringing_up(void);

#endif
