/* Where the matrices of a task lie. */
#ifndef TB_RESIDENCY_H
#define TB_RESIDENCY_H

#include "dispatch/plan.h"
#include "lib/device/platform.h"
#include "lib/process/host_memory.h"
#include "words/task.h"

#include <stdbool.h>
#include <unistd.h>

/* Fills facts->places, in the order of the task's matrices. Asks the driver only when something in this process has loaded it:
 * otherwise there is no device memory. Matrices that will not be read count as lying in host memory, and so do those that a task
 * lacks. */
void tb_locate_matrices(tb_task task, tb_facts *facts);

/* False only when none of the operands can lie in device memory. */
static inline bool tb_may_be_on_device(const void *a, const void *b, const void *c)
{
    const void *heap_end = sbrk(0);
    if (tb_stack.size == 0)
        tb_learn_stack();
    return !(tb_is_the_hosts(a, heap_end) && tb_is_the_hosts(b, heap_end) && tb_is_the_hosts(c, heap_end)) &&
           tb_platform.in_process();
}

#endif
