/* Everything at once, for as long as one likes: sessions, each in a process of its own and with a device that fails as a random
 * script says, in which several threads multiply, change operands and options, fork, are cancelled, and jump out of calls.
 * Every product is held against what is known of it. scripts/soak.sh runs it.
 *
 *   soak_all SECONDS [gentle]      gentle: nobody forks, jumps or is cancelled, which sanitizers do not bear: a thread that
 *                                  goes in their midst leaves their locks taken, and its frames marked
 *   soak_all SEED session [gentle] one session again
 */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { THREADS_MOST = 6, OPERANDS = 3, SCRIPT_MOST = 6, SYMMETRIC_MOST = 200 };

/* What one session may last; and many times what it takes. */
#define SESSION_SECONDS 0.7
#define LIMIT_SECONDS   30.0
#define CHILD_SECONDS   15.0

static bool gentle;
static double session_end;
/* Products in device memory are lost with their device. */
static bool loses_device;

typedef struct worker {
    pthread_t thread;
    check_random random;
    known_product products[OPERANDS];
} worker;

/* ---- Operands --------------------------------------------------------------------------------------------- */

static known_product draw_product(check_random *random)
{
    static const struct {
        int m, n, k;
    } most[] = {{8, 8, 8}, {60, 60, 60}, {700, 150, 30}, {160, 120, 110}, {700, 300, 10}, {40, 900, 30}};
    const int shape = (int)check_between(random, 0, 5);
    const int64_t kind = check_between(random, 0, 5);
    const tb_memory memory = kind < 3                   ? TB_MEMORY_HOST
                             : kind < 5 || loses_device ? TB_MEMORY_PINNED
                                                        : TB_MEMORY_DEVICE;
    known_product p = {.class = (known_class)check_between(random, KNOWN_GEMM, KNOWN_HEMM),
                       .of_doubles = check_between(random, 0, 1),
                       .is_complex = check_between(random, 0, 1),
                       .m = (int)check_between(random, 1, most[shape].m),
                       .n = (int)check_between(random, 1, most[shape].n),
                       .k = (int)check_between(random, 1, most[shape].k),
                       .beta = (double)check_between(random, 0, 2),
                       .factor = (double)check_between(random, 1, 9),
                       .memory = memory};
    if (p.class == KNOWN_HEMM && !p.is_complex)
        p.class = KNOWN_GEMM;
    if (p.class != KNOWN_GEMM) {
        p.m = p.m < SYMMETRIC_MOST ? p.m : SYMMETRIC_MOST;
        p.k = p.m;
    }
    if (!known_has_place(&p)) { /* the library, and other threads, have taken the device's memory */
        p.memory = TB_MEMORY_HOST;
        known_place(&p);
    }
    return p;
}

static void check_product(const known_product *p, const char *after)
{
    /* Where no device could be had nobody reaches it. */
    if (p->memory == TB_MEMORY_DEVICE && known_differ(p, KNOWN_BEFORE) == 0)
        return;
    const int errors = known_errors(p);
    static const char *const classes[] = {"gemm", "symm", "hemm"};
    CHECK(errors == 0, "%s, %c%s, %d x %d x %d, memory %d, beta %g: %d numbers are wrong", after,
          (p->is_complex ? "cz" : "sd")[p->of_doubles], classes[p->class], p->m, p->n, p->k, (int)p->memory,
          p->beta, errors);
}

static void multiply(const known_product *p, const char *after)
{
    known_fill_c(p, KNOWN_BEFORE);
    known_multiply(p);
    check_product(p, after);
}

/* The same memory with other contents, or other memory, perhaps where the old one was. */
static void change(known_product *p, check_random *random)
{
    if (check_between(random, 0, 1)) {
        p->factor = (double)check_between(random, 1, 9);
        known_fill_a(p);
        return;
    }
    known_free(p);
    *p = draw_product(random);
}

