/* A routine of LAPACK's under every name that programs call it by, as stamp.h has BLAS's. A class's header (potrf_abi.h) includes this
 * at its end, when it has said what is particular to the class:
 *
 *   ROUTINE, NAME, REAL   by the file that includes the header
 *   LAPACKE_PARAMETERS, LAPACKE_ARGUMENTS, FORTRAN_PARAMETERS, FORTRAN_ARGUMENTS, LENGTH_PARAMETERS, LENGTHS
 *   NUMBER_OF_A                    of the matrix among Fortran's arguments
 *   MAY_BE_PROBE_LAPACKE, MAY_BE_PROBE_FORTRAN    whether the call is worth asking (forwarders.h); what it reads is there
 *   EXTENTS(read)                  three numbers whose product is about as large as its multiply-adds
 *   call_lapacke, call_fortran     put a factorization into a call of the host's routine
 *   canonicalize_lapacke, canonicalize_fortran   make a factorization of a call: 0, or the number of an irregular argument
 *
 * The matrix is called a, and Fortran's info info. A call either is settled here or goes on, with its arguments untouched, to the
 * caller's own LAPACK.
 */

const tb_host_calls JOIN(JOIN(tb_, NAME), _calls) = {call_lapacke, call_fortran};

/* Not a probe (forwarders.h), which has one row. */
#define MAY_BE_ORDINARY(n) ((n) > 1)

/* ---- Being called ----------------------------------------------------------------------------------------- */

/* Whether the call is known at a glance to be for the caller's own LAPACK. */
TB_INLINED bool goes_on_at_a_glance(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, const REAL *a)
{
    return host->nested ||
           (host->address && tb_is_small(m, n, k, MAY_BE_ORDINARY(n)) && tb_are_the_hosts(a, a, a));
}

TB_INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, const REAL *a)
{
    return host->nested || (host->address && tb_stays_on_host(m, n, k, MAY_BE_ORDINARY(n), a, a, a));
}

/* number is 0 and the factorization complete, or it is that of an irregular argument. *info is what the call returns. */
TB_INLINED bool is_settled(const tb_host_blas *host, int number, tb_factor *factor, int64_t *info)
{
    factor->info = info;
    if (number == 0) {
        tb_follow();
        tb_perform(tb_task_of_factor(factor), &host->base);
    } else if (host->address)
        return false;
    else {
        tb_report_irregular(host->spelling, number);
        *info = -number;
    }
    return true;
}

/* LAPACKE looks for what is no number, and says so itself. */
TB_INLINED bool settles_lapacke(const tb_host_blas *host, int64_t *info, LAPACKE_PARAMETERS)
{
    tb_factor factor = {.stored = TB_FULL};
    if (goes_on_at_once(host, EXTENTS(OF_CBLAS), a))
        return false;
    const int number = canonicalize_lapacke(&factor, host, LAPACKE_ARGUMENTS);
    if (number == 0 && !tb_spelling_rows[host->spelling].is_work && tb_has_nan(&factor)) {
        if (host->address)
            return false;
        *info = -NUMBER_OF_A - 1;
        return true;
    }
    return is_settled(host, number, &factor, info);
}

TB_INLINED bool settles_fortran(const tb_host_blas *host, int64_t *result, FORTRAN_PARAMETERS)
{
    tb_factor factor = {.stored = TB_FULL};
    if (goes_on_at_once(host, EXTENTS(OF_FORTRAN), a))
        return false;
    const int number = canonicalize_fortran(&factor, host, FORTRAN_ARGUMENTS);
    return is_settled(host, number, &factor, result);
}

/* Whether the only element of a matrix is a probe's, which lies on the stack. It may lie on a device. */
static bool is_probe(const REAL *a)
{
    return (tb_is_probing() || !tb_may_be_on_device(a, a, a)) && tb_may_be_lapack_probe((double)*a);
}

static __attribute__((noinline)) int64_t look_closely_lapacke(LAPACKE_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    int64_t returned = 0;
    if (MAY_BE_PROBE_LAPACKE && is_probe(a) && tb_notice_probe(caller.spelling, a))
        return 0;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_lapacke(host, &returned, LAPACKE_ARGUMENTS))
        return ((function){host->address}).lapacke(LAPACKE_ARGUMENTS);
    return returned;
}

/* Only the visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    int64_t result = 0;
    if (MAY_BE_PROBE_FORTRAN && is_probe(a) && tb_notice_probe(caller.spelling, a))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (settles_fortran(host, &result, FORTRAN_ARGUMENTS))
        tb_store_info(info, result, host->integer_bits);
    else
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS, LENGTHS);
}

/* As in stamp.h. */
#define GO_ON_UNTOUCHED(symbol)                                                                              \
    if (tb_is_bare(TB_SPELLING_##symbol) && (!host || host->is_foreign)) {                                   \
        if (!host) {                                                                                         \
            tb_note_caller(TB_SPELLING_##symbol, call_site);                                                 \
            tb_callers.look_closely = (const void *)look_closely_fortran;                                    \
        }                                                                                                    \
        ((function){host ? host->address : (void *)tb_go_untouched}).untouched(FORTRAN_ARGUMENTS);           \
        return;                                                                                              \
    }

#define STAMP_LAPACKE(ROUTINE_, symbol, bits)                                                                \
    TB_EXPORTED int64_t symbol(LAPACKE_PARAMETERS)                                                           \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, EXTENTS(OF_CBLAS), a))                                         \
            return ((function){host->address}).lapacke(LAPACKE_ARGUMENTS);                                   \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        return look_closely_lapacke(LAPACKE_ARGUMENTS);                                                      \
    }                                                                                                        \
    TB_ENTRY(int64_t, symbol, LAPACKE_PARAMETERS)

#define STAMP_FORTRAN(ROUTINE_, symbol, bits)                                                                \
    TB_EXPORTED void symbol(FORTRAN_PARAMETERS)                                                              \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        GO_ON_UNTOUCHED(symbol)                                                                              \
        if (host && goes_on_at_a_glance(host, EXTENTS(OF_FORTRAN), a)) {                                     \
            ((function){host->address}).fortran(FORTRAN_ARGUMENTS, LENGTHS);                                 \
            return;                                                                                          \
        }                                                                                                    \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        look_closely_fortran(FORTRAN_ARGUMENTS);                                                             \
    }                                                                                                        \
    TB_ENTRY(void, symbol, FORTRAN_PARAMETERS)

#define STAMP_ALL(ROUTINE_, name)                                                                            \
    TB_LAPACK_SPELLINGS_OF(STAMP_LAPACKE, STAMP_LAPACKE, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
