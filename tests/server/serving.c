/* Products of processes that the server computes, and that the host computes when there is no server any more: always right.
 *
 *   serving products|cut|threads|forks|own|ends|returns|without|again|clients COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/device/platform.h"
#include "lib/serving/connection.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <pthread.h>
#include <sys/mman.h>

enum { CHILD_SECONDS = 120 };

static uint64_t seed;

static int multiply_many(uint64_t own_seed, int count, int most, const char *when)
{
    check_random random = {own_seed};
    int served = 0;
    for (int i = 0; i < count; i++)
        served += multiply(&random, most, when);
    return served;
}

static void check_nothing_is_held(const char *when)
{
    int clients = 1;
    int64_t bytes = 1;
    for (int i = 0; i < 200 && (clients > 0 || bytes > 0); i++) {
        bytes = server_holds(&clients);
        server_pause(0.02);
    }
    CHECK(clients == 0 && bytes == 0, "%s: %d clients hold %lld bytes", when, clients, (long long)bytes);
}

/* ---- Clients that do as they should ------------------------------------------------------------------------ */

static void multiply_served(void *count)
{
    prefer_device();
    const int served = multiply_many(seed, *(int *)count, 200, "served");
    CHECK(served == *(int *)count, "%d of %d products were served", served, *(int *)count);
    tileblas_statistics statistics;
    tileblas_read_statistics(&statistics, sizeof statistics);
    CHECK(statistics.served.calls == (unsigned long long)served &&
              statistics.served.flop == statistics.streamed.flop && statistics.served.link_bytes > 0,
          "%llu products are counted", statistics.served.calls);
}

