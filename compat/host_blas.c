/* The caller's own BLAS: called, searched for once per call site (host_search.c), and kept in small tables (call_sites.c),
 * which readers need no lock for, so that none is held while the linker runs a constructor or a program's handler unwinds.
 */
#include "compat/host_blas.h"

#include "compat/forwarders.h"
#include "compat/host_calls.h"
#include "compat/host_search.h"
#include "compat/loaded_objects.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/process/linker.h"
#include "lib/process/threads.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "words/members.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Calling ---------------------------------------------------------------------------------------- */

/* The host that this thread is in a call of. Some forwarders hand on large calls only, so that a probe does not show
 * where those go: they come back while this function calls. */
static _Thread_local const tb_host_blas *called_host __attribute__((tls_model("initial-exec")));

_Thread_local tb_callers_of_thread tb_callers __attribute__((tls_model("initial-exec")));

/* What GEMM computes: of a matrix that is conjugated and not transposed not every BLAS has it. */
static bool is_of_gemm(const tb_product *product)
{
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *operand = &product->operands[role];
        if (operand->structure != TB_GENERAL || (operand->conjugated && !operand->transposed))
            return false;
    }
    return product->mask == TB_FULL && product->terms < 2 && !tb_is_batch(product);
}

/* What GEMM_BATCH does, and GEMM_BATCH_STRIDED, which wants strides. */
static bool is_of_batch(const tb_product *product)
{
    const tb_product one = tb_member_of(product, 0);
    const tb_members *members = product->batch.members;
    const bool is_uneven = members[TB_A].uneven || members[TB_B].uneven || members[TB_C].uneven;
    return tb_is_batch(product) && is_of_gemm(&one) &&
           (!is_uneven || !tb_class_of(product->routine)->is_strided);
}

/* Whether a symmetric or triangular operand is all there. */
static bool is_whole(const tb_operand *operand)
{
    return operand->rows == operand->columns && operand->diagonal == 0;
}

/* Whether the routine that was called is just this product, which may be a part of the one that was asked for. */
static bool is_of_routine(const tb_product *product)
{
    const bool square = product->m == product->n && product->diagonal == 0 && product->mask != TB_FULL;
    /* Or triangular; that of a product in C's place may be read in ways that no routine has. */
    const tb_operand *structured = tb_is_symmetric_left(product) ? &product->a : &product->b;
    const tb_class_row *class = tb_class_of(product->routine);
    if (class->in_place != TB_OUT_OF_PLACE)
        return product->in_place != TB_OUT_OF_PLACE && is_whole(structured) &&
               structured->rows == product->k && (structured->transposed || !structured->conjugated);
    if (class->is_symmetric)
        return is_whole(structured) && structured->rows == product->k;
    if (class->updates)
        return square && (!class->has_one_operand || tb_has_one_operand(product)) &&
               (!class->has_two_terms || product->terms == 2);
    return class->is_batch ? is_of_batch(product) : is_of_gemm(product);
}

static tb_routine gemm_of(tb_routine routine)
{
    return tb_gemm_routine(tb_routine_rows[routine].element);
}

/* Whether the host's own routine can do the task, and had better be asked. */
static bool does_itself(const tb_host_blas *host, tb_task task)
{
    return host->address && (!tb_is_product(task) || (is_of_routine(task.product) && !host->prefers_gemm));
}

/* Many other products are GEMM's, as those are of which only a part is wanted. */
static bool call_host(const tb_host *host, tb_task task)
{
    const tb_host_blas *called = (const tb_host_blas *)host;
    tb_routine routine = tb_task_routine(task);
    if (!does_itself(called, task)) {
        called = called->gemm;
        routine = gemm_of(routine);
        if (!called || !tb_is_product(task) || !is_of_gemm(task.product))
            return false;
    }
    /* A signal handler may call over this call. */
    const tb_host_blas *before = called_host;
    called_host = called;
    const int depth = tb_is_product(task) ? 0 : tb_step_out_of_call();
    tb_call_routine(routine, tb_spelling_rows[called->spelling].is_cblas, called->address, task);
    if (!tb_is_product(task))
        tb_step_back_into_call(depth);
    called_host = before;
    return true;
}

