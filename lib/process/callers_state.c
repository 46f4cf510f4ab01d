#include "lib/process/callers_state.h"

#include <errno.h>

static _Thread_local tb_float_state floats __attribute__((tls_model("initial-exec")));

/* ---- Registers ---------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

/* Every exception masked, none raised, to nearest. */
#define MXCSR_DEFAULT 0x1f80U
#define MXCSR_MASKS   0x1f80U
#define MXCSR_ROUNDS  0x6000U /* 0: to nearest */

static void read_environment(tb_float_environment *environment)
{
    environment->mxcsr = __builtin_ia32_stmxcsr();
}

static void write_environment(const tb_float_environment *environment)
{
    __builtin_ia32_ldmxcsr(environment->mxcsr);
}

static void write_default(void)
{
    __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
}

static bool needs_host(const tb_float_environment *environment)
{
    return (environment->mxcsr & (MXCSR_MASKS | MXCSR_ROUNDS)) != MXCSR_MASKS;
}

/* The constants of <fenv.h> are the register's bits. */
static int raised(const tb_float_environment *environment, int exceptions)
{
    return (int)environment->mxcsr & exceptions;
}

static void raise_in(tb_float_environment *environment, int exceptions)
{
    environment->mxcsr |= (uint32_t)exceptions;
}

#elif defined(__aarch64__)

#define FPCR_TRAPS  0x9f00U   /* 0: masked */
#define FPCR_ROUNDS 0xc00000U /* 0: to nearest */

static void read_environment(tb_float_environment *environment)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(environment->control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(environment->raised));
}

static void write_environment(const tb_float_environment *environment)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(environment->control));
    __asm__ volatile("msr fpsr, %0" : : "r"(environment->raised));
}

static void write_default(void)
{
    write_environment(&(tb_float_environment){0});
}

static bool needs_host(const tb_float_environment *environment)
{
    return (environment->control & (FPCR_TRAPS | FPCR_ROUNDS)) != 0;
}

/* The constants of <fenv.h> are the register's bits. */
static int raised(const tb_float_environment *environment, int exceptions)
{
    return (int)environment->raised & exceptions;
}

static void raise_in(tb_float_environment *environment, int exceptions)
{
    environment->raised |= (uint64_t)exceptions;
}

#endif

/* ---- The caller's state ------------------------------------------------------------------------------------- */

void tb_set_state_aside(tb_callers_state *state)
{
    state->error = errno;
    state->before = floats;
    read_environment(&floats.callers);
    floats.is_aside = true;
    write_default();
}

void tb_put_state_back(const tb_callers_state *state)
{
    write_environment(&floats.callers);
    floats = state->before;
    errno = state->error;
}

void tb_forget_state(const tb_callers_state *state)
{
    floats = state->before;
}

void tb_enter_callers_environment(void)
{
    if (floats.is_aside)
        write_environment(&floats.callers);
}

void tb_leave_callers_environment(void)
{
    if (!floats.is_aside)
        return;
    read_environment(&floats.callers);
    write_default();
}

bool tb_caller_needs_host(void)
{
    tb_float_environment environment = floats.callers;
    if (!floats.is_aside)
        read_environment(&environment);
    return needs_host(&environment);
}

int tb_raised_in_caller(int exceptions)
{
    return raised(&floats.callers, exceptions);
}

void tb_raise_in_caller(int exceptions)
{
    raise_in(&floats.callers, exceptions);
}
