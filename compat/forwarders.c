/* Who hands calls to us, and who would hand them back; see forwarders.h. */
#include "compat/forwarders.h"

#include "compat/host_calls.h"
#include "dispatch/plan.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The definition that references of an object to a name are bound to: that which the whole process sees, or
 * else the one that the object brings. */
static void *find_binding(const tb_loaded_object *object, const char *name)
{
    void *process = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD), *own = tb_open_object(object);
    void *address = process ? dlsym(process, name) : NULL;
    return address || !own ? address : dlsym(own, name);
}

static bool lies_in_tileblas(const void *address)
{
    tb_loaded_object object;
    return tb_find_object(address, &object) && object.is_tileblas;
}

bool tb_is_bound_to_tileblas(const void *call_site, const char *name)
{
    tb_loaded_object caller;
    void *address = tb_find_object(call_site, &caller) ? find_binding(&caller, name) : NULL;
    return address && lies_in_tileblas(address);
}

int tb_find_forwarder(const void *call_site, const char *name)
{
    tb_loaded_object caller;
    if (!tb_find_object(call_site, &caller) || caller.is_tileblas)
        return -1;
    void *address = find_binding(&caller, name);
    /* Nor is it by another TileBLAS that a call has come to this one. */
    if (address && lies_in_tileblas(address) &&
        tb_find_position(address) != tb_find_position(tb_spelling_rows)) {
        void *own = tb_open_object(&caller);
        address = own ? dlsym(own, name) : NULL;
    }
    return address && tb_find_position(address) == caller.position ? caller.position : -1;
}

/* ---- Probes ------------------------------------------------------------------------------------------------ */

#define MARK "TileBLAS probe 2"

/* The matrix C of a probe, one element of whatever type, and what tells it from a program's. Every TileBLAS
 * of a process knows those of the others: the mark lies in one place for all types. */
typedef struct probe {
    union {
        float fp32[2];
        double fp64[2];
        unsigned char largest[16];
    } c;
    char mark[sizeof MARK];
    int is_cblas;
    int has_come_back; /* in the calling convention that it was made in */
    int was_passed_on; /* in the other one */
} probe;

bool tb_notice_probe(tb_spelling spelling, const void *c)
{
    probe *noticed = (probe *)c;
    if (memcmp(noticed->mark, MARK, sizeof MARK) != 0)
        return false;
    if (noticed->is_cblas == tb_spelling_rows[spelling].is_cblas)
        noticed->has_come_back = true;
    else
        noticed->was_passed_on = true;
    return true;
}

/* Multiply-adds of real numbers in the larger of two probes, for which as many zeros are enough. */
enum { LARGEST_PROBE = (int)TB_SMALL_VOLUME };

/* Bytes from one element of C to the next where a probe has more than one: the rest lies behind what tells it. */
enum { PROBE_STEP = 64 };
_Static_assert(sizeof(probe) <= PROBE_STEP, "elements of C overlap the mark");

static _Thread_local bool probing __attribute__((tls_model("initial-exec")));

bool tb_is_probing(void)
{
    return probing;
}

static void set_to_one(probe *probe, tb_element element)
{
    if (tb_real_of(element) == TB_FP64)
        probe->c.fp64[0] = 1;
    else
        probe->c.fp32[0] = 1;
}

static double value_of(const probe *probe, tb_element element)
{
    return tb_real_of(element) == TB_FP64 ? probe->c.fp64[0] : (double)probe->c.fp32[0];
}

/* C := 0 A B + beta C, or alpha C times a triangle of zeros with a diagonal of ones, with about as many multiply-adds. C is one
 * row, and one element where the routine lets k be chosen: of SYMM, HEMM, TRMM and TRSM k is n. */
static tb_product make_probe(tb_routine routine, double volume, void *c)
{
    static double zeros[LARGEST_PROBE];
    const tb_routine_row *row = &tb_routine_rows[routine];
    const int64_t elements = (int64_t)fmax(1, tb_is_complex(row->element) ? volume / 4 : volume);
    const int64_t n = (int64_t)sqrt((double)elements), ldc = PROBE_STEP / (int64_t)tb_bytes_of(row->element);
    switch (row->class) {
    case TB_CLASS_SYMM:
    case TB_CLASS_HEMM:
        return tb_symm(routine, false, TB_LOWER, 1, n, 0, zeros, n, zeros, 1, TB_PROBE_BETA, c, ldc);
    case TB_CLASS_TRMM:
    case TB_CLASS_TRSM:
        return tb_triangular(TB_MULTIPLIES, row->element, false, TB_LOWER, false, false, true, 1, n,
                             (tb_scalar){TB_PROBE_BETA, 0}, zeros, n, c, ldc);
    case TB_CLASS_RANK_2K:
    case TB_CLASS_HER2K:
        return tb_rank_2k(routine, TB_LOWER, false, 1, elements, 0, zeros, 1, zeros, 1, TB_PROBE_BETA, c, 1);
    default:
        return tb_gemm(routine, false, false, 1, 1, elements, 0, zeros, 1, zeros, elements, TB_PROBE_BETA, c,
                       1);
    }
}