/* A call that this thread makes while it is in a call of a host comes from there if the host has jumped to
 * us, so that it returns to where we called, or if it returns into the host's object and is of the same
 * calling convention: what a BLAS does inside is of the other one. */
static const tb_host_blas *find_origin(tb_spelling spelling, const void *call_site)
{
    if (!called_host)
        return NULL;
    const int caller = tb_find_position(call_site);
    const bool same = tb_is_same_function(called_host->spelling, spelling);
    /* LAPACK's and LAPACKE's functions end in a jump to what they call, as DPOSV to DPOTRS: that is no forwarder. */
    if (!same && tb_class_of(tb_spelling_rows[called_host->spelling].routine)->is_lapack)
        return NULL;
    const bool jumped = caller == tb_find_position(tb_call_sites);
    const bool called = same && caller == tb_find_position(called_host->address);
    return jumped || called ? called_host : NULL;
}

/* ---- Remembering ------------------------------------------------------------------------------------ */

/* All hosts, each once. An entry is claimed, filled, and then never changes. One table is enough, unless a program has BLAS by
 * the hundred: plugins that bring their own. */
enum { FREE, CLAIMED, FILLED, HOSTS_A_TABLE = 1024 };
typedef struct host_table {
    struct {
        atomic_int state;
        tb_host_blas host;
    } entries[HOSTS_A_TABLE];
    _Atomic(struct host_table *) next;
} host_table;
static host_table first_hosts;

