/* Callers that leave a call which the server computes: nobody writes into C any more, later products are right, and the server computes
 * them again.
 *
 *   left waiting|ordering|queueing|greeting|jumps COMMAND
 *
 * waiting: out of a wait for the device, which leaves the connection as it is; ordering: while an order is answered, which takes
 * another connection, as does queueing: in the middle of the queue for the device; greeting: while the server is asked whether it is there; jumps: at random moments. COMMAND is the command
 * `tileblas` on the simulated device.
 */
#include "lib/device/served_use.h"
#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

enum { CHILD_SECONDS = 120, ROUNDS = 12, ATTEMPTS = 200, BESIDE = 2, WATCHED_MICROSECONDS = 8000 };

/* How long after a jump a product is served at the latest: the server is looked for once a second. */
#define SERVED_SECONDS 20.0

static uint64_t seed;
static sigjmp_buf before_call;
static pthread_t jumper;
static volatile sig_atomic_t calling;

/* ---- The jump ----------------------------------------------------------------------------------------------- */

/* Where this thread jumps by itself. */
enum { NOWHERE, WAITING, ORDERING, QUEUEING };
static _Thread_local int moment;
void __real_tb_wire_pause(void);
void __wrap_tb_wire_pause(void);
void __real_tb_machine_note_use(int device);
void __wrap_tb_machine_note_use(int device);

static void jump(int signal)
{
    if (!calling || !pthread_equal(pthread_self(), jumper))
        return;
    calling = 0;
    siglongjmp(before_call, signal);
}

/* The linker puts this in front of what whoever waits for the server calls. */
void __wrap_tb_wire_pause(void)
{
    if ((moment == WAITING && !tb_has_locks()) || (moment == ORDERING && tb_has_locks()))
        jump(1);
    __real_tb_wire_pause();
}

/* And this in front of what is done under the queue's lock. */
void __wrap_tb_machine_note_use(int device)
{
    if (moment == QUEUEING)
        jump(1);
    __real_tb_machine_note_use(device);
}

static void handle_alarm(void)
{
    const struct sigaction action = {.sa_handler = jump};
    sigaction(SIGALRM, &action, NULL);
}

static void set_alarm(int64_t microseconds)
{
    const struct itimerval once = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &once, NULL);
}

/* Whether the call was left before it was over; microseconds of 0: without an alarm. */
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

static void block_alarms(void)
{
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
}

/* ---- What comes after --------------------------------------------------------------------------------------- */

static void watch_c(const known_product *p)
{
    known_fill_c(p, KNOWN_FILLED);
    usleep(WATCHED_MICROSECONDS);
    const int others = known_differ(p, KNOWN_FILLED);
    CHECK(others == 0, "%d elements of C were written after the jump", others);
}

/* All of them right. How many it took. */
static int multiply_until_served(check_random *random, const char *when)
{
    const double start = tb_seconds();
    int count = 1;
    while (!multiply(random, 150, when) &&
           CHECK(tb_seconds() - start < SERVED_SECONDS, "%s nothing is served", when)) {
        server_pause(0.01);
        count++;
    }
    return count;
}

/* Nothing of connections that were left stays with this process or with the server. */
static void check_one_connection(int files)
{
    int clients = 0;
    for (int i = 0; i < 500 && clients != 1; i++) {
        server_pause(i > 0 ? 0.01 : 0);
        server_holds(&clients);
    }
    CHECK(clients == 1, "the server has %d clients", clients);
    CHECK(open_files() == files, "there are %d files, and were %d", open_files(), files);
    CHECK(shared_maps() == 2, "%d pieces of memory are shared", shared_maps());
}

static known_product make_left(check_random *random)
{
    static const int shapes[][3] = {{700, 150, 30}, {160, 120, 110}, {400, 300, 60}};
    const int *shape = shapes[check_between(random, 0, 2)];
    return known_make(shape[0], shape[1], shape[2], (double)check_between(random, 0, 2), 2, TB_MEMORY_HOST);
}

/* ---- Moments ------------------------------------------------------------------------------------------------ */

static void leave_at(void *left)
{
    check_random random = {seed};
    prefer_device();
    tileblas_set_option("PINNED_MEMORY", "1");
    if (*(int *)left == ORDERING)
        tileblas_set_option("KEEP_SECONDS", "0"); /* memory, for which the server is asked again */
    multiply_until_served(&random, "before a jump");
    const int files = open_files();
    for (int round = 0; round < ROUNDS; round++) {
        known_product p = make_left(&random);
        const uint32_t generation = tb_use_generation();
        moment = *(int *)left;
        bool has_jumped = false; /* not where the server answers at once */
        for (int i = 0; i < ATTEMPTS && !has_jumped; i++)
            has_jumped = multiply_and_jump(&p, 0);
        moment = NOWHERE;
        CHECK(has_jumped, "nobody has waited for the server");
        watch_c(&p);
        const int count = multiply_until_served(&random, "after a jump");
        if (*(int *)left == WAITING)
            CHECK(count == 1 && tb_use_generation() == generation, "the connection was given up");
        else
            CHECK(tb_use_generation() == generation + 1, "an order that was left is gone on with");
        known_free(&p);
    }
    check_one_connection(files);
}

