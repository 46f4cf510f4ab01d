/* Clients and servers that are killed, stopped, and started again at random, for as long as one likes: sessions of some seconds, each
 * in a process of its own, in which several clients multiply while one server follows another. Clients have several threads, which
 * are cancelled and jump out of calls; they fork, sleep, and close files that are not theirs. Every product is held against what is
 * known of it, and nothing stays open, mapped or held on either side. scripts/soak.sh runs it.
 *
 *   soak_server COMMAND SECONDS [gentle]       gentle: nobody forks, jumps or is cancelled, which sanitizers do not bear
 *   soak_server COMMAND SEED session [gentle]  one session again
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/process/clock.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { CLIENTS = 3, THREADS_MOST = 3, EXTENT_MOST = 220 };

/* What a session lasts, and what one may last: many times as long. */
#define SESSION_SECONDS 4.0
#define LIMIT_SECONDS   150.0
#define CLIENT_SECONDS  60.0

static bool gentle;

/* Between the clients and who starts and ends them. */
static struct {
    atomic_bool is_over;
    atomic_long products, served;
} * told;

/* ---- A client ---------------------------------------------------------------------------------------------- */

static bool multiply_once(check_random *random, const char *when)
{
    const bool is_served = multiply(random, EXTENT_MOST, when);
    atomic_fetch_add(&told->products, 1);
    atomic_fetch_add(&told->served, is_served);
    return is_served;
}

static void change_option(check_random *random)
{
    static const char *const memories[] = {"0", "0", "2", "12"};
    static const char *const seconds[] = {"30", "30", "1", "0"};
    tileblas_set_option("DEVICE_MEMORY", CHECK_PICK(random, memories));
    tileblas_set_option("KEEP_SECONDS", CHECK_PICK(random, seconds));
}

static void *multiply_until_cancelled(void *seed)
{
    check_random random = {.state = (uint64_t)(uintptr_t)seed};
    for (int i = 0; i < 50; i++) {
        multiply_once(&random, "by a thread that is cancelled");
        pthread_testcancel();
    }
    return NULL;
}

static void cancel_a_thread(check_random *random)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, multiply_until_cancelled, (void *)(uintptr_t)check_next(random)) != 0)
        return;
    server_pause((double)check_between(random, 0, 20) * 1e-3);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static _Thread_local sigjmp_buf before_call;
static _Thread_local volatile sig_atomic_t calling;

static void jump(int number)
{
    if (!calling)
        return;
    calling = 0;
    siglongjmp(before_call, number);
}

/* C is anything then, and is given up. */
static void jump_out(check_random *random)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    const struct itimerspec once = {.it_value = {.tv_nsec = (long)check_between(random, 1000, 6000000)}};
    timer_t timer;
    event.sigev_notify_thread_id = gettid();
    known_product p = draw(random, EXTENT_MOST);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return;
    if (sigsetjmp(before_call, 1) == 0) {
        timer_settime(timer, 0, &once, NULL);
        calling = 1;
        known_multiply(&p);
        calling = 0;
        CHECK(known_errors(&p) == 0, "a call that nobody left is wrong");
    }
    timer_delete(timer);
    known_free(&p);
}

static void end_child(void)
{
    fflush(stdout);
    _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* A child, some of which jump out of calls, after which nothing is served to them. */
static void fork_and_multiply(check_random *random)
{
    const bool jumps = check_between(random, 0, 1);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        atomic_store(&check_failures, 0);
        for (int i = 0; i < 4; i++) {
            if (jumps)
                jump_out(random);
            multiply_once(random, jumps ? "by a child that jumps out of calls" : "by a child");
        }
        end_child();
    }
    const child_end end = child_wait(child, CLIENT_SECONDS);
    CHECK(end == CHILD_RIGHT || end == CHILD_KILLED, "a client's child: %s", child_end_text(end));
}

static void act(check_random *random)
{
    const int64_t what = check_between(random, 0, 99);
    if (what < 3)
        change_option(random);
    else if (what < 6)
        server_pause((double)check_between(random, 0, 250) * 1e-3);
    else if (what < 8 && !gentle)
        cancel_a_thread(random);
    else if (what < 9 && !gentle)
        fork_and_multiply(random);
    else
        multiply_once(random, "by a client");
}