/* ---- What disturbs ---------------------------------------------------------------------------------------- */

static void change_option(check_random *random)
{
    static const char *const options[][5] = {
        {"ROUTE", "auto", "streamed", "streamed", "host"},
        {"KERNEL", "auto", "dgemm_mma_64x64", "naive", "tiled"},
        {"PRECISION", "fp32", "ieee", "fp32", "ieee"},
        {"START", "background", "wait", "wait", "background"},
        {"DEVICES", "0", "1", "2", "3"},
        {"DEVICE_MEMORY", "0", "0", "1", "4"},
        {"PINNED_MEMORY", "1", "8", "2", "0"},
        {"KEEP_SECONDS", "10", "1", "0", "10"},
        {"OPERAND_CACHE", "1", "0", "1", "1"},
        {"COPY_THREADS", "0", "1", "3", "5"},
    };
    const char *const *row = CHECK_PICK(random, options);
    tileblas_set_option(row[0], row[check_between(random, 1, 4)]);
}

static void multiply_in_child(void *random)
{
    for (int call = 0; call < 2; call++) {
        known_product p = known_make((int)check_between(random, 1, 200), 50, 40, 1, 2, TB_MEMORY_HOST);
        multiply(&p, "in a forked child");
    }
}

static void fork_and_multiply(check_random *random)
{
    const child_end end = child_run(multiply_in_child, random, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a forked child: %s", child_end_text(end));
}

static void *multiply_until_cancelled(void *product)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        known_multiply(product);
        pthread_testcancel();
    }
    return NULL;
}

static void cancel_a_thread(check_random *random)
{
    pthread_t thread;
    known_product p = draw_product(random);
    p.beta = 0; /* calls follow one another */
    if (pthread_create(&thread, NULL, multiply_until_cancelled, &p) == 0) {
        usleep((useconds_t)check_between(random, 0, 4000));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        if (known_differ(&p, KNOWN_BEFORE) > 0)
            check_product(&p, "a cancelled call");
    }
    known_free(&p);
}

/* ---- Jumps ------------------------------------------------------------------------------------------------ */

static _Thread_local sigjmp_buf before_call;
static _Thread_local volatile sig_atomic_t calling;

static void jump(int number)
{
    if (!calling)
        return;
    calling = 0;
    siglongjmp(before_call, number);
}

static bool make_timer(timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event.sigev_notify_thread_id = gettid();
    return timer_create(CLOCK_MONOTONIC, &event, timer) == 0;
}

static void jump_out(const known_product *p, check_random *random)
{
    timer_t timer;
    const struct itimerspec once = {.it_value = {.tv_nsec = (long)check_between(random, 1000, 6000000)}};
    if (!make_timer(&timer))
        return;
    known_fill_c(p, KNOWN_BEFORE);
    if (sigsetjmp(before_call, 1) == 0) {
        timer_settime(timer, 0, &once, NULL);
        calling = 1;
        known_multiply(p);
        calling = 0;
        check_product(p, "a call that nobody left");
    } else {
        known_fill_c(p, KNOWN_FILLED);
        usleep(3000);
        const int others = known_differ(p, KNOWN_FILLED);
        CHECK(others == 0, "%d elements of C were written after a jump", others);
    }
    timer_delete(timer);
}

/* ---- One session ------------------------------------------------------------------------------------------ */

static void act(worker *worker)
{
    check_random *random = &worker->random;
    known_product *p = &CHECK_PICK(random, worker->products);
    const int64_t what = check_between(random, 0, 99);
    if (what < 8)
        change_option(random);
    else if (what < 30)
        change(p, random);
    else if (what < 33 && !gentle)
        cancel_a_thread(random);
    else if (what < 35 && !gentle)
        fork_and_multiply(random);
    else if (what < 38 && !gentle && loses_device)
        jump_out(p, random);
    else
        multiply(p, "a call");
}

