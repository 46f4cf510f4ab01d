/* Where the operands of a problem lie. */
#ifndef TB_RESIDENCY_H
#define TB_RESIDENCY_H

#include "dispatch/plan.h"
#include "lib/device.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Fills facts->a, b and c. Asks the driver only when something in this process has loaded it: otherwise
 * there is no device memory. Operands that will not be read (k = 0) count as lying in host memory. */
void tb_locate_operands(const tb_problem *problem, tb_facts *facts);

/* Where the break of the process began, all ones until that is known: see tb_learn_heap. */
extern _Atomic(uintptr_t) tb_heap_start;
void tb_learn_heap(void);

/* Memory below the program's break, where malloc serves small requests of the main thread, is the host's: no
 * driver maps anything there. Telling so takes two comparisons, and asking the driver or the dynamic linker
 * takes ten times as long as a small call may cost. */
static inline bool tb_is_in_heap(const void *address)
{
    return (uintptr_t)address >= atomic_load_explicit(&tb_heap_start, memory_order_relaxed) &&
           (uintptr_t)address < (uintptr_t)sbrk(0);
}

/* False only when none of the operands can lie in device memory. */
static inline bool tb_may_be_on_device(const float *a, const float *b, const float *c)
{
    return !(tb_is_in_heap(a) && tb_is_in_heap(b) && tb_is_in_heap(c)) && tb_device.in_process();
}

#endif