static void *work(void *seed)
{
    check_random random = {.state = (uint64_t)(uintptr_t)seed};
    while (!atomic_load(&told->is_over) && atomic_load(&check_failures) == 0)
        act(&random);
    return NULL;
}

/* What is connected has a socket, a wire and slots. */
static void be_client(uint64_t seed)
{
    check_random random = {.state = seed};
    pthread_t threads[THREADS_MOST];
    const struct sigaction action = {.sa_handler = jump};
    sigaction(SIGUSR1, &action, NULL);
    has_no_device = true;
    prefer_device();
    known_multiply_once(2, 2, 2, 0, 1, TB_MEMORY_HOST); /* the host's BLAS is found, which opens files */
    const int files = open_files(), count = (int)check_between(&random, 1, THREADS_MOST);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)check_next(&random));
    if (check_between(&random, 0, 3) == 0) {
        server_pause((double)check_between(&random, 0, 2000) * 1e-3);
        close_range(STDERR_FILENO + 1, ~0U, 0); /* as programs do that do not know what is open */
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    CHECK(open_files() <= files + 1 && shared_maps() <= 2, "a client has %d files more, and %d maps",
          open_files() - files, shared_maps());
    end_child();
}

/* ---- Servers and clients ----------------------------------------------------------------------------------- */

typedef struct stage {
    check_random random;
    pid_t server; /* 0: there is none */
    bool is_stopped, loses_device;
    int files, maps; /* of the server, when nobody was there */
    pid_t clients[CLIENTS];
    bool client_is_stopped[CLIENTS];
} stage;

static int count_files(pid_t process)
{
    char path[40];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *files = opendir(path);
    while (files && readdir(files))
        count++;
    if (files)
        closedir(files);
    return count;
}

static int count_maps(pid_t process)
{
    char path[40], line[512];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static void start_server(stage *stage)
{
    static const char *const memories[] = {"1073741824", "25165824", "67108864"};
    static const char *const failures[] = {"copy:300=lost", "launch:200=fault", "any:2000=lost",
                                           "allocate:7=memory,stream:5=memory"};
    setenv("TILEBLAS_SIM_MEMORY", CHECK_PICK(&stage->random, memories), 1);
    setenv("TILEBLAS_SIM_DELAY", check_between(&stage->random, 0, 1) ? "100" : "0", 1);
    if (stage->loses_device)
        setenv("TILEBLAS_SIM_FAIL", CHECK_PICK(&stage->random, failures), 1);
    setenv("TILEBLAS_CALIBRATE", stage->loses_device ? "0" : "1", 1);
    stage->server = server_start();
    unsetenv("TILEBLAS_SIM_FAIL");
    unsetenv("TILEBLAS_SIM_DELAY");
    unsetenv("TILEBLAS_SIM_MEMORY");
    stage->is_stopped = false;
}

static void end_server(stage *stage, int signal)
{
    server_end(stage->server, signal);
    stage->server = 0;
}

static void start_one_client(stage *stage, int number)
{
    const uint64_t seed = check_next(&stage->random);
    fflush(stdout);
    stage->clients[number] = fork();
    stage->client_is_stopped[number] = false;
    if (stage->clients[number] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        atomic_store(&check_failures, 0);
        be_client(seed);
    }
}

static void kill_client(stage *stage, int number)
{
    kill(stage->clients[number], SIGKILL);
    waitpid(stage->clients[number], NULL, 0);
}

static void change_server(stage *stage)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGKILL, SIGTERM, SIGKILL, SIGSTOP};
    const int signal = CHECK_PICK(&stage->random, signals);
    if (stage->server == 0) {
        start_server(stage);
    } else if (stage->is_stopped) {
        kill(stage->server, SIGCONT);
        stage->is_stopped = false;
    } else if (signal == SIGSTOP) {
        kill(stage->server, signal);
        stage->is_stopped = true;
    } else {
        end_server(stage, signal);
    }
}

static void change_client(stage *stage)
{
    const int number = (int)check_between(&stage->random, 0, CLIENTS - 1);
    if (stage->client_is_stopped[number]) {
        kill(stage->clients[number], SIGCONT);
        stage->client_is_stopped[number] = false;
    } else if (check_between(&stage->random, 0, 2) == 0) {
        kill(stage->clients[number], SIGSTOP);
        stage->client_is_stopped[number] = true;
    } else {
        kill_client(stage, number);
        start_one_client(stage, number);
    }
}

