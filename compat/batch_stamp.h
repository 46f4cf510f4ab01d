/* A batch's routine under every name that programs call it by. gemm_batch_abi.h and gemm_batch_strided_abi.h include this at
 * their end, when they have defined, besides what class.h wants,
 *
 *   MAY_BE_PROBE_C, MAY_BE_PROBE_FORTRAN      whether the call is worth asking (forwarders.h), and its C
 *   PROBED
 *   look_at_c, look_at_fortran                what the call's groups are together
 *   multiply_c, multiply_fortran              compute them, one after the other
 *
 * As with single products (stamp.h), a call either is settled here or goes on untouched. None is known at a glance to be small:
 * its sizes lie in memory, and there is more than one product to pay for a look.
 */

TB_STAMP_HOST_CALLS(JOIN(JOIN(tb_, NAME), _calls))

/* Whether the caller's own BLAS is to be given the call as it came. */
TB_INLINED bool goes_on(const tb_host_blas *host, const tb_batch_call *call)
{
    if (host->address && (call->number != 0 || (tb_goes_home(call) && !host->prefers_gemm)))
        return true;
    if (call->number != 0)
        tb_report_irregular(host->spelling, call->number);
    return false;
}

static void settle_c(const tb_host_blas *host, C_PARAMETERS)
{
    tb_batch_call call = {.at_home = true, .multiplies = true};
    if (!host->nested)
        look_at_c(&call, host, C_ARGUMENTS);
    if (host->nested || goes_on(host, &call))
        ((function){host->address}).c(C_ARGUMENTS);
    else if (call.number == 0) {
        tb_follow();
        multiply_c(host, C_ARGUMENTS);
    }
}

static void settle_fortran(const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    tb_batch_call call = {.at_home = true, .multiplies = true};
    if (!host->nested)
        look_at_fortran(&call, host, FORTRAN_ARGUMENTS);
    if (host->nested || goes_on(host, &call))
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS AND(LENGTHS));
    else if (call.number == 0) {
        tb_follow();
        multiply_fortran(host, FORTRAN_ARGUMENTS);
    }
}

static __attribute__((noinline)) void look_closely_c(C_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (MAY_BE_PROBE_C && tb_notice_probe(caller.spelling, PROBED))
        return;
    settle_c(tb_find_host_blas(caller.spelling, caller.call_site), C_ARGUMENTS);
}

/* Only the visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (MAY_BE_PROBE_FORTRAN && tb_notice_probe(caller.spelling, PROBED))
        return;
    settle_fortran(tb_find_host_blas(caller.spelling, caller.call_site), FORTRAN_ARGUMENTS);
}

#define IS_THE_HOSTS_C(host)       false
#define IS_THE_HOSTS_FORTRAN(host) false
#include "compat/entries.h"

#define STAMP_ALL(ROUTINE_, name) TB_SPELLINGS_OF(STAMP_C, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
