/* Callers that leave a call in the middle. Later calls from all threads answer, and are right; nobody writes into C any more;
 * where the driver was left in the middle of an operation the device is left alone.
 *
 *   leaving jumps [TRIALS] siglongjmp out of a handler of SIGALRM, at a random moment, in hundreds of processes
 *   leaving cancellations  pthread_cancel of a thread inside a call: the call is finished first
 */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { TRIALS = 200, FAILURES_MOST = 3, ROUNDS = 2, FOLLOWERS_MOST = 6, CANCELLATIONS = 50 };

/* Many times what a trial takes. */
#define TRIAL_SECONDS 20.0

/* How long C is watched after a jump: several times what the device still has to do then. */
#define WATCHED_MICROSECONDS 8000

/* How long the first call takes, with the device to be opened. */
#define COLD_MICROSECONDS 12000

typedef struct trial {
    int m, n, k;
    const char *pinned_memory; /* the option */
    tb_memory memory;
    float beta;
    bool other_thread, alternate_stack, cold;
    bool remembers; /* operands; else two devices bring them for each other at each call */
    int devices, followers;
    uint64_t seed;
} trial;

/* What is counted of all trials. */
typedef struct tally {
    atomic_long jumps, lost, used_again;
    atomic_long exchanged; /* processes in which devices copied from each other */
} tally;
static tally *tallied;

/* ---- The jump --------------------------------------------------------------------------------------------- */

static sigjmp_buf before_call;
static pthread_t jumper;
static volatile sig_atomic_t calling;

static void jump(int signal)
{
    if (!calling || !pthread_equal(pthread_self(), jumper))
        return;
    calling = 0;
    siglongjmp(before_call, signal);
}

static void handle_alarm(const trial *trial)
{
    struct sigaction action = {.sa_handler = jump, .sa_flags = trial->alternate_stack ? SA_ONSTACK : 0};
    sigaction(SIGALRM, &action, NULL);
    if (trial->alternate_stack) {
        const stack_t stack = {.ss_sp = malloc((size_t)1 << 16), .ss_size = (size_t)1 << 16};
        sigaltstack(&stack, NULL);
    }
}

static void set_alarm(int64_t microseconds)
{
    const struct itimerval once = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &once, NULL);
}

/* Whether the call was left before it was over. */
static bool multiply_and_jump(const known_product *p, int64_t microseconds)
{
    jumper = pthread_self();
    if (sigsetjmp(before_call, 1) == 0) {
        calling = 1;
        set_alarm(microseconds);
        known_multiply(p);
        calling = 0;
        set_alarm(0);
        return false;
    }
    return true;
}

/* ---- Other threads ---------------------------------------------------------------------------------------- */

/* The program's alarms are for the thread that jumps. */
static void block_alarms(void)
{
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
}

static void *follow(void *argument)
{
    const trial *trial = argument;
    block_alarms();
    for (int call = 0; call < 2; call++) {
        const int errors =
            known_multiply_once(trial->m, trial->n, trial->k, trial->beta, (float)(call + 2), TB_MEMORY_HOST);
        CHECK(errors == 0, "beside a jump: %d elements are wrong", errors);
    }
    return NULL;
}

static void *multiply_later(void *argument)
{
    const trial *trial = argument;
    block_alarms();
    const int errors = known_multiply_once(trial->m, trial->n, trial->k, trial->beta, 5, TB_MEMORY_HOST);
    CHECK(errors == 0, "another thread, after a jump: %d elements are wrong", errors);
    return NULL;
}

static void run_in_thread(void *(*work)(void *), const trial *trial)
{
    pthread_t thread;
    if (CHECK(pthread_create(&thread, NULL, work, (void *)(uintptr_t)trial) == 0, "no thread"))
        pthread_join(thread, NULL);
}

/* ---- One process ------------------------------------------------------------------------------------------ */

static bool is_lost(void)
{
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    return strstr(plan, "lost") != NULL;
}

static void check_later_call(const trial *trial)
{
    const int errors = known_multiply_once(trial->m, trial->n, trial->k, trial->beta, 4, TB_MEMORY_HOST);
    CHECK(errors == 0, "after a jump: %d elements are wrong", errors);
}

/* While nobody else calls. */
static void check_later_calls_place(const trial *trial, bool jumped)
{
    const long operations = sim_operations("any"), launches = sim_operations("launch");
    const bool was_lost = is_lost();
    check_later_call(trial);
    CHECK(!was_lost || sim_operations("any") == operations, "the device was used after it was lost");
    atomic_fetch_add(&tallied->lost, jumped && was_lost);
    atomic_fetch_add(&tallied->used_again, jumped && sim_operations("launch") > launches);
}

