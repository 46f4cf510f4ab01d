/* The host BLAS: the one that the caller would have reached without TileBLAS. Found at the first call from a
 * call site, remembered for that call site, never TileBLAS itself.
 *
 * A spelling is one of the names of compat/spellings.h; a call site is the address that a call returns to.
 * The exported functions (gemm_abi.h) ask for the host of every call; the runtime sees it as a tb_host.
 */
#ifndef TB_HOST_BLAS_H
#define TB_HOST_BLAS_H

#include "compat/host_search.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The host for calls of the spelling from the call site. Never NULL; valid for the life of the process. */
const tb_host_blas *tb_find_host_blas(tb_spelling spelling, const void *call_site);

/* Who called, of this thread's call that has not gone on at a glance (stamp.h). As one more argument it would keep the way
 * there from being a jump. A signal handler that calls a routine just then has the next place; one that jumps leaves its own. */
typedef struct tb_caller {
    tb_spelling spelling;
    const void *call_site;
} tb_caller;
enum { TB_CALLERS = 2 };
typedef struct tb_callers_of_thread {
    unsigned taken;
    tb_caller places[TB_CALLERS];
} tb_callers_of_thread;
extern _Thread_local tb_callers_of_thread tb_callers __attribute__((tls_model("initial-exec")));

static inline void tb_note_caller(tb_spelling spelling, const void *call_site)
{
    const unsigned place = tb_callers.taken++;
    atomic_signal_fence(memory_order_seq_cst);
    tb_callers.places[place % TB_CALLERS] = (tb_caller){spelling, call_site};
}

static inline tb_caller tb_take_caller(void)
{
    const tb_caller caller = tb_callers.places[(tb_callers.taken - 1) % TB_CALLERS];
    atomic_signal_fence(memory_order_seq_cst);
    tb_callers.taken--;
    return caller;
}

/* Call sites and their hosts, a hash table. A program has some tens of call sites; a LAPACK inside the host,
 * or code compiled at run time, can have thousands, and those that find no room take the first host that
 * is known for their spelling. */
enum { TB_CALL_SITE_BITS = 12, TB_CALL_SITE_PROBES = 16 };
typedef struct tb_call_site {
    _Atomic(const void *) address;
    _Atomic(const tb_host_blas *) host;
} tb_call_site;
extern tb_call_site tb_call_sites[(1 << TB_CALL_SITE_BITS) + TB_CALL_SITE_PROBES];

/* The first place that a call site may have in the table. */
static inline size_t tb_hash_call_site(const void *address)
{
    return (size_t)((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TB_CALL_SITE_BITS));
}

static inline const tb_host_blas *tb_host_at(size_t place, tb_spelling spelling, const void *call_site)
{
    const void *address = atomic_load_explicit(&tb_call_sites[place].address, memory_order_relaxed);
    const tb_host_blas *host = atomic_load_explicit(&tb_call_sites[place].host, memory_order_acquire);
    /* One address can return from several spellings, where they are called through a pointer. */
    return address == call_site && host && host->spelling == spelling ? host : NULL;
}

/* As tb_find_host_blas, where that takes one look; else NULL. */
static inline const tb_host_blas *tb_glance_at_host_blas(tb_spelling spelling, const void *call_site)
{
    return tb_host_at(tb_hash_call_site(call_site), spelling, call_site);
}

/* Reports an irregular argument where no host BLAS can: through the program's cblas_xerbla or xerbla_, with
 * the number that arguments.h gives. The library to link with has one of its own for want of others
 * (forward/resolve.c); without any it says nothing, unless VERBOSE. May leave by longjmp. */
void tb_report_irregular(tb_spelling spelling, int number);

#endif