static void *work(void *argument)
{
    worker *worker = argument;
    for (int i = 0; i < OPERANDS; i++)
        worker->products[i] = draw_product(&worker->random);
    while (tb_seconds() < session_end && atomic_load(&check_failures) == 0)
        act(worker);
    for (int i = 0; i < OPERANDS; i++)
        known_free(&worker->products[i]);
    return NULL;
}

static void draw_script(check_random *random, char *script, size_t size)
{
    static const char *const operations[] = {"open",  "memory", "allocate", "pinned", "stream", "event",
                                             "order", "wait",   "copy",     "launch", "any",    "copy"};
    static const char *const failures[] = {"memory", "unsupported", "memory", "lost", "fault"};
    const int lines = (int)check_between(random, 0, SCRIPT_MOST);
    size_t used = 0;
    script[0] = '\0';
    for (int i = 0; i < lines; i++)
        used += (size_t)snprintf(script + used, size - used, "%s%s:%d=%s", i > 0 ? "," : "",
                                 CHECK_PICK(random, operations), (int)check_between(random, 1, 400),
                                 failures[check_between(random, 0, loses_device ? 4 : 2)]);
}

static void set_device(check_random *random)
{
    static const char *const memories[] = {"1073741824", "6291456", "33554432"};
    static const char *const delays[] = {"0", "60", "300"};
    static const char *const starts[] = {"0", "3000", "50000"};
    char number[32], script[32 * SCRIPT_MOST];
    snprintf(number, sizeof number, "%d", (int)check_between(random, 1, 4));
    sim_set("DEVICES", number);
    snprintf(number, sizeof number, "%d", (int)check_between(random, 1, 1000000));
    sim_set("SEED", number);
    sim_set("MEMORY", CHECK_PICK(random, memories));
    sim_set("DELAY", CHECK_PICK(random, delays));
    sim_set("START", CHECK_PICK(random, starts));
    draw_script(random, script, sizeof script);
    sim_set("FAIL", script);
}

static void run_session(void *seed)
{
    check_random random = {.state = *(uint64_t *)seed};
    static worker workers[THREADS_MOST];
    const struct sigaction action = {.sa_handler = jump};
    sigaction(SIGUSR1, &action, NULL);
    loses_device = check_between(&random, 0, 2) > 0;
    set_device(&random);
    known_multiply_once(2, 2, 2, 0, 1,
                        TB_MEMORY_HOST); /* nobody jumps out of the search for the host's BLAS */
    tileblas_set_option("ROUTE", "streamed");
    for (int i = 0; i < 4; i++)
        change_option(&random);
    const int threads = (int)check_between(&random, 1, THREADS_MOST);
    session_end = tb_seconds() + SESSION_SECONDS;
    for (int i = 0; i < threads; i++) {
        workers[i].random.state = check_next(&random);
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "no thread");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    if (!loses_device)
        return;
    /* The threads have ended; what they took has not stayed with them. */
    CHECK(known_multiply_once(300, 200, 30, 1, 2, TB_MEMORY_HOST) == 0, "the last product is wrong");
}

int main(int count, char **arguments)
{
    const bool again = count > 2 && strcmp(arguments[2], "session") == 0;
    gentle = count > 2 && strcmp(arguments[count - 1], "gentle") == 0;
    uint64_t session = again ? strtoull(arguments[1], NULL, 0) : 0;
    check_random random = {.state = again ? 0 : check_seed()};
    const double end = tb_seconds() + (again || count < 2 ? 0 : atof(arguments[1]));
    long sessions = 0;
    do {
        session = again ? session : check_next(&random);
        const child_end how = child_run(run_session, &session, LIMIT_SECONDS);
        sessions++;
        if (!CHECK(how == CHILD_RIGHT, "session %" PRIu64 ": %s", session, child_end_text(how)))
            break;
    } while (tb_seconds() < end);
    printf("%ld sessions\n", sessions);
    return check_result();
}
