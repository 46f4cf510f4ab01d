/* GEMM under every name that programs call it by, a function stamped for each spelling of a routine's name:
 * ROUTINE in upper case, NAME in lower case, REAL its element. Included once for each routine by a file of
 * its own.
 *
 * A call either is settled here or goes on, with its arguments untouched, to the caller's own BLAS: small
 * calls, which have no time to lose, and irregular ones, whose diagnosis is that BLAS's own. Going on is the
 * last thing that a CBLAS function does, so that it compiles to a jump: the host returns, or unwinds,
 * straight to the caller, and nothing has to be put right afterwards. What is stamped knows most small calls
 * at a glance and calls nothing for them; all else it leaves, by a jump too, to one function per calling
 * convention.
 */
#include "compat/arguments.h"
#include "compat/forwarders.h"
#include "compat/host_blas.h"
#include "compat/host_calls.h"
#include "compat/integer_arguments.h"
#include "lib/call/multiply.h"

#define JOIN_(x, y) x##y
#define JOIN(x, y)  JOIN_(x, y)
#define TB_ROUTINE_ JOIN(TB_, ROUTINE)

#define CBLAS_PARAMETERS                                                                                     \
    int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, REAL alpha,               \
        const REAL *a, int64_t lda, const REAL *b, int64_t ldb, REAL beta, REAL *c, int64_t ldc
#define CBLAS_ARGUMENTS layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *transpose_a, const char *transpose_b, const void *m, const void *n, const void *k,           \
        const REAL *alpha, const REAL *a, const void *lda, const REAL *b, const void *ldb, const REAL *beta, \
        REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

typedef void cblas_function(CBLAS_PARAMETERS);
/* A Fortran routine may expect the lengths of its two strings behind its arguments. */
typedef void fortran_function(FORTRAN_PARAMETERS, size_t length_a, size_t length_b);

typedef union function {
    void *address;
    cblas_function *cblas;
    fortran_function *fortran;
} function;

/* ---- Calling the host ------------------------------------------------------------------------------------- */

