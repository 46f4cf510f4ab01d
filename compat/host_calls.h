/* How tasks are put into calls of the host's routines: one row a routine. */
#ifndef TB_HOST_CALLS_H
#define TB_HOST_CALLS_H

#include "words/task.h"

/* Calls the function at the address with the task's arguments. A host with 32-bit integers reads the lower
 * half of each, which on both of our little-endian ABIs comes first. */
typedef void tb_host_call(void *address, tb_task task);

typedef struct tb_host_calls {
    tb_host_call *c, *fortran; /* by the C interface, CBLAS or LAPACKE, and by Fortran's */
} tb_host_calls;

#define TB_ROUTINE(NAME, name, CLASS, element) extern const tb_host_calls tb_##name##_calls;
#include "words/routines.def"
#undef TB_ROUTINE

/* The row of a routine whose tasks are products, which call_c and call_fortran put into a call. */
#define TB_STAMP_HOST_CALLS(row)                                                                             \
    static void call_c_with(void *address, tb_task task)                                                     \
    {                                                                                                        \
        call_c(address, task.product);                                                                       \
    }                                                                                                        \
    static void call_fortran_with(void *address, tb_task task)                                               \
    {                                                                                                        \
        call_fortran(address, task.product);                                                                 \
    }                                                                                                        \
    const tb_host_calls row = {call_c_with, call_fortran_with};

/* For the task, which may be another routine's. */
static inline void tb_call_routine(tb_routine routine, bool is_cblas, void *address, tb_task task)
{
    static const tb_host_calls *const rows[TB_ROUTINES] = {
#define TB_ROUTINE(NAME, name, CLASS, element) [TB_##NAME] = &tb_##name##_calls,
#include "words/routines.def"
#undef TB_ROUTINE
    };
    (is_cblas ? rows[routine]->c : rows[routine]->fortran)(address, task);
}

#endif
