/* SGEMM under every name that programs call it by: one function body per calling convention, stamped for each
 * spelling of sgemm_names.def. A call either is settled here or goes on, with its arguments untouched, to the
 * caller's own BLAS: small calls, which have no time to lose, and irregular ones, whose diagnosis is that BLAS's
 * own.
 *
 * Going on is the last thing that a stamped CBLAS function does, so that it compiles to a jump: the host
 * returns, or unwinds, straight to the caller, and nothing has to be put right afterwards.
 */
#include "compat/arguments.h"
#include "compat/host_blas.h"
#include "lib/sgemm.h"

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

/* Whether the caller's own BLAS takes the call before its arguments have been looked at closely. */
INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, const float *b, const float *c)
{
    return host->target.address && tb_stays_on_host(m, n, k, alpha, a, b, c);
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
    if (host->nested)
        return false;
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
    if (host->nested)
        return false;
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

#define TB_CBLAS_NAME(symbol, bits)                                                                          \
    EXPORTED void symbol(TB_CBLAS_SGEMM_PARAMETERS)                                                          \
    {                                                                                                        \
        const tb_host_blas *host = tb_find_host_blas(TB_SPELLING_##symbol, __builtin_return_address(0));     \
        if (!settles_cblas(host, TB_CBLAS_SGEMM_ARGUMENTS))                                                  \
            host->target.cblas(TB_CBLAS_SGEMM_ARGUMENTS);                                                    \
    }

/* Only the 13 visible arguments are there for certain: many C callers pass no string lengths. */
#define TB_FORTRAN_NAME(symbol, bits)                                                                        \
    EXPORTED void symbol(TB_FORTRAN_SGEMM_PARAMETERS)                                                        \
    {                                                                                                        \
        const tb_host_blas *host = tb_find_host_blas(TB_SPELLING_##symbol, __builtin_return_address(0));     \
        if (!settles_fortran(host, TB_FORTRAN_SGEMM_ARGUMENTS))                                              \
            host->target.fortran(TB_FORTRAN_SGEMM_ARGUMENTS, 1, 1);                                          \
    }

#include "compat/sgemm_names.def"
