/* What a call finds on its caller's thread and leaves as it was: errno, and the floating-point environment, which is how
 * arithmetic rounds, which exceptions trap, and which have been raised.
 *
 * The library's own arithmetic (forecasts, clocks, the probe of a host) runs in the default environment, so that it neither
 * traps nor raises anything in the caller's. What is the caller's own runs in the caller's environment: the host's products.
 *
 * Read and written are the registers of the arithmetic that compilers use for float and double: MXCSR on x86-64, FPCR and
 * FPSR on AArch64. No other processor is served (compat/untouched.S). The functions of <fenv.h> that read x87's control word take
 * several times as long.
 */
#ifndef TB_CALLERS_STATE_H
#define TB_CALLERS_STATE_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
typedef struct tb_float_environment {
    uint32_t mxcsr;
} tb_float_environment;
#elif defined(__aarch64__)
typedef struct tb_float_environment {
    uint64_t control, raised;
} tb_float_environment;
#endif

/* A thread's. */
typedef struct tb_float_state {
    tb_float_environment callers; /* while it is set aside */
    bool is_aside;
} tb_float_state;

typedef struct tb_callers_state {
    int error;
    tb_float_state before; /* a host's call may come back into the library: the outer call's */
} tb_callers_state;

/* Around a call, or what else the library does on a thread of the program's. */
void tb_set_state_aside(tb_callers_state *state);
void tb_put_state_back(const tb_callers_state *state);

/* Instead of the latter, where the thread has left by a jump out of a signal handler: it goes on in the handler's
 * environment, as it would have without the library. */
void tb_forget_state(const tb_callers_state *state);

/* Around what is the caller's own, in between. Without a state that is set aside nothing happens. */
void tb_enter_callers_environment(void);
void tb_leave_callers_environment(void);

/* Whether the caller rounds otherwise than to nearest, or has traps enabled, as a device cannot. */
bool tb_caller_needs_host(void);

/* Which of these exceptions of <fenv.h> have been raised in the caller's environment, which is set aside; raises them there. */
int tb_raised_in_caller(int exceptions);
void tb_raise_in_caller(int exceptions);

#endif
