/* Two moments at which callers leave by a jump, too short for tests/sim/leaving.c to meet often: between operations that bring the
 * device up, and right after a turn at the device has ended. And what keeps them from leaving in the C library's allocator.
 */
#include "include/tileblas.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/process/leaving.h"
#include "lib/streaming/pipeline.h"
#include "lib/learning/profile.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <setjmp.h>
#include <string.h>

enum { SECONDS = 60 };

static sigjmp_buf before_call;
static bool jumps;

/* The linker puts this in front of tb_load_profile, the last step of bringing a device up. */
void __wrap_tb_load_profile(const char *device);

void __wrap_tb_load_profile(const char *device)
{
    (void)device;
    if (jumps)
        siglongjmp(before_call, 1);
}

static void begin(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

static void multiply(void)
{
    CHECK(known_multiply_once(100, 80, 30, 1, 2, TB_MEMORY_HOST) == 0, "wrong");
}

static void nobody_waits_for_a_device_that_nobody_brings_up(void *unused)
{
    char plan[256];
    (void)unused;
    begin();
    jumps = true;
    if (sigsetjmp(before_call, 1) == 0) {
        multiply();
        CHECK(false, "the caller did not bring the device up");
    }
    jumps = false;
    multiply();
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strstr(plan, "lost") != NULL, "\"%s\"", plan);
}

static void a_turn_ends_once(void *unused)
{
    (void)unused;
    begin();
    multiply();
    tb_turn first = {.seconds = 1}, second = {.seconds = 2}, third = {.medium = true, .seconds = 4};
    CHECK(tb_take_turn(&first) == TB_OK, "no turn");
    tb_end_turn(&first);
    CHECK(tb_take_turn(&second) == TB_OK, "no turn");
    tb_leave_turn(&first);
    CHECK(tb_take_turn(&third) == TB_OK, "no turn");
    CHECK(second.pipeline != third.pipeline, "two have the same pipeline");
    CHECK(tb_pipeline_backlog(0) == second.seconds + third.seconds, "%g s of work", tb_pipeline_backlog(0));
    tb_end_turn(&second);
    tb_end_turn(&third);
    multiply();
    CHECK(tb_machine_facts().readiness == TB_READY && tb_pipeline_backlog(0) == 0,
          "the device is not as it was");
}

/* The next one takes the channel, with a pipeline of its own. */
static void a_left_pipeline_is_used_no_more(void *unused)
{
    (void)unused;
    begin();
    multiply();
    const long streams = sim_get_usage().streams;
    tb_turn left = {.seconds = 1};
    CHECK(tb_take_turn(&left) == TB_OK, "no turn");
    tb_leave_turn(&left);
    CHECK(sim_get_usage().streams < streams && tb_pipeline_backlog(0) == 0, "something has stayed taken");
    multiply();
    CHECK(sim_get_usage().streams == streams, "%ld streams, not %ld", sim_get_usage().streams, streams);
}

/* The linker puts these in front of the C library's allocator: whether signals are held while a thread asks it. */
static _Thread_local int asked, asked_unheld;
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
void __wrap_free(void *memory);

static void look_at_signals(void)
{
    sigset_t held;
    pthread_sigmask(SIG_SETMASK, NULL, &held);
    asked++;
    asked_unheld += !sigismember(&held, SIGALRM);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    look_at_signals();
    return __real_calloc(count, bytes);
}

void __wrap_free(void *memory)
{
    look_at_signals();
    __real_free(memory);
}

static void nobody_jumps_out_of_the_allocator(void *unused)
{
    sigset_t held;
    (void)unused;
    asked = asked_unheld = 0;
    char *made = tb_make(100);
    CHECK(made && asked == 1 && made[0] == 0 && made[99] == 0,
          "memory is not zeroed, or not the C library's");
    tb_unmake(made);
    CHECK(asked == 2 && asked_unheld == 0, "the allocator is asked %d times while signals come",
          asked_unheld);
    pthread_sigmask(SIG_SETMASK, NULL, &held);
    CHECK(!sigismember(&held, SIGALRM), "signals are held for ever");
}

/* What a host's LAPACK calls is the program's own call; but over another call nobody knows what that one holds. */
static void only_the_outermost_call_is_stepped_out_of(void *unused)
{
    tb_call outer, inner;
    (void)unused;
    tb_begin_call(&outer);
    const int depth = tb_step_out_of_call();
    CHECK(!tb_is_in_call(), "the outermost call is not stepped out of");
    tb_step_back_into_call(depth);
    CHECK(tb_is_in_call(), "the thread is not in its call again");
    tb_begin_call(&inner);
    const int over_another = tb_step_out_of_call();
    CHECK(tb_is_in_call(), "a call over another one is stepped out of");
    tb_step_back_into_call(over_another);
    tb_end_call(&inner);
    CHECK(tb_is_in_call(), "the outer call has ended with the inner one");
    tb_end_call(&outer);
    CHECK(!tb_is_in_call(), "the call has not ended");
}

int main(void)
{
    const child_end ends[] = {child_run(nobody_waits_for_a_device_that_nobody_brings_up, NULL, SECONDS),
                              child_run(a_turn_ends_once, NULL, SECONDS),
                              child_run(a_left_pipeline_is_used_no_more, NULL, SECONDS),
                              child_run(nobody_jumps_out_of_the_allocator, NULL, SECONDS),
                              child_run(only_the_outermost_call_is_stepped_out_of, NULL, SECONDS)};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        CHECK(ends[i] == CHILD_RIGHT, "%zu: %s", i, child_end_text(ends[i]));
    return check_result();
}