static void end_clients(stage *stage)
{
    atomic_store(&told->is_over, true);
    for (int i = 0; i < CLIENTS; i++) {
        kill(stage->clients[i], SIGCONT);
        const child_end end = child_wait(stage->clients[i], CLIENT_SECONDS);
        CHECK(end == CHILD_RIGHT, "a client: %s", child_end_text(end));
    }
}

/* Of berths that wait for the next clients, beside those that a server begins with. */
enum { READY_FILES = 2 * 14 };

/* Once all clients have left, with those of their children that have outlived them. */
static void check_server(const stage *stage)
{
    int clients = 1, files = 0, maps = 0;
    int64_t bytes = 1;
    for (int look = 0; look < 500; look++) {
        bytes = server_holds(&clients);
        files = count_files(stage->server) - stage->files;
        maps = count_maps(stage->server) - stage->maps;
        if (clients == 0 && bytes == 0 && files <= READY_FILES && maps <= READY_FILES)
            return;
        server_pause(0.02);
    }
    CHECK(false, "a server without clients has %d of them, %lld bytes, and %d files and %d maps more",
          clients, (long long)bytes, files, maps);
}

static void run_session(void *seed)
{
    static stage stage;
    stage.random.state = *(uint64_t *)seed;
    stage.loses_device = check_between(&stage.random, 0, 2) == 0;
    atomic_store(&told->is_over, false);
    start_server(&stage);
    for (int i = 0; i < CLIENTS; i++)
        start_one_client(&stage, i);
    for (const double end = tb_seconds() + SESSION_SECONDS; tb_seconds() < end;) {
        server_pause((double)check_between(&stage.random, 10, 600) * 1e-3);
        const bool server_is_due = check_between(&stage.random, 0, stage.server == 0 ? 5 : 2) > 1;
        (server_is_due ? change_server : change_client)(&stage);
    }
    if (stage.is_stopped)
        change_server(&stage);
    if (stage.server != 0)
        end_server(&stage, SIGTERM);
    /* The last one serves whoever is left. Nobody comes before it has been looked at. */
    for (int i = 0; i < CLIENTS; i++)
        kill(stage.clients[i], SIGSTOP);
    stage.loses_device = false;
    start_server(&stage);
    server_pause(0.3);
    stage.files = count_files(stage.server);
    stage.maps = count_maps(stage.server);
    for (int i = 0; i < CLIENTS; i++)
        kill(stage.clients[i], SIGCONT);
    server_pause((double)check_between(&stage.random, 0, 1500) * 1e-3);
    end_clients(&stage);
    check_server(&stage);
    CHECK(server_end(stage.server, SIGTERM) == 0, "the server did not end well");
}

int main(int count, char **arguments)
{
    if (count < 3)
        return EXIT_FAILURE;
    const bool again = count > 3 && strcmp(arguments[3], "session") == 0;
    gentle = strcmp(arguments[count - 1], "gentle") == 0;
#ifdef __SANITIZE_THREAD__
    gentle = true;
#endif
#ifdef __SANITIZE_ADDRESS__
    gentle = true;
#endif
    /* With threads of its own OpenBLAS, amid forks, cancellations and jumps, comes to wait for them for ever. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("TILEBLAS_CALIBRATE", "0", 1);
    server_command = arguments[1];
    uint64_t session = again ? strtoull(arguments[2], NULL, 0) : 0;
    check_random random = {.state = again ? 0 : check_seed()};
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return EXIT_FAILURE;
    const runtime_folder folder = make_runtime_folder();
    const double end = tb_seconds() + (again ? 0 : atof(arguments[2]));
    long sessions = 0;
    do {
        session = again ? session : check_next(&random);
        const child_end how = child_run(run_session, &session, LIMIT_SECONDS);
        sessions++;
        if (!CHECK(how == CHILD_RIGHT, "session %" PRIu64 ": %s", session, child_end_text(how)))
            break;
    } while (tb_seconds() < end);
    printf("%ld sessions, %ld products, %ld of them served\n", sessions, atomic_load(&told->products),
           atomic_load(&told->served));
    remove_runtime_folder(&folder);
    return check_result();
}