static void leave_in_rounds(int where, const char *what)
{
    const pid_t server = server_start();
    const child_end end = child_run(leave_at, &where, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client that leaves while %s: %s", what, child_end_text(end));
    server_end(server, SIGTERM);
}

static void waiting(void)
{
    leave_in_rounds(WAITING, "it waits for the device");
}

static void ordering(void)
{
    leave_in_rounds(ORDERING, "an order is answered");
}

static void queueing(void)
{
    leave_in_rounds(QUEUEING, "it queues");
}

/* A server that does not answer is waited for, as the options say. */
static void leave_greeting(void *server)
{
    enum { LONG_ENOUGH = 30000 };
    check_random random = {seed};
    /* The dynamic linker, which looks for the host's BLAS, is not to be left in the middle. */
    known_multiply_once(2, 2, 2, 0, 1, TB_MEMORY_HOST);
    has_no_device = true; /* which would be started before the server is looked for again */
    prefer_device();
    const int files = open_files();
    known_product p = make_left(&random);
    handle_alarm();
    kill(*(pid_t *)server, SIGSTOP);
    CHECK(multiply_and_jump(&p, LONG_ENOUGH), "the server was not waited for");
    kill(*(pid_t *)server, SIGCONT);
    watch_c(&p);
    known_free(&p);
    CHECK(open_files() == files, "there are %d files, and were %d", open_files(), files);
    multiply_until_served(&random, "after the greeting was left");
    check_one_connection(files + 1);
}

static void greeting(void)
{
    pid_t server = server_start();
    const child_end end = child_run(leave_greeting, &server, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client that leaves while it is greeted: %s", child_end_text(end));
    server_end(server, SIGTERM);
}

/* ---- At random ---------------------------------------------------------------------------------------------- */

static atomic_bool is_over;

static void *multiply_beside(void *number)
{
    check_random random = {seed + (uint64_t)(uintptr_t)number};
    block_alarms();
    while (!atomic_load(&is_over))
        multiply(&random, 150, "beside jumps");
    return NULL;
}

/* Seconds that a call takes which nobody leaves. */
static double settle(const known_product *p)
{
    double start = 0;
    for (int call = 0; call < 3; call++) {
        start = tb_seconds();
        known_multiply(p);
    }
    return tb_seconds() - start;
}

static void leave_at_random(void *unused)
{
    enum { JUMPS = 50 };
    (void)unused;
    check_random random = {seed};
    pthread_t beside[BESIDE];
    int jumps = 0;
    has_no_device = true; /* which would be started while another thread uses the connection */
    prefer_device();
    tileblas_set_option("PINNED_MEMORY", "1");
    handle_alarm();
    multiply_until_served(&random, "before jumps");
    const int files = open_files();
    const uint32_t generation = tb_use_generation();
    for (int round = 0; round < JUMPS; round++) {
        if (round == JUMPS / 2)
            for (uintptr_t i = 0; i < BESIDE; i++)
                pthread_create(&beside[i], NULL, multiply_beside, (void *)(i + 1));
        known_product p = make_left(&random);
        const double seconds = settle(&p);
        known_fill_c(&p, KNOWN_BEFORE);
        const bool has_jumped =
            multiply_and_jump(&p, check_between(&random, 1, 1 + (int64_t)(1.3e6 * seconds)));
        jumps += has_jumped;
        if (has_jumped)
            watch_c(&p);
        else
            CHECK(known_errors(&p) == 0, "wrong without a jump");
        known_free(&p);
        multiply(&random, 150, "after a jump");
        if (round % 5 == 0)
            multiply_until_served(&random, "after jumps");
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < BESIDE; i++)
        pthread_join(beside[i], NULL);
    multiply_until_served(&random, "after all jumps");
    check_one_connection(files);
    printf("%d jumps, %u connections\n", jumps, (unsigned)(tb_use_generation() - generation + 1));
    CHECK(jumps > JUMPS / 4, "%d jumps", jumps);
}

static void jumps(void)
{
    const pid_t server = server_start();
    const child_end end = child_run(leave_at_random, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client that leaves at random: %s", child_end_text(end));
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {{"waiting", waiting},
                                              {"ordering", ordering},
                                              {"queueing", queueing},
                                              {"greeting", greeting},
                                              {"jumps", jumps}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    server_command = arguments[2];
    seed = check_seed();
    const runtime_folder folder = make_runtime_folder();
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
