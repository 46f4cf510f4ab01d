/* SGEMM under every name that programs call it by, a function stamped for each spelling of sgemm_names.def. A call
 * either is settled here or goes on, with its arguments untouched, to the caller's own BLAS: small calls, which have no
 * time to lose, and irregular ones, whose diagnosis is that BLAS's own.
 *
 * Going on is the last thing that a CBLAS function does, so that it compiles to a jump: the host returns, or unwinds,
 * straight to the caller, and nothing has to be put right afterwards. What is stamped knows most small calls at a glance
 * and calls nothing for them; all else it leaves, by a jump too, to one function per calling convention.
 */
#include "compat/arguments.h"
#include "compat/forwarders.h"
#include "compat/host_blas.h"
#include "lib/call/sgemm.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
/* Inlined into each stamp: a call of its own would have to copy the stack arguments. */
#define INLINED static inline __attribute__((always_inline))

/* An integer argument as its caller meant it; the upper half of a 32-bit one is whatever was there before. */
INLINED int64_t integer_from(const tb_host_blas *host, int64_t value)
{
    return host->integer_bits == 32 ? (int32_t)value : value;
}

INLINED int64_t integer_at(const tb_host_blas *host, const void *address)
{
    int32_t narrow;
    int64_t wide;
    if (host->integer_bits == 64) {
        memcpy(&wide, address, sizeof wide);
        return wide;
    }
    memcpy(&narrow, address, sizeof narrow);
    return narrow;
}

/* Whether the call is known at a glance to be for the caller's own BLAS, before its arguments have been looked at
 * closely. */
INLINED bool goes_on_at_a_glance(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, float alpha,
                                 const float *a, const float *b, const float *c)
{
    return host->nested || (host->target.address && tb_is_small(m, n, k, alpha) && tb_are_the_hosts(a, b, c));
}

INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, const float *b, const float *c)
{
    return host->nested || (host->target.address && tb_stays_on_host(m, n, k, alpha, a, b, c));
}

/* number is 0 and the problem canonical, or it is that of an irregular argument. */
INLINED bool is_settled(const tb_host_blas *host, int number, const tb_problem *problem)
{
    if (number == 0)
        tb_sgemm(problem, &host->base);
    else if (host->target.address)
        return false;
    else
        tb_report_irregular(host->spelling, number);
    return true;
}

INLINED bool settles_cblas(const tb_host_blas *host, TB_CBLAS_SGEMM_PARAMETERS)
{
    m = integer_from(host, m);
    n = integer_from(host, n);
    k = integer_from(host, k);
    if (goes_on_at_once(host, m, n, k, alpha, a, b, c))
        return false;
    tb_problem problem = {
        .m = m,
        .n = n,
        .k = k,
        .lda = integer_from(host, lda),
        .ldb = integer_from(host, ldb),
        .ldc = integer_from(host, ldc),
        .a = a,
        .b = b,
        .c = c,
        .alpha = alpha,
        .beta = beta,
    };
    int number = tb_canonicalize_cblas(layout, transpose_a, transpose_b, &problem);
    return is_settled(host, number, &problem);
}

INLINED bool settles_fortran(const tb_host_blas *host, TB_FORTRAN_SGEMM_PARAMETERS)
{
    const int64_t m_value = integer_at(host, m), n_value = integer_at(host, n), k_value = integer_at(host, k);
    if (goes_on_at_once(host, m_value, n_value, k_value, *alpha, a, b, c))
        return false;
    tb_problem problem = {
        .m = m_value,
        .n = n_value,
        .k = k_value,
        .lda = integer_at(host, lda),
        .ldb = integer_at(host, ldb),
        .ldc = integer_at(host, ldc),
        .a = a,
        .b = b,
        .c = c,
        .alpha = *alpha,
        .beta = *beta,
    };
    int number = tb_canonicalize_fortran(*transpose_a, *transpose_b, &problem);
    return is_settled(host, number, &problem);
}

/* Who called, of a call that has not gone on at a glance. As one more argument it would keep the way there from being a
 * jump. (A signal handler that calls SGEMM just then would be taken for it; no BLAS may be called from one.) */
static _Thread_local struct {
    tb_spelling spelling;
    const void *call_site;
} caller __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void look_closely_cblas(TB_CBLAS_SGEMM_PARAMETERS)
{
    if (tb_may_be_probe(alpha, beta) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_cblas(host, TB_CBLAS_SGEMM_ARGUMENTS))
        host->target.cblas(TB_CBLAS_SGEMM_ARGUMENTS);
}

/* Only the 13 visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(TB_FORTRAN_SGEMM_PARAMETERS)
{
    if (tb_may_be_probe(*alpha, *beta) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_fortran(host, TB_FORTRAN_SGEMM_ARGUMENTS))
        host->target.fortran(TB_FORTRAN_SGEMM_ARGUMENTS, 1, 1);
}

#define TB_CBLAS_NAME(symbol, bits)                                                                          \
    EXPORTED void symbol(TB_CBLAS_SGEMM_PARAMETERS)                                                          \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, integer_from(host, m), integer_from(host, n),                  \
                                        integer_from(host, k), alpha, a, b, c)) {                            \
            host->target.cblas(TB_CBLAS_SGEMM_ARGUMENTS);                                                    \
            return;                                                                                          \
        }                                                                                                    \
        caller.spelling = TB_SPELLING_##symbol;                                                              \
        caller.call_site = call_site;                                                                        \
        look_closely_cblas(TB_CBLAS_SGEMM_ARGUMENTS);                                                        \
    }

#define TB_FORTRAN_NAME(symbol, bits)                                                                        \
    EXPORTED void symbol(TB_FORTRAN_SGEMM_PARAMETERS)                                                        \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, integer_at(host, m), integer_at(host, n), integer_at(host, k), \
                                        *alpha, a, b, c)) {                                                  \
            host->target.fortran(TB_FORTRAN_SGEMM_ARGUMENTS, 1, 1);                                          \
            return;                                                                                          \
        }                                                                                                    \
        caller.spelling = TB_SPELLING_##symbol;                                                              \
        caller.call_site = call_site;                                                                        \
        look_closely_fortran(TB_FORTRAN_SGEMM_ARGUMENTS);                                                    \
    }

#include "compat/sgemm_names.def"
