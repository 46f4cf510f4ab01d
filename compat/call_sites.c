#include "compat/call_sites.h"

#include "compat/loaded_objects.h"
#include "lib/machine/calls.h"
#include "lib/process/linker.h"
#include "lib/process/threads.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

tb_call_site tb_call_sites[(1 << TB_CALL_SITE_BITS) + TB_CALL_SITE_PROBES];

/* A place whose call site was forgotten. */
static const char forgotten;

/* All that is in the table was found when so many objects had been loaded and unloaded. */
static _Atomic(unsigned long long) seen_loaded, seen_unloaded;
static _Atomic(long long) looked_at_ns, searched_in_vain_ns; /* by the coarse clock */

enum { RETRY_NS = 1000000000 };

static long long coarse_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

bool tb_is_nobody(const tb_host_blas *host)
{
    return !host->address && !host->gemm;
}

/* Those without a host, those whose host is far, or all. */
typedef enum range { NOBODYS, FAR, ALL } range;

static bool is_forgotten(range range, const tb_host_blas *host, const void *call_site)
{
    if (range == NOBODYS)
        return tb_is_nobody(host);
    return !host->is_near || (range == ALL && (!host->is_kept || !tb_is_kept(call_site)));
}

static void forget(range range)
{
    for (size_t place = 0; place < sizeof tb_call_sites / sizeof *tb_call_sites; place++) {
        tb_call_site *site = &tb_call_sites[place];
        const tb_host_blas *host = atomic_load_explicit(&site->host, memory_order_acquire);
        const void *address = atomic_load_explicit(&site->address, memory_order_acquire);
        /* A place without a host is being filled. */
        if (host && is_forgotten(range, host, address) &&
            atomic_compare_exchange_strong(&site->host, &host, NULL))
            atomic_store(&site->address, &forgotten);
    }
}

/* A search that was in vain is not an answer for ever: it may have been for want of memory or of descriptors. */
static bool is_time_to_retry(void)
{
    const long long searched = atomic_load(&searched_in_vain_ns);
    return searched && coarse_ns() - searched >= RETRY_NS;
}

/* What is known is forgotten before anybody takes it for what was found after the change. */
void tb_forget_what_changed(void)
{
    const tb_changes now = tb_count_changes();
    const bool unloaded = now.unloaded != atomic_load(&seen_unloaded);
    if (unloaded || now.loaded != atomic_load(&seen_loaded))
        forget(unloaded ? ALL : FAR);
    else if (is_time_to_retry()) {
        atomic_store(&searched_in_vain_ns, 0);
        forget(NOBODYS);
    }
    atomic_store(&seen_unloaded, now.unloaded);
    atomic_store(&seen_loaded, now.loaded);
}

/* In a child that cannot ask the linker nothing is unloaded, either. */
void tb_look_for_changes(void)
{
    sigset_t signals;
    tb_call call;
    tb_begin_call(&call);
    tb_hold_signals(&signals); /* the dynamic linker is not to be left in the middle */
    tb_enter_linker();
    if (tb_linker_answers())
        tb_forget_what_changed();
    tb_leave_linker();
    tb_let_signals(&signals);
    tb_end_call(&call);
}

void tb_note_vain_search(void)
{
    atomic_store(&searched_in_vain_ns, coarse_ns());
}

/* A host that may have gone is looked for each time, as is whether there is one by now. */
bool tb_may_have_changed(const tb_host_blas *host)
{
    if (!host->is_kept)
        return true;
    const long long now = coarse_ns();
    return atomic_load_explicit(&looked_at_ns, memory_order_relaxed) != now &&
           atomic_exchange_explicit(&looked_at_ns, now, memory_order_relaxed) != now;
}

/* The place in the table that is the call site's from now on, or one behind those that it may have. */
size_t tb_claim_place(const void *call_site)
{
    const size_t first = tb_hash_call_site(call_site), end = first + TB_CALL_SITE_PROBES;
    for (size_t place = first; place < end; place++) {
        const void *owner = atomic_load(&tb_call_sites[place].address);
        if ((!owner || owner == &forgotten) &&
            atomic_compare_exchange_strong(&tb_call_sites[place].address, &owner, call_site))
            return place;
    }
    return end;
}

const tb_host_blas *tb_look_up_call_site(tb_spelling spelling, const void *call_site)
{
    const size_t first = tb_hash_call_site(call_site);
    for (size_t place = first; place < first + TB_CALL_SITE_PROBES; place++) {
        const tb_host_blas *host = tb_host_at(place, call_site);
        if (host && host->spelling == spelling)
            return host;
        if (!atomic_load_explicit(&tb_call_sites[place].address, memory_order_relaxed))
            break;
    }
    return NULL;
}
