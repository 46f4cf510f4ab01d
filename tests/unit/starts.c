/* Tells for which programs the device is started: those whose host has taken long enough for calls that a device
 * would have won, by what is forecast or by what calls of the same product have taken. The clock goes on in the
 * host's calls alone, so that it is known which call is to start it.
 */
#include "include/tileblas.h"
#include "lib/call/line.h"
#include "lib/machine/machine.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"
#include "tests/unit/products.h"
#include "words/members.h"

#include <sched.h>
#include <time.h>

enum { CALLS = 12, DEADLINE_SECONDS = 30 };

/* ---- A host that takes as long as it is told --------------------------------------------------------------- */

static _Atomic(double) now;
static double call_seconds;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    const double seconds = now;
    time->tv_sec = (time_t)seconds;
    time->tv_nsec = (long)(1e9 * (seconds - (double)time->tv_sec));
    return 0;
}

static bool take_time(const tb_host *host, tb_task task)
{
    (void)host, (void)task;
    now = now + call_seconds;
    return true;
}

/* ---- Threads that cannot be had ---------------------------------------------------------------------------- */

static bool no_threads;

bool __real_tb_start_thread(void *(*work)(void *), void *argument);
bool __wrap_tb_start_thread(void *(*work)(void *), void *argument);

bool __wrap_tb_start_thread(void *(*work)(void *), void *argument)
{
    return !no_threads && __real_tb_start_thread(work, argument);
}

/* ---- Programs ---------------------------------------------------------------------------------------------- */

/* One product, called again and again. */
typedef struct program {
    const char *what;
    tb_routine routine;
    int64_t extent, members;
    double first, later; /* seconds that the host takes */
    const char *option, *value;
    int starts_at; /* the call that starts the device; 0: none of the first ones */
} program;

/* A host of one core is forecast to multiply 200 x 200 x 200 sooner than a device, and 2048 x 2048 x 2048 later,
 * in a tenth of a second.
 */
static const program programs[] = {
    {"full products", TB_DGEMM, 200, 1, 0.4, 0.4, NULL, NULL, 4},
    {"triangles", TB_DTRMM, 200, 1, 0.4, 0.4, NULL, NULL, 4},
    {"two terms", TB_SSYR2K, 200, 1, 0.4, 0.4, NULL, NULL, 4},
    {"long calls, and no device is wanted", TB_DTRMM, 200, 1, 2, 2, "START", "never", 0},
    {"what is left to the host", TB_DTRMM, 200, 1, 0.4, 0.4, "ROUTINES", "-dtrmm", 0},
    {"a host that is slow once", TB_DTRMM, 200, 1, 0.4, 1e-6, NULL, NULL, 0},
    {"short calls", TB_DTRMM, 200, 1, 1e-6, 1e-6, NULL, NULL, 0},
    {"what is forecast to be slow", TB_SGEMM, 2048, 1, 0.4, 0.4, NULL, NULL, 3},
    {"batches", TB_SGEMM, 2048, 2, 0.4, 0.4, NULL, NULL, 3},
    {"batches that will take long", TB_SGEMM, 2048, 5, 0.4, 0.4, NULL, NULL, 2},
};

static tb_product product_of_program(const program *program)
{
    const int64_t n = program->extent;
    tb_product product = product_of_routine(program->routine, n, n, n);
    for (tb_role role = TB_A; role < TB_ROLES && program->members > 1; role++)
        tb_spread(&product, role, program->members, n * n, NULL);
    return product;
}

static void run(void *argument)
{
    const program *program = argument;
    const tb_host host = {.call = take_time};
    const tb_product product = product_of_program(program);
    int starts_at = 0;
    if (program->option)
        tileblas_set_option(program->option, program->value);
    for (int call = 1; call <= CALLS && starts_at == 0; call++) {
        call_seconds = call == 1 ? program->first : program->later;
        tb_perform(tb_task_of_product(&product), &host);
        starts_at = tb_machine_facts().readiness == TB_UNTRIED ? 0 : call;
    }
    CHECK(starts_at == program->starts_at, "%s: started by call %d instead of %d", program->what, starts_at,
          program->starts_at);
}

static void have_one_core(void)
{
    cpu_set_t allowed, first;
    size_t core = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &allowed))
        core++;
    CPU_ZERO(&first);
    CPU_SET(core, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0, "not on one core");
}

static void a_device_that_is_not_there_is_asked_for_once(void *unused)
{
    (void)unused;
    const tb_host host = {.call = take_time};
    const tb_product product = product_of_program(&programs[0]);
    sim_set("DEVICES", "0");
    tileblas_set_option("START", "wait");
    call_seconds = 1;
    for (int call = 0; call < CALLS; call++)
        tb_perform(tb_task_of_product(&product), &host);
    CHECK(tb_machine_facts().readiness == TB_ABSENT && sim_operations("open") == 1, "asked for %ld times",
          sim_operations("open"));
}

/* Later calls are told so, and wait for nobody. */
static void a_device_that_no_thread_can_start_is_not_there(void *unused)
{
    (void)unused;
    const tb_host host = {.call = take_time};
    const tb_product product = product_of_program(&programs[0]);
    no_threads = true;
    call_seconds = 1;
    for (int call = 0; call < CALLS; call++)
        tb_perform(tb_task_of_product(&product), &host);
    CHECK(tb_machine_facts().readiness == TB_ABSENT, "it is still to come");
}

/* The clock stands still: who waits for the other devices waits for ever. */
static void other_devices_that_no_thread_can_open_are_not_waited_for(void *unused)
{
    (void)unused;
    enum { N = 64 };
    static float a[N * N], b[N * N], c[N * N];
    const tb_host host = {.call = take_time};
    const tb_product product = tb_gemm(TB_SGEMM, false, false, N, N, N, 1, a, N, b, N, 0, c, N);
    a[0] = b[0] = 3;
    sim_set("DEVICES", "2");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("CALIBRATE", "0");
    tileblas_set_option("DEVICES", "1");
    tb_perform(tb_task_of_product(&product), &host);
    tileblas_set_option("DEVICES", "2");
    no_threads = true;
    for (int call = 0; call < 2; call++) {
        c[0] = 0;
        tb_perform(tb_task_of_product(&product), &host);
        CHECK(c[0] == 9, "the first device has not computed it: %g", (double)c[0]);
    }
    const tb_machine machine = tb_machine_facts();
    CHECK(machine.chip_count == 2 && machine.chips[0].open && !machine.chips[1].open, "%d devices",
          machine.chip_count);
}

/* It is lost by a caller that leaves while a helper brings it up. */
static void what_is_lost_while_it_starts_stays_lost(void *unused)
{
    (void)unused;
    CHECK(tb_machine_begin(), "it has been begun");
    tb_machine_lose("starting");
    tb_machine_settle(TB_READY);
    CHECK(tb_machine_facts().readiness == TB_LOST, "it is back");
}

/* Each in a process that is forked from one that has not tried to start the device. */
int main(void)
{
    have_one_core();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        program program = programs[i];
        const child_end end = child_run(run, &program, DEADLINE_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: %s", program.what, child_end_text(end));
    }
    static void (*const others[])(void *) = {
        a_device_that_is_not_there_is_asked_for_once, a_device_that_no_thread_can_start_is_not_there,
        other_devices_that_no_thread_can_open_are_not_waited_for, what_is_lost_while_it_starts_stays_lost};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(child_run(others[i], NULL, DEADLINE_SECONDS) == CHILD_RIGHT, "other process %zu", i);
    return check_result();
}
