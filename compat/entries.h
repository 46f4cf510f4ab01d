/* The exported functions of a routine, one for each spelling. Those who include this have said
 *
 *   IS_THE_HOSTS_C(host), IS_THE_HOSTS_FORTRAN(host)   whether a call is known at a glance to be for the caller's own BLAS or LAPACK
 *   look_closely_c, look_closely_fortran               do all other calls, with the arguments as they came
 *
 * Going on is the last thing that a function does, so that it compiles to a jump: the host returns, or unwinds, straight to the
 * caller, and nothing has to be put right afterwards. What is not known at a glance leaves by a jump, too.
 */

/* The function by a name that nobody else can define (attach.c). */
#define TB_ENTRY(result, symbol, ...)                                                                        \
    extern result tb_entry_##symbol(__VA_ARGS__) __attribute__((alias(#symbol), visibility("hidden")));

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

#define STAMP_C(ROUTINE_, symbol, bits)                                                                      \
    TB_EXPORTED C_RESULT symbol(C_PARAMETERS)                                                                \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        if (host && IS_THE_HOSTS_C(host))                                                                    \
            return ((function){host->address}).c(C_ARGUMENTS);                                               \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        return look_closely_c(C_ARGUMENTS);                                                                  \
    }                                                                                                        \
    TB_ENTRY(C_RESULT, symbol, C_PARAMETERS)

#define STAMP_FORTRAN(ROUTINE_, symbol, bits)                                                                \
    TB_EXPORTED void symbol(FORTRAN_PARAMETERS)                                                              \
    {                                                                                                        \
        const void *call_site = __builtin_return_address(0);                                                 \
        const tb_host_blas *host = tb_glance_at_host_blas(TB_SPELLING_##symbol, call_site);                  \
        GO_ON_UNTOUCHED(symbol)                                                                              \
        if (host && IS_THE_HOSTS_FORTRAN(host)) {                                                            \
            ((function){host->address}).fortran(FORTRAN_ARGUMENTS AND(LENGTHS));                             \
            return;                                                                                          \
        }                                                                                                    \
        tb_note_caller(TB_SPELLING_##symbol, call_site);                                                     \
        look_closely_fortran(FORTRAN_ARGUMENTS);                                                             \
    }                                                                                                        \
    TB_ENTRY(void, symbol, FORTRAN_PARAMETERS)
