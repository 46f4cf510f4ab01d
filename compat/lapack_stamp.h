/* A routine of LAPACK's under every name that programs call it by, as stamp.h has BLAS's. A class's header (potrf_abi.h) includes this
 * at its end, when it has said what is particular to the class:
 *
 *   ROUTINE, NAME, REAL   by the file that includes the header
 *   C_PARAMETERS, C_ARGUMENTS, FORTRAN_PARAMETERS, FORTRAN_ARGUMENTS, LENGTH_PARAMETERS, LENGTHS
 *   NUMBER_OF_A, NUMBER_OF_B       of the matrices among Fortran's arguments; of B in solves alone
 *   NUMBER_OF_TAU                  where it is read: then it is to have no NaN either, and is looked at last
 *   MAY_BE_PROBE_C, MAY_BE_PROBE_FORTRAN    whether the call is worth asking (forwarders.h); what it reads is there
 *   EXTENTS(read)                  three numbers whose product is about as large as its multiply-adds
 *   call_c, call_fortran           put a factorization into a call of the host's routine
 *   canonicalize_c, canonicalize_fortran   make a factorization of a call: 0, or the number of an irregular argument; or TB_IS_QUERY,
 *                                  which without a host is answered
 *   MAY_BE_QUERY_C, MAY_BE_QUERY_FORTRAN    where there are queries: then the call is no probe
 *
 * The matrices are called a and b, and Fortran's info info. A call either is settled here or goes on, with its arguments untouched, to the
 * caller's own LAPACK.
 */

const tb_host_calls JOIN(JOIN(tb_, NAME), _calls) = {call_c, call_fortran};

#ifdef NUMBER_OF_B
#define LAST_MATRIX b
#else
#define LAST_MATRIX a
#define NUMBER_OF_B 0
#endif
#ifndef NUMBER_OF_TAU
#define NUMBER_OF_TAU 0
#endif

#ifndef MAY_BE_QUERY_C
#define MAY_BE_QUERY_C       false
#define MAY_BE_QUERY_FORTRAN false
#endif

/* Not a probe (forwarders.h), which has one row. */
#define MAY_BE_ORDINARY(n) ((n) > 1)

/* ---- Being called ----------------------------------------------------------------------------------------- */

/* Whether the call is known at a glance to be for the caller's own LAPACK. */
TB_INLINED bool goes_on_at_a_glance(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, const REAL *a,
                                    const REAL *b)
{
    return host->nested ||
           (host->address && tb_is_small(m, n, k, MAY_BE_ORDINARY(n)) && tb_are_the_hosts(a, b, b));
}

TB_INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, const REAL *a,
                                const REAL *b)
{
    return host->nested || (host->address && tb_stays_on_host(m, n, k, MAY_BE_ORDINARY(n), a, b, b));
}

/* number is 0 and the factorization complete, or it is that of an irregular argument, or a query. *info is what the call returns. */
TB_INLINED bool is_settled(const tb_host_blas *host, int number, tb_factor *factor, int64_t *info)
{
    factor->info = info;
    if (number == 0) {
        tb_follow();
        tb_perform(tb_task_of_factor(factor), &host->base);
    } else if (host->address)
        return false;
    else if (number != TB_IS_QUERY) {
        tb_report_irregular(host->spelling, number);
        *info = -number;
    }
    return true;
}

/* LAPACKE looks for what is no number, and says so itself. */
TB_INLINED bool settles_c(const tb_host_blas *host, int64_t *info, C_PARAMETERS)
{
    tb_factor factor = {.stored = TB_FULL};
    if (goes_on_at_once(host, EXTENTS(OF_CBLAS), a, LAST_MATRIX))
        return false;
    const int number = canonicalize_c(&factor, host, C_ARGUMENTS);
    const bool looks = number == 0 && !tb_spelling_rows[host->spelling].is_work;
    const tb_with_nan found = looks ? tb_find_nan(&factor) : TB_WITH_NO_NAN;
    static const int numbers[] = {
        [TB_A_WITH_NAN] = NUMBER_OF_A, [TB_B_WITH_NAN] = NUMBER_OF_B, [TB_TAU_WITH_NAN] = NUMBER_OF_TAU};
    if (found != TB_WITH_NO_NAN) {
        if (host->address)
            return false;
        *info = -numbers[found] - 1;
        return true;
    }
    return is_settled(host, number, &factor, info);
}

TB_INLINED bool settles_fortran(const tb_host_blas *host, int64_t *result, FORTRAN_PARAMETERS)
{
    tb_factor factor = {.stored = TB_FULL};
    if (goes_on_at_once(host, EXTENTS(OF_FORTRAN), a, LAST_MATRIX))
        return false;
    const int number = canonicalize_fortran(&factor, host, FORTRAN_ARGUMENTS);
    return is_settled(host, number, &factor, result);
}

/* Whether the only element of a matrix is a probe's, which lies on the stack. It may lie on a device. */
static bool is_probe(const REAL *a)
{
    return (tb_is_probing() || !tb_may_be_on_device(a, a, a)) && tb_may_be_lapack_probe((double)*a);
}

static __attribute__((noinline)) int64_t look_closely_c(C_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    int64_t returned = 0;
    if (MAY_BE_PROBE_C && !MAY_BE_QUERY_C && is_probe(a) && tb_notice_probe(caller.spelling, a))
        return 0;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_c(host, &returned, C_ARGUMENTS))
        return ((function){host->address}).c(C_ARGUMENTS);
    return returned;
}

/* Only the visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    int64_t result = 0;
    if (MAY_BE_PROBE_FORTRAN && !MAY_BE_QUERY_FORTRAN && is_probe(a) && tb_notice_probe(caller.spelling, a))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (settles_fortran(host, &result, FORTRAN_ARGUMENTS))
        tb_store_info(info, result, host->integer_bits);
    else
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS AND(LENGTHS));
}

#define IS_THE_HOSTS_C(host)       goes_on_at_a_glance(host, EXTENTS(OF_CBLAS), a, LAST_MATRIX)
#define IS_THE_HOSTS_FORTRAN(host) goes_on_at_a_glance(host, EXTENTS(OF_FORTRAN), a, LAST_MATRIX)
#include "compat/entries.h"

#define STAMP_ALL(ROUTINE_, name) TB_LAPACK_SPELLINGS_OF(STAMP_C, STAMP_C, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