/* By spelling and width. */
#define NO_HOST(ROUTINE, symbol, bits)                                                                       \
    {{.base.called_as = #symbol, .spelling = TB_SPELLING_##symbol, .integer_bits = 32},                      \
     {.base.called_as = #symbol, .spelling = TB_SPELLING_##symbol, .integer_bits = 64}},
static const tb_host_blas no_host[TB_SPELLING_COUNT][2] = {
#define TB_ROUTINE(NAME, name, CLASS, element) TB_SPELLINGS_OF(NO_HOST, NO_HOST, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    TB_LAPACK_SPELLINGS_OF(NO_HOST, NO_HOST, NO_HOST, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
};

static bool is_same_host(const tb_host_blas *left, const tb_host_blas *right)
{
    return left->address == right->address && left->spelling == right->spelling &&
           left->gemm == right->gemm && left->prefers_gemm == right->prefers_gemm &&
           left->integer_bits == right->integer_bits && left->nested == right->nested &&
           left->is_foreign == right->is_foreign && left->is_kept == right->is_kept &&
           left->is_near == right->is_near;
}

/* The next table, which is made where there is none; NULL without memory. */
static host_table *next_hosts(host_table *table)
{
    host_table *next = atomic_load(&table->next);
    if (next)
        return next;
    host_table *made = tb_make(sizeof *made);
    if (made && !atomic_compare_exchange_strong(&table->next, &next, made)) {
        tb_unmake(made);
        return next;
    }
    return made;
}

/* Another one of LAPACK's by a name that is spelled alike; or what LAPACK itself calls for a product: CBLAS from where LAPACKE lies, Fortran
 * from where that does. */
static const tb_host *find_beside(const tb_host *host, tb_routine routine)
{
    const tb_host_blas *lapack = (const tb_host_blas *)host;
    const int place = (int)(lapack->spelling - tb_first_spelling(tb_spelling_rows[lapack->spelling].routine)),
              before = place < TB_C_SPELLINGS || tb_class_of(routine)->is_lapack ? 0 : TB_C_SPELLINGS;
    const tb_spelling alike = tb_first_spelling(routine) + (tb_spelling)(place - before);
    const tb_host_blas *beside =
        lapack->address ? tb_find_host_blas(alike, (const char *)lapack->address + 1) : NULL;
    return beside && !beside->is_foreign ? &beside->base : NULL;
}

static const tb_host_blas *keep_in(host_table *table, const tb_host_blas *host)
{
    for (size_t i = 0; i < HOSTS_A_TABLE; i++) {
        int state = FREE;
        tb_host_blas *kept = &table->entries[i].host;
        if (atomic_compare_exchange_strong(&table->entries[i].state, &state, CLAIMED)) {
            *kept = *host;
            kept->at_a_glance = host->is_kept ? host->spelling : TB_SPELLING_COUNT;
            if (host->address || host->gemm)
                kept->base.call = call_host;
            kept->base.beside = find_beside;
            atomic_store_explicit(&table->entries[i].state, FILLED, memory_order_release);
            return kept;
        }
        if (state == FILLED && is_same_host(kept, host))
            return kept;
    }
    return NULL;
}

static const tb_host_blas *keep_host(const tb_host_blas *host)
{
    for (host_table *table = &first_hosts; table; table = next_hosts(table)) {
        const tb_host_blas *kept = keep_in(table, host);
        if (kept)
            return kept;
    }
    return &no_host[host->spelling][host->integer_bits == 64];
}

/* GEMM, spelled alike. */
static tb_spelling spelling_of_gemm(tb_spelling spelling)
{
    const tb_routine routine = tb_spelling_rows[spelling].routine;
    return (tb_spelling)(spelling + (gemm_of(routine) - routine) * TB_SPELLINGS_OF_BLAS);
}

/* OpenBLAS computes GEMMT column by column, as products of a matrix and a vector, and 0.3.26 takes regular leading
 * dimensions for irregular ones. Strides of complex batches it takes for numbers of reals (0.3.34). */
static bool openblas_does_badly(tb_routine routine)
{
    const tb_routine_row *row = &tb_routine_rows[routine];
    return row->class == TB_CLASS_TRIANGLE ||
           (row->class == TB_CLASS_GEMM_BATCH_STRIDED && tb_is_complex(row->element));
}

/* BLIS 0.9 refuses batches of several groups. */
static bool blis_does_badly(tb_routine routine)
{
    return tb_routine_rows[routine].class == TB_CLASS_GEMM_BATCH;
}

static bool does_badly(tb_routine routine, const void *address)
{
    return (openblas_does_badly(routine) && tb_is_openblas(address)) ||
           (blis_does_badly(routine) && tb_is_blis(address));
}

static tb_host_blas search_everywhere(tb_spelling spelling, const void *call_site)
{
    const tb_host_blas *const origin = find_origin(spelling, call_site);
    bool lacks_it, lacks_gemm = true;
    tb_host_blas gemm = {.nested = true};
    if (tb_is_bare(spelling)) { /* a function of the program's own has nothing to do with GEMM */
        const tb_host_blas reached = tb_search_host(spelling, call_site, origin, &gemm, &lacks_it);
        if (reached.is_foreign)
            return reached;
    }
    if (tb_class_of(tb_spelling_rows[spelling].routine)->is_served_by_gemm) {
        const tb_spelling of_gemm = spelling_of_gemm(spelling);
        gemm = tb_search_host(of_gemm, call_site, find_origin(of_gemm, call_site), NULL, &lacks_gemm);
    }
    const bool has_gemm = gemm.address && !gemm.is_foreign;
    tb_host_blas found = tb_search_host(spelling, call_site, origin, has_gemm ? &gemm : NULL, &lacks_it);
    if (lacks_it && lacks_gemm)
        tb_warn_once("TILEBLAS_HOST_BLAS: no usable %s in %s", tb_spelling_rows[spelling].symbol,
                     tb_option_text(TB_OPTION_HOST_BLAS));
    const bool fits = !found.address || gemm.integer_bits == found.integer_bits;
    const tb_host_blas *kept = has_gemm && !found.nested && !gemm.nested && fits ? keep_host(&gemm) : NULL;
    if (!kept || !kept->address)
        return found;
    found.gemm = kept;
    found.prefers_gemm = found.address && tb_is_same_object(kept->address, found.address) &&
                         does_badly(tb_spelling_rows[spelling].routine, found.address);
    found.integer_bits = gemm.integer_bits;
    found.is_kept = kept->is_kept && (found.is_kept || !found.address);
    found.is_near = kept->is_near;
    return found;
}

static const tb_host_blas *any_host(tb_spelling spelling)
{
    if (tb_is_bare(spelling))
        return NULL;
    for (const host_table *table = &first_hosts; table; table = atomic_load(&table->next))
        for (size_t i = 0; i < HOSTS_A_TABLE; i++) {
            const tb_host_blas *host = &table->entries[i].host;
            if (atomic_load_explicit(&table->entries[i].state, memory_order_acquire) == FILLED &&
                host->spelling == spelling && !host->nested && host->is_kept)
                return host;
        }
    return NULL;
}

/* ---- Finding -------------------------------------------------------------------------------------------- */

/* Whether a call came over one of this thread's that may have been interrupted in the allocator, which searching needs. What a
 * host, or one that is probed, calls inside comes back over a call of ours, too; that is searched for, as it may be a
 * forwarder. */
static bool is_of_handler(void)
{
    return tb_is_in_call() && !called_host && !tb_is_probing();
}

/* The slow way, once per call site. Threads that take it at the same time find the same. */
static __attribute__((noinline, cold)) const tb_host_blas *search(tb_spelling spelling, const void *call_site)
{
    if (is_of_handler()) { /* not remembered: it may be none of the call site's */
        const tb_host_blas *any = any_host(spelling);
        if (any)
            return any;
    }
    const size_t place = tb_claim_place(call_site);
    const bool has_place = place < tb_hash_call_site(call_site) + TB_CALL_SITE_PROBES;
    const tb_host_blas *host = has_place ? NULL : any_host(spelling);
    if (!host) {
        /* A jump out of the dynamic linker would leave its lock taken. */
        tb_call call;
        sigset_t signals;
        tb_begin_call(&call);
        tb_hold_signals(&signals);
        tb_enter_linker();
        tb_forget_what_changed();
        const tb_host_blas found = search_everywhere(spelling, call_site);
        tb_leave_linker();
        tb_let_signals(&signals);
        tb_end_call(&call);
        host = keep_host(&found);
    }
    if (tb_is_nobody(host))
        tb_note_vain_search();
    if (has_place)
        atomic_store_explicit(&tb_call_sites[place].host, host, memory_order_release);
    return host;
}

const tb_host_blas *tb_find_host_blas(tb_spelling spelling, const void *call_site)
{
    const tb_host_blas *host = tb_look_up_call_site(spelling, call_site);
    if (host && tb_may_have_changed(host)) {
        tb_look_for_changes();
        host = tb_look_up_call_site(spelling, call_site);
    }
    return host ? host : search(spelling, call_site);
}

const void *tb_find_way(void)
{
    const void *look_closely = tb_callers.look_closely; /* a search may come back here, by a probe */
    const tb_caller caller = tb_take_caller();
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (host->is_foreign)
        return host->address;
    tb_note_caller(caller.spelling, caller.call_site);
    return look_closely;
}

/* ---- Reporting -------------------------------------------------------------------------------------- */

void tb_report_irregular(tb_spelling spelling, int number)
{
    /* Handlers take their number as an int or as a 64-bit integer, which this is to both. */
    const int64_t info = number;
    union {
        void *address;
        void (*cblas)(int64_t number, const char *routine, const char *format, ...);
        void (*fortran)(const char *routine, const int64_t *number, size_t length);
        void (*lapacke)(const char *routine, int64_t info);
    } handler;

    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const tb_routine_row *routine = &tb_routine_rows[row->routine];
    /* Netlib's names have six characters, or more. */
    const size_t length = strlen(routine->name) < 6 ? 6 : strlen(routine->name);
    const bool is_lapacke = row->is_cblas && tb_class_of(row->routine)->is_lapack;
    handler.address = dlsym(RTLD_DEFAULT, is_lapacke      ? "LAPACKE_xerbla"
                                          : row->is_cblas ? "cblas_xerbla"
                                                          : "xerbla_");
    if (handler.address && is_lapacke)
        handler.lapacke(routine->cblas_name, -info);
    else if (handler.address && row->is_cblas)
        handler.cblas(info, routine->cblas_name, "");
    else if (handler.address)
        handler.fortran(routine->reported, &info, length);
    else if (tb_option_value(TB_OPTION_VERBOSE))
        tb_log("%s: argument %d is irregular; C is left as it is", row->symbol, number);
}