/* The first element of C is 1, and others are 0. No argument is irregular, nothing trivial enough for a
 * forwarder to answer by itself, nothing read but zeros, if anything, and it is never called small. Integers
 * may be of either width. */
static bool computes_probe(tb_spelling spelling, const void *address, double volume)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const tb_element element = tb_routine_rows[row->routine].element;
    tb_product product = make_probe(row->routine, volume, NULL);
    probe *const probe = calloc((size_t)product.n, PROBE_STEP);
    if (!probe)
        return true;
    memcpy(probe->mark, MARK, sizeof MARK);
    probe->is_cblas = row->is_cblas;
    set_to_one(probe, element);
    product.c.data = &probe->c;
    probing = true;
    tb_call_routine(row->routine, row->is_cblas, (void *)address, &product);
    probing = false;
    const bool computes =
        !probe->has_come_back && (probe->was_passed_on || value_of(probe, element) == TB_PROBE_BETA);
    free(probe);
    return computes;
}

void tb_call_once(tb_spelling spelling, const void *address)
{
    computes_probe(spelling, address, 1);
}

/* Whether the object that has the address has one of these functions of its own. The list ends with NULL. */
static bool has_one_of(const void *address, const char *const *functions)
{
    tb_loaded_object object, owner;
    if (!tb_find_object(address, &object) || object.is_tileblas)
        return false;
    void *library = tb_open_object(&object);
    for (; library && *functions; functions++) {
        const void *function = dlsym(library, *functions);
        if (function && tb_find_object(function, &owner) && owner.position == object.position)
            return true;
    }
    return false;
}

bool tb_is_openblas(const void *address)
{
    static const char *const functions[] = {"openblas_get_config", "openblas_get_config64_",
                                            "scipy_openblas_get_config", "scipy_openblas_get_config64_",
                                            NULL};
    return has_one_of(address, functions);
}

static bool is_known_blas(const void *address)
{
    static const char *const functions[] = {"mkl_get_version", "bli_info_get_version_str", NULL};
    return tb_is_openblas(address) || has_one_of(address, functions);
}

/* A forwarder may choose by size: it is asked for the least product and for the largest that goes on at a
 * glance, where nothing would end a circle. For that one a BLAS wakes all of its threads, which takes 2 to 3
 * ms on a host of 16 cores: one that is known is spared it. */
static bool computes_by_itself(tb_spelling spelling, const void *address)
{
    return computes_probe(spelling, address, 1) &&
           (is_known_blas(address) || computes_probe(spelling, address, LARGEST_PROBE));
}

/* Answers that were given. Threads that ask at the same time find the same; without room it is asked again. */
enum { FREE, CLAIMED, COMPUTES, USELESS };
static struct {
    atomic_int answer;
    const void *address;
} answers[64];
enum { ANSWER_COUNT = sizeof answers / sizeof *answers };

bool tb_computes(tb_spelling spelling, const void *address)
{
    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        int answer = atomic_load_explicit(&answers[i].answer, memory_order_acquire);
        if (answer == FREE)
            break;
        if (answer != CLAIMED && answers[i].address == address)
            return answer == COMPUTES;
    }
    if (probing)
        return true;
    const bool computes = computes_by_itself(spelling, address);
    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        int answer = FREE;
        if (atomic_compare_exchange_strong(&answers[i].answer, &answer, CLAIMED)) {
            answers[i].address = address;
            atomic_store_explicit(&answers[i].answer, computes ? COMPUTES : USELESS, memory_order_release);
            break;
        }
    }
    return computes;
}

bool tb_object_computes(const tb_loaded_object *object)
{
    void *library = tb_open_object(object);
    for (tb_spelling spelling = 0; library && spelling < TB_SPELLING_COUNT; spelling++) {
        const tb_spelling_row *row = &tb_spelling_rows[spelling];
        void *address =
            tb_routine_rows[row->routine].class == TB_CLASS_GEMM ? dlsym(library, row->symbol) : NULL;
        if (address && tb_find_position(address) == object->position && !tb_computes(spelling, address))
            return false;
    }
    return true;
}
