/* A routine under every name that programs call it by: a function stamped for each spelling. A class's header (gemm_abi.h,
 * rank_k_abi.h, triangle_abi.h, symm_abi.h, triangular_abi.h) includes this at its end, when it has said what is particular
 * to the class:
 *
 *   ROUTINE, NAME, REAL   the routine in upper and in lower case, its element, or that of its parts where IS_COMPLEX is
 *                         defined too; by the file that includes the header
 *   C_PARAMETERS, C_ARGUMENTS, FORTRAN_PARAMETERS, FORTRAN_ARGUMENTS
 *   LENGTH_PARAMETERS, LENGTHS     of the strings, hidden behind Fortran's arguments
 *   EXTENTS(read)                  m, n and k of the product, each read from its argument
 *   OPERANDS                       addresses of A, B and C
 *   call_c, call_fortran           put a product into a call of the host's routine
 *   canonicalize_c, canonicalize_fortran   make a product of a call: 0, or the number of an irregular argument
 *
 * A call either is settled here or goes on, with its arguments untouched, to the caller's own BLAS: small
 * calls, which have no time to lose, and irregular ones, whose diagnosis is that BLAS's own. What is stamped
 * (entries.h) knows most small calls at a glance and calls nothing for them; all else it leaves to one function
 * per calling convention.
 */

/* The k of a real product that has as many multiply-adds. An irregular one may pass what an integer holds. */
#define WITH_PARTS(k) (int64_t)(MULTIPLY_ADDS * (uint64_t)(k))

/* Whether a small call may go on unlooked at: not with an alpha of zero, nor one that may be a probe's. */
#ifdef IN_PLACE
#define HAS_ORDINARY(alpha) (!tb_is_zero(alpha) && !tb_may_be_probe((tb_scalar){0, 0}, alpha))
#else
#define HAS_ORDINARY(alpha) (!tb_is_zero(alpha))
#endif

TB_STAMP_HOST_CALLS(JOIN(JOIN(tb_, NAME), _calls))

/* ---- Being called ----------------------------------------------------------------------------------------- */

/* Whether the call is known at a glance to be for the caller's own BLAS, before its arguments have been looked at
 * closely. */
TB_INLINED bool goes_on_at_a_glance(const tb_host_blas *host, int64_t m, int64_t n, int64_t k,
                                    tb_scalar alpha, const REAL *a, const REAL *b, const REAL *c)
{
    return host->nested || (host->address && tb_is_small(m, n, WITH_PARTS(k), HAS_ORDINARY(alpha)) &&
                            tb_are_the_hosts(a, b, c));
}

TB_INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, tb_scalar alpha,
                                const REAL *a, const REAL *b, const REAL *c)
{
    return host->nested ||
           (host->address && tb_stays_on_host(m, n, WITH_PARTS(k), HAS_ORDINARY(alpha), a, b, c));
}

/* number is 0 and the product complete, or it is that of an irregular argument. */
TB_INLINED bool is_settled(const tb_host_blas *host, int number, const tb_product *product)
{
    if (number == 0) {
        tb_follow();
        tb_perform(tb_task_of_product(product), &host->base);
    } else if (host->address)
        return false;
    else
        tb_report_irregular(host->spelling, number);
    return true;
}

TB_INLINED bool settles_c(const tb_host_blas *host, C_PARAMETERS)
{
    tb_product product;
    if (goes_on_at_once(host, EXTENTS(OF_CBLAS), NUMBER_OF_CBLAS(alpha), OPERANDS))
        return false;
    const int number = canonicalize_c(&product, host, C_ARGUMENTS);
    return is_settled(host, number, &product);
}

TB_INLINED bool settles_fortran(const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    tb_product product;
    if (goes_on_at_once(host, EXTENTS(OF_FORTRAN), NUMBER_OF_FORTRAN(alpha), OPERANDS))
        return false;
    const int number = canonicalize_fortran(&product, host, FORTRAN_ARGUMENTS);
    return is_settled(host, number, &product);
}

static __attribute__((noinline)) void look_closely_c(C_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (tb_may_be_probe(FACTORS(NUMBER_OF_CBLAS, BETA_OF_CBLAS)) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_c(host, C_ARGUMENTS))
        ((function){host->address}).c(C_ARGUMENTS);
}

/* Only the visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (tb_may_be_probe(FACTORS(NUMBER_OF_FORTRAN, BETA_OF_FORTRAN)) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_fortran(host, FORTRAN_ARGUMENTS))
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS AND(LENGTHS));
}

#define IS_THE_HOSTS_C(host) goes_on_at_a_glance(host, EXTENTS(OF_CBLAS), NUMBER_OF_CBLAS(alpha), OPERANDS)
#define IS_THE_HOSTS_FORTRAN(host)                                                                           \
    goes_on_at_a_glance(host, EXTENTS(OF_FORTRAN), NUMBER_OF_FORTRAN(alpha), OPERANDS)
#include "compat/entries.h"

#define STAMP_ALL(ROUTINE_, name) TB_SPELLINGS_OF(STAMP_C, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
