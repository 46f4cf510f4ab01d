/* The hosts of call sites, as far as they are known. For host_blas.c, which searches for those that are not, and for the exported
 * functions, which look here.
 *
 * Objects come and go. What is known of call sites is forgotten when an object is unloaded, in whose place another may call. A
 * host that the linker would not have reached is given up when objects are loaded, a nearer one among them perhaps. Calls notice
 * that: those whose host may have gone, each time; others that are looked at closely, once in a few milliseconds. Small calls
 * that go on at a glance do not: where an object is loaded at the very place of one that has called, they go to that one's host
 * until another call notices.
 */
#ifndef TB_CALL_SITES_H
#define TB_CALL_SITES_H

#include "compat/host_search.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The host at a place, if that is the call site's. A place may be given to another call site in between: whoever does that takes
 * the host away first, so that a host which is there before and behind the address belongs to it. */
static inline const tb_host_blas *tb_host_at(size_t place, const void *call_site)
{
    const tb_host_blas *host = atomic_load_explicit(&tb_call_sites[place].host, memory_order_acquire);
    const void *address = atomic_load_explicit(&tb_call_sites[place].address, memory_order_acquire);
    const tb_host_blas *still = atomic_load_explicit(&tb_call_sites[place].host, memory_order_relaxed);
    return address == call_site && host == still ? host : NULL;
}

/* As tb_find_host_blas, where that takes one look; else NULL. One address can return from several spellings, where they are
 * called through a pointer. */
static inline const tb_host_blas *tb_glance_at_host_blas(tb_spelling spelling, const void *call_site)
{
    const tb_host_blas *host = tb_host_at(tb_hash_call_site(call_site), call_site);
    return host && host->at_a_glance == spelling ? host : NULL;
}

/* The same wherever it stands. */
const tb_host_blas *tb_look_up_call_site(tb_spelling spelling, const void *call_site);

/* The place in the table that is the call site's from now on, or one behind those that it may have. */
size_t tb_claim_place(const void *call_site);

/* Whether nobody but us has the routine. */
bool tb_is_nobody(const tb_host_blas *host);
void tb_note_vain_search(void);

/* Whether it is worth looking whether the host is still the caller's, and looking. */
bool tb_may_have_changed(const tb_host_blas *host);
void tb_look_for_changes(void);

/* The same, for who is inside of the dynamic linker (lib/process/linker.h) already. */
void tb_forget_what_changed(void);

#endif
