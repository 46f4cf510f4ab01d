/* Who hands calls to us, and who would hand them back; see forwarders.h. */
#include "compat/forwarders.h"

#include "compat/definitions.h"
#include "compat/host_calls.h"
#include "dispatch/plan.h"
#include "words/arguments.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What the whole process sees under a name. */
static void *find_in_program(const char *name)
{
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *address = program ? dlsym(program, name) : NULL;
    if (program)
        dlclose(program);
    return address;
}

/* The definition that references of a caller's object to a name are bound to: that which the whole process sees, or
 * else the one that the object brings. */
static void *find_binding(const void *call_site, const char *name)
{
    void *address = find_in_program(name);
    return address ? address : tb_first_definition(call_site, name).address;
}

static bool lies_in_tileblas(const void *address)
{
    tb_loaded_object object;
    return tb_find_object(address, &object) && object.is_tileblas;
}

bool tb_is_bound_to_tileblas(const void *call_site, const char *name)
{
    void *address = tb_find_position(call_site) >= 0 ? find_binding(call_site, name) : NULL;
    return address && lies_in_tileblas(address);
}

int tb_find_forwarder(const void *call_site, const char *name)
{
    tb_loaded_object caller;
    if (!tb_find_object(call_site, &caller) || caller.is_tileblas)
        return -1;
    void *address = find_binding(call_site, name);
    /* Nor is it by another TileBLAS that a call has come to this one. */
    if (address && lies_in_tileblas(address) && !tb_is_same_object(address, tb_spelling_rows))
        address = tb_first_definition(call_site, name).address;
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
    int convention;
    int has_come_back; /* in the calling convention that it was made in */
    int was_passed_on; /* in another one */
} probe;

/* CBLAS calls Fortran inside, and LAPACKE its _work functions, which call Fortran. LAPACK's drivers, as POSV is one, call what is
 * another routine. */
static int convention_of(tb_spelling spelling)
{
    enum { CONVENTIONS = 3 };
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const tb_routine_class class = tb_routine_rows[row->routine].class;
    return row->is_cblas + row->is_work + (tb_class_rows[class].is_lapack ? CONVENTIONS * (int)class : 0);
}

bool tb_notice_probe(tb_spelling spelling, const void *c)
{
    probe *noticed = (probe *)c;
    if (memcmp(noticed->mark, MARK, sizeof MARK) != 0)
        return false;
    if (noticed->convention == convention_of(spelling))
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

static void set_value(probe *probe, tb_element element, double value)
{
    if (tb_real_of(element) == TB_FP64)
        probe->c.fp64[0] = value;
    else
        probe->c.fp32[0] = (float)value;
}

static double value_of(const probe *probe, tb_element element)
{
    return tb_real_of(element) == TB_FP64 ? probe->c.fp64[0] : (double)probe->c.fp32[0];
}

/* C := 0 A B + beta C, or alpha C times a triangle of zeros with a diagonal of ones, with about as many multiply-adds. C is one
 * row, and one element where the routine lets k be chosen: where A is square k is n. */
static tb_product make_probe(tb_routine routine, double volume, void *c)
{
    static double zeros[LARGEST_PROBE];
    const tb_class_row *class = tb_class_of(routine);
    const tb_element element = tb_routine_rows[routine].element;
    const bool in_place = class->in_place != TB_OUT_OF_PLACE, is_square = class->is_symmetric || in_place;
    const int64_t elements = (int64_t)fmax(1, tb_is_complex(element) ? volume / 4 : volume);
    const int64_t n = is_square ? (int64_t)sqrt((double)elements) : 1;
    return tb_product_of(&(tb_arguments){.routine = routine,
                                         .right = true,
                                         .triangle = TB_LOWER,
                                         .unit_diagonal = true,
                                         .m = 1,
                                         .n = n,
                                         .k = elements,
                                         .alpha = {in_place ? TB_PROBE_BETA : 0, 0},
                                         .a = zeros,
                                         .lda = n,
                                         .b = zeros,
                                         .ldb = is_square || class->turns_b ? 1 : elements,
                                         .beta = {TB_PROBE_BETA, 0},
                                         .c = c,
                                         .ldc = is_square ? PROBE_STEP / (int64_t)tb_bytes_of(element) : 1});
}

/* The first element of C is 1, and others are 0; or it is all of a matrix that is factored, with or without pivoting, or by which one number
 * is divided. No argument is irregular, nothing trivial enough for a forwarder to answer by itself, nothing read but zeros, if anything, and it is never called small. Integers
 * may be of either width. */
static bool computes_probe(tb_spelling spelling, const void *address, double volume)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const tb_element element = tb_routine_rows[row->routine].element;
    const bool factors = tb_class_of(row->routine)->is_lapack;
    tb_product product = factors ? (tb_product){.n = 1} : make_probe(row->routine, volume, NULL);
    struct probe own = {
        .convention =
            0}; /* of LAPACK's, which looks at its numbers: on the stack these are surely the host's */
    struct probe *const probe = factors ? &own : calloc((size_t)product.n, PROBE_STEP);
    int64_t info, pivot = tb_class_of(row->routine)->makes_factors ? 0 : 1;
    const int64_t pivot_before = pivot;
    double solved[2], unsolved[2]; /* a number of any element, neither 0 nor 1 */
    if (!probe)
        return true;
    memset(unsolved, 0x3f, sizeof unsolved);
    memcpy(solved, unsolved, sizeof solved);
    memcpy(probe->mark, MARK, sizeof MARK);
    probe->convention = convention_of(spelling);
    set_value(probe, element, factors ? TB_PROBE_BETA : 1);
    product.c.data = &probe->c;
    tb_factor factor = tb_potrf(row->routine, TB_LOWER, 1, &probe->c, 1, &info);
    factor.pivots.data = &pivot;
    factor.reflectors.tau = solved; /* of a number that is real 0 */
    factor.reflectors.count = 1;
    factor.b = (tb_matrix){.data = solved, .rows = 1, .columns = 1, .ld = 1, .element = element};
    const double before = value_of(probe, element);
    probing = true;
    tb_call_routine(row->routine, row->is_cblas, (void *)address,
                    factors ? tb_task_of_factor(&factor) : tb_task_of_product(&product));
    probing = false;
    const bool computes =
        !probe->has_come_back && (probe->was_passed_on || value_of(probe, element) != before ||
                                  pivot != pivot_before || memcmp(solved, unsolved, sizeof solved) != 0);
    if (!factors)
        free(probe);
    return computes;
}

