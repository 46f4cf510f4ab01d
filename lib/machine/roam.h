/* A thread of the library's that works beside a program whose threads wait for each other.
 *
 * A BLAS cuts a product in as many parts as there are cores, and waits for the last. A thread that stays on one core with one of
 * these for a quarter of a second keeps all of them waiting; one that roams over the cores delays each a little. It is also done
 * sooner, since no core makes it wait for long. start.c brings devices up in such a thread.
 */
#ifndef TB_ROAM_H
#define TB_ROAM_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct tb_roaming {
    pid_t thread;
    cpu_set_t cores;         /* that the thread may use */
    _Atomic(uint32_t) state; /* a companion moves the thread, is to stop, has stopped */
} tb_roaming;

/* From now on the calling thread is moved between two halves of its cores, a thousand times a second. Where it has fewer than
 * four, or no companion can be had, it stays as it is. Threads that it starts meanwhile may keep to one half. */
void tb_begin_roaming(tb_roaming *roaming);

/* Nobody moves the thread any more; it may use all of its cores. By the same thread. */
void tb_end_roaming(tb_roaming *roaming);

/* Every second one of the cores, from the first or the second on. */
void tb_half_of_cores(const cpu_set_t *cores, int first, cpu_set_t *half);

#endif