static void call_cblas(void *address, const tb_product *p)
{
    const function host = {address};
    host.cblas(TB_COLUMN_MAJOR, TB_NO_TRANSPOSE + p->a.transposed, TB_NO_TRANSPOSE + p->b.transposed, p->m,
               p->n, p->k, (REAL)p->alpha.re, p->a.data, p->a.ld, p->b.data, p->b.ld, (REAL)p->beta.re,
               p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha = (REAL)p->alpha.re, beta = (REAL)p->beta.re;
    host.fortran(p->a.transposed ? "T" : "N", p->b.transposed ? "T" : "N", &p->m, &p->n, &p->k, &alpha,
                 p->a.data, &p->a.ld, p->b.data, &p->b.ld, &beta, p->c.data, &p->c.ld, 1, 1);
}

const tb_host_calls JOIN(JOIN(tb_, NAME), _calls) = {call_cblas, call_fortran};

/* ---- Being called ----------------------------------------------------------------------------------------- */

/* Whether the call is known at a glance to be for the caller's own BLAS, before its arguments have been looked at
 * closely. */
TB_INLINED bool goes_on_at_a_glance(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, REAL alpha,
                                    const REAL *a, const REAL *b, const REAL *c)
{
    return host->nested || (host->address && tb_is_small(m, n, k, alpha != 0) && tb_are_the_hosts(a, b, c));
}

TB_INLINED bool goes_on_at_once(const tb_host_blas *host, int64_t m, int64_t n, int64_t k, REAL alpha,
                                const REAL *a, const REAL *b, const REAL *c)
{
    return host->nested || (host->address && tb_stays_on_host(m, n, k, alpha != 0, a, b, c));
}

/* number is 0 and the product complete, or it is that of an irregular argument. */
TB_INLINED bool is_settled(const tb_host_blas *host, int number, const tb_product *product)
{
    if (number == 0)
        tb_multiply(product, &host->base);
    else if (host->address)
        return false;
    else
        tb_report_irregular(host->spelling, number);
    return true;
}

TB_INLINED bool settles_cblas(const tb_host_blas *host, CBLAS_PARAMETERS)
{
    m = tb_integer_from(host, m);
    n = tb_integer_from(host, n);
    k = tb_integer_from(host, k);
    if (goes_on_at_once(host, m, n, k, alpha, a, b, c))
        return false;
    tb_product product;
    const tb_gemm_arguments given = {TB_ROUTINE_,
                                     m,
                                     n,
                                     k,
                                     (double)alpha,
                                     a,
                                     tb_integer_from(host, lda),
                                     b,
                                     tb_integer_from(host, ldb),
                                     (double)beta,
                                     c,
                                     tb_integer_from(host, ldc)};
    int number = tb_canonicalize_cblas(layout, transpose_a, transpose_b, &given, &product);
    return is_settled(host, number, &product);
}

TB_INLINED bool settles_fortran(const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const int64_t m_value = tb_integer_at(host, m), n_value = tb_integer_at(host, n),
                  k_value = tb_integer_at(host, k);
    if (goes_on_at_once(host, m_value, n_value, k_value, *alpha, a, b, c))
        return false;
    tb_product product;
    const tb_gemm_arguments given = {TB_ROUTINE_,
                                     m_value,
                                     n_value,
                                     k_value,
                                     (double)*alpha,
                                     a,
                                     tb_integer_at(host, lda),
                                     b,
                                     tb_integer_at(host, ldb),
                                     (double)*beta,
                                     c,
                                     tb_integer_at(host, ldc)};
    int number = tb_canonicalize_fortran(*transpose_a, *transpose_b, &given, &product);
    return is_settled(host, number, &product);
}

/* Who called, of a call that has not gone on at a glance. As one more argument it would keep the way there
 * from being a jump. (A signal handler that calls GEMM just then would be taken for it; no BLAS may be called
 * from one.) */
static _Thread_local struct {
    tb_spelling spelling;
    const void *call_site;
} caller __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void look_closely_cblas(CBLAS_PARAMETERS)
{
    if (tb_may_be_probe((double)alpha, (double)beta) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_cblas(host, CBLAS_ARGUMENTS))
        ((function){host->address}).cblas(CBLAS_ARGUMENTS);
}

/* Only the 13 visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    if (tb_may_be_probe((double)*alpha, (double)*beta) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_fortran(host, FORTRAN_ARGUMENTS))
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS, 1, 1);
}

#define STAMP_CBLAS(ROUTINE_, symbol, bits)                                                                  \
    TB_EXPORTED void symbol(CBLAS_PARAMETERS)                                                                \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, tb_integer_from(host, m), tb_integer_from(host, n),            \
                                        tb_integer_from(host, k), alpha, a, b, c)) {                         \
            ((function){host->address}).cblas(CBLAS_ARGUMENTS);                                              \
            return;                                                                                          \
        }                                                                                                    \
        caller.spelling = TB_SPELLING_##symbol;                                                              \
        caller.call_site = call_site;                                                                        \
        look_closely_cblas(CBLAS_ARGUMENTS);                                                                 \
    }

#define STAMP_FORTRAN(ROUTINE_, symbol, bits)                                                                \
    TB_EXPORTED void symbol(FORTRAN_PARAMETERS)                                                              \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, tb_integer_at(host, m), tb_integer_at(host, n),                \
                                        tb_integer_at(host, k), *alpha, a, b, c)) {                          \
            ((function){host->address}).fortran(FORTRAN_ARGUMENTS, 1, 1);                                    \
            return;                                                                                          \
        }                                                                                                    \
        caller.spelling = TB_SPELLING_##symbol;                                                              \
        caller.call_site = call_site;                                                                        \
        look_closely_fortran(FORTRAN_ARGUMENTS);                                                             \
    }

#define STAMP_ALL(ROUTINE_, name) TB_SPELLINGS_OF(STAMP_CBLAS, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
