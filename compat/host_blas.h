/* The host BLAS: the one that the caller would have reached without TileBLAS. Found at the first call from a
 * call site, remembered for that call site, never TileBLAS itself.
 *
 * A spelling is one of the names of compat/spellings.h; a call site is the address that a call returns to.
 * The exported functions (gemm_abi.h) ask for the host of every call; the runtime sees it as a tb_host.
 */
#ifndef TB_HOST_BLAS_H
#define TB_HOST_BLAS_H

#include "compat/call_sites.h"
#include "compat/host_search.h"

#include <stdbool.h>

/* The host for calls of the spelling from the call site. Never NULL. What it says is valid for the life of the process or, where
 * the host is not kept, for this call. */
const tb_host_blas *tb_find_host_blas(tb_spelling spelling, const void *call_site);

/* Who called, of this thread's call that has not gone on at a glance (stamp.h). As one more argument it would keep the way
 * there from being a jump. A signal handler that calls a routine just then has the next place; one that jumps leaves its own. */
typedef struct tb_caller {
    tb_spelling spelling;
    const void *call_site;
} tb_caller;
enum { TB_CALLERS = 2 };
typedef struct tb_callers_of_thread {
    const void *call_sites[TB_CALLERS];
    const void *look_closely; /* of a call by a bare name: who goes on with it if it is for BLAS */
    uint16_t spellings[TB_CALLERS];
    unsigned taken;
} tb_callers_of_thread;
extern _Thread_local tb_callers_of_thread tb_callers __attribute__((tls_model("initial-exec")));

static inline void tb_note_caller(tb_spelling spelling, const void *call_site)
{
    const unsigned place = tb_callers.taken++ % TB_CALLERS;
    atomic_signal_fence(memory_order_seq_cst);
    tb_callers.spellings[place] = (uint16_t)spelling;
    tb_callers.call_sites[place] = call_site;
}

static inline tb_caller tb_take_caller(void)
{
    const unsigned place = (tb_callers.taken - 1) % TB_CALLERS;
    const tb_caller caller = {(tb_spelling)tb_callers.spellings[place], tb_callers.call_sites[place]};
    atomic_signal_fence(memory_order_seq_cst);
    tb_callers.taken--;
    return caller;
}

/* Where a call by a bare name (spellings.h) goes on that is not known at a glance: to a function of the program's own, or to
 * look_closely. Nothing of it may have been looked at, as nobody knows its arguments, nor is changed: a jump in between
 * (untouched.S) saves all that may carry one. */
const void *tb_find_way(void);
void tb_go_untouched(void);

/* Reports an irregular argument where no host BLAS can: through the program's cblas_xerbla or xerbla_, with
 * the number that arguments.h gives. The library to link with has one of its own for want of others
 * (forward/resolve.c); without any it says nothing, unless VERBOSE. May leave by longjmp. */
void tb_report_irregular(tb_spelling spelling, int number);

#endif