static void watch_c(const known_product *p)
{
    known_fill_c(p, KNOWN_FILLED);
    usleep(WATCHED_MICROSECONDS);
    const int others = known_differ(p, KNOWN_FILLED);
    CHECK(others == 0, "%d elements of C were written after the jump", others);
}

/* Seconds that a call takes which nobody leaves; several of them, so that copies of the operands stay on the device. */
static double settle(const known_product *p)
{
    double start = 0;
    for (int call = 0; call < 4; call++) {
        start = tb_seconds();
        known_fill_c(p, KNOWN_BEFORE);
        known_multiply(p);
    }
    return tb_seconds() - start;
}

static void *jump_and_go_on(void *argument)
{
    const trial *trial = argument;
    check_random random = {.state = trial->seed};
    known_product p = known_make(trial->m, trial->n, trial->k, trial->beta, 2, trial->memory);
    /* The dynamic linker, which looks for the host's BLAS, is not to be left in the middle. */
    known_multiply_once(2, 2, 2, 0, 1, TB_MEMORY_HOST);
    tileblas_set_option("ROUTE", "streamed");
    const double seconds = trial->cold ? 1e-6 * COLD_MICROSECONDS : settle(&p);
    handle_alarm(trial);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t followers[FOLLOWERS_MOST];
        for (int i = 0; i < trial->followers; i++)
            pthread_create(&followers[i], NULL, follow, (void *)(uintptr_t)trial);
        known_fill_c(&p, KNOWN_BEFORE);
        const bool jumped = multiply_and_jump(&p, check_between(&random, 1, 1 + (int64_t)(1.3e6 * seconds)));
        atomic_fetch_add(&tallied->jumps, jumped);
        if (jumped)
            watch_c(&p);
        else if (trial->memory != TB_MEMORY_DEVICE)
            CHECK(known_errors(&p) == 0, "wrong without a jump");
        check_later_call(trial);
        run_in_thread(multiply_later, trial);
        for (int i = 0; i < trial->followers; i++)
            pthread_join(followers[i], NULL);
        check_later_calls_place(trial, jumped);
    }
    return NULL;
}

static void run_trial(void *argument)
{
    const trial *trial = argument;
    char devices[8];
    snprintf(devices, sizeof devices, "%d", trial->devices);
    sim_set("DEVICES", devices);
    tileblas_set_option("DEVICES", devices);
    tileblas_set_option("PINNED_MEMORY", trial->pinned_memory);
    tileblas_set_option("OPERAND_CACHE", trial->remembers ? "1" : "0");
    /* Memory that is given back while the other device reads it is then gone. */
    if (!trial->remembers)
        tileblas_set_option("KEEP_SECONDS", "0");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "host");
    if (!trial->other_thread) {
        jump_and_go_on(argument);
    } else {
        block_alarms();
        pthread_t thread;
        sigset_t alarms;
        sigemptyset(&alarms);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setsigmask_np(&attributes, &alarms);
        pthread_create(&thread, &attributes, jump_and_go_on, argument);
        pthread_join(thread, NULL);
    }
    atomic_fetch_add(&tallied->exchanged, sim_crossings() > 0);
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

static trial draw_trial(check_random *random)
{
    /* Several slots of C; operands that may be kept; slots so large that helpers copy, too. */
    static const struct {
        int m, n, k;
        const char *pinned_memory;
    } shapes[] = {{700, 150, 30, "1"}, {160, 120, 110, "1"}, {700, 300, 10, "8"}};
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_PINNED,
                                         TB_MEMORY_DEVICE};
    const int shape = (int)check_between(random, 0, 2);
    trial trial = {.m = shapes[shape].m,
                   .n = shapes[shape].n,
                   .k = shapes[shape].k,
                   .pinned_memory = shapes[shape].pinned_memory,
                   .memory = CHECK_PICK(random, memories),
                   .beta = (float)check_between(random, 0, 2),
                   .other_thread = check_between(random, 0, 1),
                   .alternate_stack = check_between(random, 0, 1),
                   .cold = check_between(random, 0, 4) == 0,
                   .remembers = check_between(random, 0, 1),
                   .devices = (int)check_between(random, 1, 2),
                   .followers =
                       check_between(random, 0, 1) ? (int)check_between(random, 1, FOLLOWERS_MOST) : 0};
    trial.seed = check_next(random);
    return trial;
}