static void products(void)
{
    int count = 60;
    const pid_t server = server_start();
    const child_end end = child_run(multiply_served, &count, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client: %s", child_end_text(end));
    check_nothing_is_held("after a client");
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
    tb_welcome status;
    CHECK(!tb_ask_status(&status, 1000), "a server that has ended answers");
}

/* Parts of structured operands come from beyond the part. Some products need more than that, and none has the client refused. */
static void multiply_cut(void *count)
{
    prefer_device();
    tileblas_set_option("DEVICE_MEMORY", "2");
    const int served = multiply_many(seed, *(int *)count, 400, "cut");
    CHECK(served > *(int *)count / 2, "%d of %d products were served", served, *(int *)count);
    tileblas_set_option("DEVICE_MEMORY", "0");
    CHECK(multiply_many(seed, 1, 400, "after those that were cut") == 1, "the server has refused the client");
}

static void cut(void)
{
    int count = 20;
    const pid_t server = server_start();
    const child_end end = child_run(multiply_cut, &count, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client with little memory: %s", child_end_text(end));
    server_end(server, SIGTERM);
}

static void *multiply_in_thread(void *number)
{
    const int count = 15,
              served = multiply_many(seed + (uint64_t)(uintptr_t)number, count, 150, "in a thread");
    CHECK(served == count, "%d of %d products of a thread were served", served, count);
    return NULL;
}

static void multiply_at_once(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, multiply_in_thread, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void wait_for_slots(void)
{
    for (int i = 0; i < 1000 && tb_server_slots_steps() == 0; i++)
        server_pause(0.01);
    CHECK(tb_server_slots_steps() > 0, "slots have not grown for threads that multiply at once");
}

static uint64_t part_of(const tb_slots_extent *slots, uint64_t offset)
{
    return offset < slots->first ? 0 : 1 + (offset - slots->first) / slots->step;
}

/* Of any size, until there are no more: a device copies none that lies in two parts of the slots. */
static void check_pieces(size_t bytes)
{
    enum { PIECES_MOST = 1 << 14 };
    static void *taken[PIECES_MOST];
    const tb_slots_extent *slots = &tb_server_welcome()->slots;
    int count = 0, across = 0;
    while (count < PIECES_MOST && tb_served_devices->allocate_pinned(bytes, &taken[count]) == TB_OK) {
        const uint64_t offset = (uint64_t)((char *)taken[count++] - tb_server_slots());
        across += part_of(slots, offset) != part_of(slots, offset + bytes - 1);
    }
    CHECK(count > 0 && across == 0, "of %d pieces of %zu bytes %d lie in two parts of the slots", count,
          bytes, across);
    while (count > 0)
        tb_served_devices->release_pinned(taken[--count], bytes);
}

static void check_all_pieces(void)
{
    for (int i = 0;
         i < 1000 && tb_served_devices->pipelines(TB_SERVED_FIRST, TB_WIRE_STEPS + 1) <= TB_WIRE_STEPS; i++)
        server_pause(0.01);
    for (size_t pieces = 3; pieces < 8; pieces += 2)
        check_pieces(pieces << 16);
}

/* While one thread looks for the server, the others' products would stay on the host. */
static void multiply_in_threads(void *unused)
{
    (void)unused;
    prefer_device();
    multiply_in_thread(0);
    multiply_at_once();
    wait_for_slots();
    check_all_pieces();
    multiply_at_once();
}

static void threads(void)
{
    const pid_t server = server_start();
    const child_end end = child_run(multiply_in_threads, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client with threads: %s", child_end_text(end));
    check_nothing_is_held("after threads");
    server_end(server, SIGTERM);
}

/* A client, its children and theirs, all at once. */
static void multiply_and_fork(void *generations)
{
    const int left = *(int *)generations, count = 8;
    prefer_device();
    int served = multiply_many(seed + (uint64_t)left, count, 120, "before a fork");
    int next = left - 1;
    if (left > 0) {
        fflush(stdout);
        pid_t children[2];
        for (int i = 0; i < 2; i++)
            if ((children[i] = fork()) == 0) {
                atomic_store(&check_failures, 0);
                multiply_and_fork(&next);
                fflush(stdout);
                _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
            }
        served += multiply_many(seed + 7, count, 120, "beside children");
        for (int i = 0; i < 2; i++)
            CHECK(child_wait(children[i], CHILD_SECONDS) == CHILD_RIGHT, "a child has failed");
    }
    CHECK(served == (left > 0 ? 2 : 1) * count, "%d products were served, with %d generations to come",
          served, left);
}

static void forks(void)
{
#ifdef __SANITIZE_THREAD__
    SKIP("the thread sanitizer knows no threads after a fork");
#endif
    int generations = 2;
    const pid_t server = server_start();
    const child_end end = child_run(multiply_and_fork, &generations, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "clients that fork: %s", child_end_text(end));
    check_nothing_is_held("after forks");
    server_end(server, SIGTERM);
}

/* A client that is served, and then has operands on a device of its own, which no server reaches. */
static void multiply_on_own_device(void *unused)
{
    (void)unused;
    char plan[200];
    prefer_device();
    CHECK(multiply_many(seed, 3, 100, "before a device of its own") == 3, "products are not served");
    tileblas_set_option("ROUTE", "auto");
    known_product p = known_make(90, 70, 50, 1, 2, TB_MEMORY_DEVICE);
    known_multiply(&p);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(known_errors(&p) == 0 && strstr(plan, "device 0") != NULL, "on a device of its own: %d errors, %s",
          known_errors(&p), plan);
    known_free(&p);
    tileblas_set_option("ROUTE", "streamed");
    CHECK(multiply_many(seed, 3, 100, "beside a device of its own") == 0, "the server is gone on with");
}

static void own(void)
{
    const pid_t server = server_start();
    const child_end end = child_run(multiply_on_own_device, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client with a device of its own: %s", child_end_text(end));
    check_nothing_is_held("after a client that left");
    server_end(server, SIGTERM);
}

/* ---- Servers that end -------------------------------------------------------------------------------------- */

static void multiply_all_the_same(void *count)
{
    prefer_device();
    multiply_many(seed, *(int *)count, 250, "while the server ends");
}

/* The server is killed, or stopped, or told to end, at any moment of a client's. */
static void ends(void)
{
    static const int signals[] = {SIGKILL, SIGSTOP, SIGTERM};
    check_random random = {seed};
    int count = 25;
    for (int i = 0; i < 12; i++) {
        const int signal = signals[i % 3];
        const pid_t server = server_start(), client = fork();
        if (client == 0) {
            atomic_store(&check_failures, 0);
            multiply_all_the_same(&count);
            fflush(stdout);
            _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        server_pause((double)check_between(&random, 0, 400) * 1e-3);
        kill(server, signal);
        const child_end end = child_wait(client, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "a client whose server got signal %d: %s", signal, child_end_text(end));
        server_end(server, SIGKILL);
    }
}

/* ---- Servers that come after others ------------------------------------------------------------------------ */

/* Between a client and the test. */
static struct {
    atomic_int served; /* products */
    atomic_bool is_over;
} * told;

static void *multiply_until_told(void *number)
{
    check_random random = {seed + (uint64_t)(uintptr_t)number};
    while (!atomic_load(&told->is_over))
        atomic_fetch_add(&told->served, multiply(&random, 150, "by one server after the other"));
    return NULL;
}

/* And finds that there is none. */
static bool looks_for_device;

static void multiply_by_all_servers(void *unused)
{
    enum { THREADS = 3 };
    (void)unused;
    pthread_t threads[THREADS];
    const int files = open_files();
    has_no_device = !looks_for_device;
    if (looks_for_device)
        setenv("TILEBLAS_SIM_DEVICES", "0", 1);
    prefer_device();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, multiply_until_told, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 20 && shared_maps() > 0; i++) /* small products do not find out */
        multiply_many(seed + (uint64_t)i, 1, 100, "after the last server");
    CHECK(open_files() == files && shared_maps() == 0, "%d files stay open and %d maps stay",
          open_files() - files, shared_maps());
}

static pid_t start_client(void)
{
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        abort();
    const pid_t client = fork();
    if (client == 0) {
        atomic_store(&check_failures, 0);
        multiply_by_all_servers(NULL);
        fflush(stdout);
        _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return client;
}

static void wait_for_served(int count, const char *what)
{
    const int wanted = atomic_load(&told->served) + count;
    for (int look = 0; look < 1500 && atomic_load(&told->served) < wanted; look++)
        server_pause(0.02);
    CHECK(atomic_load(&told->served) >= wanted, "%s: %d of %d products are served", what,
          atomic_load(&told->served) + count - wanted, count);
}

static void end_client(pid_t client)
{
    atomic_store(&told->is_over, true);
    const child_end end = child_wait(client, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client of many servers: %s", child_end_text(end));
}

/* One server after the other is killed or told to end while a client is at work, which is served by each. */
static void returns(void)
{
    enum { SERVERS = 4 };
    check_random random = {seed};
    const pid_t client = start_client();
    server_pause(looks_for_device ? 0.3 : 0);
    for (int i = 0; i < SERVERS; i++) {
        const pid_t server = server_start();
        wait_for_served(10, "one server after the other");
        server_pause((double)check_between(&random, 0, 50) * 1e-3);
        server_end(server, i % 2 == 0 ? SIGKILL : SIGTERM);
    }
    end_client(client);
}

/* The same of a client without a device, as in a container, that is there before the first server. */
static void without(void)
{
    looks_for_device = true;
    returns();
}

/* A server whose device is lost makes place for another one, which loses it as well. */
static void again(void)
{
    tb_welcome status;
    draws_plain = true;
    setenv("TILEBLAS_SIM_FAIL", "launch:40=lost", 1); /* of the clients: nothing is launched before */
    setenv("TILEBLAS_CALIBRATE", "0", 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SIM_FAIL");
    const pid_t client = start_client();
    wait_for_served(45, "servers that lose their device");
    CHECK(tb_ask_status(&status, 5000) && status.process == server,
          "there is no server, or it is another one");
    server_end(server, SIGTERM); /* which may be losing its device */
    end_client(client);
}

/* ---- Clients that end -------------------------------------------------------------------------------------- */

/* One is killed in the middle of anything; the server goes on, and another client's products are served. */
static void clients(void)
{
    check_random random = {seed};
    int count = 6;
    const pid_t server = server_start();
    for (int i = 0; i < 10; i++) {
        const pid_t client = fork();
        if (client == 0) {
            prefer_device();
            for (;;)
                multiply_many(seed, 10, 250, "by a client that is killed");
        }
        server_pause((double)check_between(&random, 0, 300) * 1e-3);
        kill(client, SIGKILL);
        waitpid(client, NULL, 0);
        if (i % 3 == 0) {
            const child_end end = child_run(multiply_served, &count, CHILD_SECONDS);
            CHECK(end == CHILD_RIGHT, "a client after one that was killed: %s", child_end_text(end));
        }
    }
    check_nothing_is_held("after clients that were killed");
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {
        {"products", products}, {"cut", cut},        {"threads", threads}, {"forks", forks},
        {"own", own},           {"ends", ends},      {"returns", returns}, {"without", without},
        {"again", again},       {"clients", clients}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    server_command = arguments[2];
    seed = check_seed();
    const runtime_folder folder = make_runtime_folder();
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