void tb_call_once(tb_spelling spelling, const void *address)
{
    computes_probe(spelling, address, 1);
}

bool tb_is_openblas(const void *address)
{
    static const char *const functions[] = {"openblas_get_config", "openblas_get_config64_",
                                            "scipy_openblas_get_config", "scipy_openblas_get_config64_",
                                            NULL};
    return tb_count_definitions(address, functions) > 0;
}

bool tb_is_blis(const void *address)
{
    static const char *const functions[] = {"bli_info_get_version_str", NULL};
    return tb_count_definitions(address, functions) > 0;
}

static bool is_known_blas(const void *address)
{
    static const char *const functions[] = {"mkl_get_version", NULL};
    return tb_is_openblas(address) || tb_is_blis(address) || tb_count_definitions(address, functions) > 0;
}

/* Among names that nobody but a BLAS has: C's wrappers of BLAS are many, and without underscores. */
static bool is_in_company(tb_spelling spelling, const void *address)
{
    static const char *const company[] = {
        "sgemm_",      "dgemm_",      "ssyrk_",      "dsyrk_",       "strsm_",       "dtrsm_",
        "sgemv_",      "dgemv_",      "sger_",       "dger_",        "saxpy_",       "daxpy_",
        "sscal_",      "dscal_",      "sdot_",       "ddot_",        "snrm2_",       "dnrm2_",
        "isamax_",     "idamax_",     "zgemm_",      "cblas_sgemm",  "cblas_dgemm",  "cblas_ssyrk",
        "cblas_dsyrk", "cblas_strsm", "cblas_dtrsm", "cblas_sgemv",  "cblas_dgemv",  "cblas_sger",
        "cblas_dger",  "cblas_saxpy", "cblas_daxpy", "cblas_sscal",  "cblas_dscal",  "cblas_sdot",
        "cblas_ddot",  "cblas_snrm2", "cblas_dnrm2", "cblas_isamax", "cblas_idamax", NULL};
    enum { DOZEN = 12 };
    const tb_spelling cblas = tb_first_spelling(tb_spelling_rows[spelling].routine);
    const char *const same[] = {tb_spelling_rows[cblas].symbol, NULL};
    return tb_count_definitions(address, same) > 0 || tb_count_definitions(address, company) >= DOZEN;
}

bool tb_is_foreign(tb_spelling spelling, const void *address)
{
    return tb_is_bare(spelling) && !is_in_company(spelling, address);
}

/* A forwarder may choose by size: it is asked for the least product and for the largest that goes on at a
 * glance, where nothing would end a circle. For that one a BLAS wakes all of its threads, which takes 2 to 3
 * ms on a host of 16 cores: one that is known is spared it. */
static bool computes_by_itself(tb_spelling spelling, const void *address)
{
    return computes_probe(spelling, address, 1) &&
           (is_known_blas(address) || computes_probe(spelling, address, LARGEST_PROBE));
}

/* Answers that were given, while the object is kept or none has been unloaded since. Threads that ask at the same time find the
 * same; without room it is asked again. A state is one of these and, times four, the linker's count of unloaded objects. */
enum { FREE, CLAIMED, COMPUTES, USELESS };
static struct {
    _Atomic(uint64_t) state;
    const void *address;
} answers[64];
enum { ANSWER_COUNT = sizeof answers / sizeof *answers };

static void keep_answer(const void *address, uint64_t answer, uint64_t unloaded)
{
    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        uint64_t state = atomic_load(&answers[i].state);
        const bool is_old = state % 4 != CLAIMED && state / 4 != unloaded;
        if ((state == FREE || is_old) && atomic_compare_exchange_strong(&answers[i].state, &state, CLAIMED)) {
            answers[i].address = address;
            atomic_store_explicit(&answers[i].state, 4 * unloaded + answer, memory_order_release);
            break;
        }
    }
}

bool tb_computes(tb_spelling spelling, const void *address)
{
    const uint64_t unloaded = tb_count_changes().unloaded;
    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        const uint64_t state = atomic_load_explicit(&answers[i].state, memory_order_acquire);
        if (state % 4 >= COMPUTES && answers[i].address == address &&
            (state / 4 == unloaded || tb_is_kept(address)))
            return state % 4 == COMPUTES;
    }
    if (probing)
        return true;
    const bool computes = computes_by_itself(spelling, address);
    keep_answer(address, computes ? COMPUTES : USELESS, unloaded);
    return computes;
}

bool tb_object_computes(const void *of_object)
{
    for (tb_spelling spelling = 0; spelling < TB_SPELLING_COUNT; spelling++) {
        const tb_spelling_row *row = &tb_spelling_rows[spelling];
        const void *address = tb_routine_rows[row->routine].class == TB_CLASS_GEMM
                                  ? tb_own_definition(of_object, row->symbol)
                                  : NULL;
        if (address && !tb_is_foreign(spelling, address) && !tb_computes(spelling, address))
            return false;
    }
    return true;
}