static void leave_by_jumps(uint64_t seed, int trials)
{
    check_random random = {.state = seed};
    int failures = 0;
    for (int i = 0; i < trials && failures < FAILURES_MOST; i++) {
        trial trial = draw_trial(&random);
        const child_end end = child_run(run_trial, &trial, TRIAL_SECONDS);
        failures +=
            !CHECK(end == CHILD_RIGHT,
                   "trial %d %s: %d x %d x %d, memory %d, beta %g, %d devices, %d followers%s%s%s%s", i,
                   child_end_text(end), trial.m, trial.n, trial.k, (int)trial.memory, (double)trial.beta,
                   trial.devices, trial.followers, trial.other_thread ? ", not the main thread" : "",
                   trial.alternate_stack ? ", a stack of the handler's own" : "", trial.cold ? ", cold" : "",
                   trial.remembers ? "" : ", nothing remembered");
    }
    const long jumps = atomic_load(&tallied->jumps), lost = atomic_load(&tallied->lost),
               used_again = atomic_load(&tallied->used_again), exchanged = atomic_load(&tallied->exchanged);
    printf(
        "%ld jumps; the device was lost after %ld, used again after %ld; %ld processes exchanged operands\n",
        jumps, lost, used_again, exchanged);
    CHECK(failures == FAILURES_MOST || (jumps > trials / 2 && lost > 0 && used_again > 0 && exchanged > 0),
          "too few jumps");
}

/* ---- Cancellation ----------------------------------------------------------------------------------------- */

typedef struct victim {
    known_product p;
    int type;
} victim;

/* A cancelled thread leaves its frames without returning from them: AddressSanitizer, which marks their edges, takes what the
 * thread does at its end for an access beyond them. The marks below this frame are taken away. */
static void forget_frames(void *unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    enum { BELOW = 16 << 10 };
    char here;
    __asan_unpoison_memory_region(&here - BELOW, BELOW);
#endif
}

/* Calls until it is cancelled. C is whole at all times but within a call. */
static void *call_on(void *argument)
{
    const victim *victim = argument;
    pthread_cleanup_push(forget_frames, NULL);
    pthread_setcanceltype(victim->type, NULL);
    for (;;) {
        known_multiply(&victim->p);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel_many(void *argument)
{
    check_random random = {.state = *(uint64_t *)argument};
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED};
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("PINNED_MEMORY", "1");
    tileblas_set_option("OPERAND_CACHE", "0");
    sim_set("DEVICES", "2");
    tileblas_set_option("DEVICES", "2");
    CHECK(known_multiply_once(300, 200, 30, 0, 3, TB_MEMORY_HOST) == 0, "wrong");
    for (int i = 0; i < CANCELLATIONS && atomic_load(&check_failures) == 0; i++) {
        victim victim = {.type = check_between(&random, 0, 1) ? PTHREAD_CANCEL_ASYNCHRONOUS
                                                              : PTHREAD_CANCEL_DEFERRED};
        victim.p = known_make(300, 200, 30, 0, 2, CHECK_PICK(&random, memories));
        pthread_t thread;
        pthread_create(&thread, NULL, call_on, &victim);
        usleep((useconds_t)check_between(&random, 0, 6000));
        pthread_cancel(thread);
        void *result = NULL;
        pthread_join(thread, &result);
        CHECK(result == PTHREAD_CANCELED, "a cancelled thread does not tell so");
        CHECK(known_differ(&victim.p, KNOWN_BEFORE) == 0 || known_errors(&victim.p) == 0,
              "a cancelled call was left in the middle");
        known_free(&victim.p);
        const long launches = sim_operations("launch");
        CHECK(known_multiply_once(300, 200, 30, 1, 3, TB_MEMORY_HOST) == 0, "wrong after a cancellation");
        CHECK(sim_operations("launch") > launches, "the device is used no more");
    }
    CHECK(sim_crossings() > 0, "nothing was exchanged");
}

int main(int count, char **arguments)
{
    uint64_t seed = check_seed();
    tallied = mmap(NULL, sizeof *tallied, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count > 1 && strcmp(arguments[1], "cancellations") == 0) {
        const child_end end = child_run(cancel_many, &seed, 3 * TRIAL_SECONDS);
        CHECK(end == CHILD_RIGHT, "cancellations: %s", child_end_text(end));
    } else {
        leave_by_jumps(seed, count > 2 ? atoi(arguments[2]) : TRIALS);
    }
    return check_result();
}
