/* A routine under every name that programs call it by: a function stamped for each spelling. A class's header (gemm_abi.h,
 * rank_k_abi.h, triangle_abi.h, symm_abi.h, triangular_abi.h) includes this at its end, when it has said what is particular
 * to the class:
 *
 *   ROUTINE, NAME, REAL   the routine in upper and in lower case, its element, or that of its parts where IS_COMPLEX is
 *                         defined too; by the file that includes the header
 *   CBLAS_PARAMETERS, CBLAS_ARGUMENTS, FORTRAN_PARAMETERS, FORTRAN_ARGUMENTS
 *   LENGTH_PARAMETERS, LENGTHS     of the strings, hidden behind Fortran's arguments
 *   EXTENTS(read)                  m, n and k of the product, each read from its argument
 *   OPERANDS                       addresses of A, B and C
 *   call_cblas, call_fortran       put a product into a call of the host's routine
 *   canonicalize_cblas, canonicalize_fortran   make a product of a call: 0, or the number of an irregular argument
 *
 * A call either is settled here or goes on, with its arguments untouched, to the caller's own BLAS: small
 * calls, which have no time to lose, and irregular ones, whose diagnosis is that BLAS's own. Going on is the
 * last thing that a CBLAS function does, so that it compiles to a jump: the host returns, or unwinds,
 * straight to the caller, and nothing has to be put right afterwards. What is stamped knows most small calls
 * at a glance and calls nothing for them; all else it leaves, by a jump too, to one function per calling
 * convention.
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

TB_INLINED bool settles_cblas(const tb_host_blas *host, CBLAS_PARAMETERS)
{
    tb_product product;
    if (goes_on_at_once(host, EXTENTS(OF_CBLAS), NUMBER_OF_CBLAS(alpha), OPERANDS))
        return false;
    const int number = canonicalize_cblas(&product, host, CBLAS_ARGUMENTS);
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

static __attribute__((noinline)) void look_closely_cblas(CBLAS_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (tb_may_be_probe(FACTORS(NUMBER_OF_CBLAS, BETA_OF_CBLAS)) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_cblas(host, CBLAS_ARGUMENTS))
        ((function){host->address}).cblas(CBLAS_ARGUMENTS);
}

/* Only the visible arguments are there for certain: many C callers pass no string lengths. */
static __attribute__((noinline)) void look_closely_fortran(FORTRAN_PARAMETERS)
{
    const tb_caller caller = tb_take_caller();
    if (tb_may_be_probe(FACTORS(NUMBER_OF_FORTRAN, BETA_OF_FORTRAN)) && tb_notice_probe(caller.spelling, c))
        return;
    const tb_host_blas *host = tb_find_host_blas(caller.spelling, caller.call_site);
    if (!settles_fortran(host, FORTRAN_ARGUMENTS))
        ((function){host->address}).fortran(FORTRAN_ARGUMENTS, LENGTHS);
}

/* Under a bare name a function of the program's own may be meant, whose arguments are not these: it is gone on to before one of
 * them is looked at, by a jump that leaves what lies on the stack. */
#define GO_ON_UNTOUCHED(symbol)                                                                              \
    if (tb_is_bare(TB_SPELLING_##symbol) && (!host || host->is_foreign)) {                                   \
        if (!host) {                                                                                         \
            tb_note_caller(TB_SPELLING_##symbol, call_site);                                                 \
            tb_callers.look_closely = (const void *)look_closely_fortran;                                    \
        }                                                                                                    \
        ((function){host ? host->address : (void *)tb_go_untouched}).untouched(FORTRAN_ARGUMENTS);           \
        return;                                                                                              \
    }

#define STAMP_CBLAS(ROUTINE_, symbol, bits)                                                                  \
    TB_EXPORTED void symbol(CBLAS_PARAMETERS)                                                                \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && goes_on_at_a_glance(host, EXTENTS(OF_CBLAS), NUMBER_OF_CBLAS(alpha), OPERANDS)) {        \
            ((function){host->address}).cblas(CBLAS_ARGUMENTS);                                              \
            return;                                                                                          \
        }                                                                                                    \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        look_closely_cblas(CBLAS_ARGUMENTS);                                                                 \
    }                                                                                                        \
    TB_ENTRY(symbol, CBLAS_PARAMETERS)

#define STAMP_FORTRAN(ROUTINE_, symbol, bits)                                                                \
    TB_EXPORTED void symbol(FORTRAN_PARAMETERS)                                                              \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        GO_ON_UNTOUCHED(symbol)                                                                              \
        if (host && goes_on_at_a_glance(host, EXTENTS(OF_FORTRAN), NUMBER_OF_FORTRAN(alpha), OPERANDS)) {    \
            ((function){host->address}).fortran(FORTRAN_ARGUMENTS, LENGTHS);                                 \
            return;                                                                                          \
        }                                                                                                    \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        look_closely_fortran(FORTRAN_ARGUMENTS);                                                             \
    }                                                                                                        \
    TB_ENTRY(symbol, FORTRAN_PARAMETERS)

#define STAMP_ALL(ROUTINE_, name) TB_SPELLINGS_OF(STAMP_CBLAS, STAMP_FORTRAN, ROUTINE_, name)
STAMP_ALL(ROUTINE, NAME)
