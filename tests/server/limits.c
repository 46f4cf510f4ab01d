/* Limits that somebody has set for the program or for the server: products are right, by whoever can compute them, nobody is ended by a
 * signal, and once there is room again the server serves.
 *
 *   limits memory|little|locked|sizes|files|full|threads|berths COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device. Those of a server that runs are changed from here (prlimit(2)).
 */
#include "lib/process/clock.h"
#include "lib/process/private_folder.h"
#include "lib/serving/connection.h"
#include "lib/serving/pulse.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { CHILD_SECONDS = 120, PRODUCTS = 4, FILES_MOST = 1024 };

static const rlim_t mebibyte = (rlim_t)1 << 20;

static runtime_folder folder;

/* Sanitizers have terabytes mapped, and end a process that gets no memory; that of threads wants files as well. */
#ifdef __SANITIZE_ADDRESS__
static const bool has_address_sanitizer = true;
#else
static const bool has_address_sanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
static const bool has_thread_sanitizer = true;
#else
static const bool has_thread_sanitizer = false;
#endif

static void skip_under(bool sanitizer)
{
    if (sanitizer)
        SKIP("a sanitizer needs what is limited here");
}

/* ---- Limits ------------------------------------------------------------------------------------------------ */

/* Of a process; 0: of this one, and of those that it will start. What it was. */
static rlim_t limit(pid_t process, int resource, rlim_t most)
{
    struct rlimit before, now;
    if (prlimit(process, (enum __rlimit_resource)resource, NULL, &before) != 0)
        abort();
    now = (struct rlimit){most < before.rlim_max ? most : before.rlim_max, before.rlim_max};
    if (prlimit(process, (enum __rlimit_resource)resource, &now, NULL) != 0)
        abort();
    return before.rlim_cur;
}

static rlim_t mapped_bytes(pid_t process)
{
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        abort();
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* That a process has had of a core. */
static double core_seconds(pid_t process)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const char *fields = file >= 0 && read(file, text, sizeof text - 1) > 0 ? strrchr(text, ')') : NULL;
    CHECK(fields &&
              sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2,
          "the server has ended");
    if (file >= 0)
        close(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* It waits for what it has not, and does not try again and again: a process that does so takes as much of the cores as this one, however
 * many others there are. */
static void check_is_quiet(pid_t server, const char *when)
{
    const double before = core_seconds(server), own = core_seconds(getpid());
    double has_had;
    do
        has_had = core_seconds(getpid()) - own;
    while (has_had < 0.3);
    const double had = core_seconds(server) - before;
    CHECK(had < 0.5 * has_had, "%s the server has %.2f s of a core while another process has %.2f", when, had,
          has_had);
}

/* ---- Clients ----------------------------------------------------------------------------------------------- */

/* What is told by a client that has ended. */
static atomic_int *served;

static void multiply_all(void)
{
    check_random random = {1};
    for (int i = 0; i < PRODUCTS; i++)
        atomic_fetch_add(served, multiply(&random, 60, "with a limit"));
}

static void begin_client(void)
{
    atomic_store(served, 0);
    has_no_device = true;
    prefer_device();
}

static void be_client(void *unused)
{
    (void)unused;
    begin_client();
    multiply_all();
}

/* How many of its products were served. */
static int run_client(void (*client)(void *), void *argument, const char *what)
{
    const child_end end = child_run(client, argument, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "%s: %s", what, child_end_text(end));
    return atomic_load(served);
}

static void check_serves(const char *when)
{
    const int count = run_client(be_client, NULL, when);
    CHECK(count == PRODUCTS, "%s %d of %d products are served", when, count, PRODUCTS);
}

static void check_serves_not(const char *when)
{
    const int count = run_client(be_client, NULL, when);
    CHECK(count == 0, "%s %d products are served", when, count);
}

static void end_server(pid_t server)
{
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

/* ---- Memory ------------------------------------------------------------------------------------------------- */

/* OpenBLAS, where that is the host, asks for its buffers at its first call, and for ever where it gets none. */
static void call_host(void)
{
    check_random random = {1};
    tileblas_set_option("ROUTE", "host");
    multiply(&random, 60, "before a limit");
}

/* Slots do not fit, and those that do not are not asked for again and again. */
static void have_little_memory(void *mebibytes)
{
    call_host();
    begin_client();
    const bool is_enough = *(int *)mebibytes > 128;
    const int files = open_files();
    limit(0, RLIMIT_AS, mapped_bytes(getpid()) + (rlim_t) * (int *)mebibytes * mebibyte);
    multiply_all();
    CHECK((tb_server_is_left_alone_until() > tb_seconds()) == !is_enough,
          "with room for %d MiB the server is %s", *(int *)mebibytes,
          is_enough ? "left alone" : "asked again soon");
    CHECK(is_enough || (open_files() == files && shared_maps() == 0), "%d files stay open, and %d maps stay",
          open_files() - files, shared_maps());
}

static void memory(void)
{
    static const int rooms[] = {4, 16, 48, 64, 256};
    const pid_t server = server_start();
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        int room = rooms[i];
        const int count = run_client(have_little_memory, &room, "a client with little memory");
        CHECK(count == (room > 128 ? PRODUCTS : 0), "with room for %d MiB %d products are served", room,
              count);
    }
    end_server(server);
}

/* The server's: no client fits. */
static void little(void)
{
    setenv("TILEBLAS_CALIBRATE", "0",
           1); /* as the simulated device ends a server that has no memory for it */
    const pid_t server = server_start();
    const rlim_t before = limit(server, RLIMIT_AS, mapped_bytes(server) / 2);
    check_serves_not("without memory for a client");
    check_is_quiet(server, "without memory");
    limit(server, RLIMIT_AS, before);
    check_serves("with memory again");
    end_server(server);
}

static void locked(void)
{
    limit(0, RLIMIT_MEMLOCK, 0);
    const pid_t server = server_start();
    check_serves("where nothing can be locked");
    end_server(server);
}

/* ---- Sizes of files ----------------------------------------------------------------------------------------- */

static void write_no_file(void *unused)
{
    begin_client();
    limit(0, RLIMIT_FSIZE, 0);
    be_client(unused);
}

/* A server that may not make a file has none for clients; and nobody is ended by the signal that tells it. */
static void sizes(void)
{
    setenv("TILEBLAS_CALIBRATE", "0", 1); /* as the simulated device keeps its memory in files */
    pid_t server = server_start();
    const int count = run_client(write_no_file, NULL, "a client that may not write files");
    CHECK(count == PRODUCTS, "%d products of a client that may not write files are served", count);
    end_server(server);

    const rlim_t before = limit(0, RLIMIT_FSIZE, 0);
    server = server_start();
    limit(0, RLIMIT_FSIZE, before);
    check_serves_not("where the server may not write files");
    check_is_quiet(server, "without files");
    limit(server, RLIMIT_FSIZE, before);
    check_serves("with files again");
    end_server(server);
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

/* All numbers are taken but so many. */
static void have_few_files(void *left)
{
    int own[FILES_MOST], count = 0;
    begin_client();
    limit(0, RLIMIT_NOFILE, FILES_MOST);
    while (count < FILES_MOST && (own[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    for (int i = 0; i < *(int *)left; i++)
        close(own[--count]);
    multiply_all();
    int now = 0;
    for (int file; (file = dup(STDERR_FILENO)) >= 0; now++)
        ;
    CHECK(now == *(int *)left || atomic_load(served) > 0, "of %d files that are free %d are left",
          *(int *)left, now);
}

static void files(void)
{
    enum { LEFT_MOST = 8 };
    int with_all = 0;
    const pid_t server = server_start();
    for (int left = 0; left <= LEFT_MOST; left++) {
        const int count = run_client(have_few_files, &left, "a client with few files");
        CHECK(count == 0 || count == PRODUCTS, "with %d files %d products are served", left, count);
        with_all += count == PRODUCTS;
    }
    CHECK(with_all > 0 && with_all < LEFT_MOST, "clients are served with %d numbers of files", with_all);
    end_server(server);
}

/* The server's: many come who say nothing, and wait. */
static void full(void)
{
    enum { CALLERS = 24 };
    int callers[CALLERS];
    const pid_t server = server_start();
    check_serves("with files");
    const rlim_t before = limit(server, RLIMIT_NOFILE, 4);
    tileblas_set_option("SERVER", "auto");
    for (int i = 0; i < CALLERS; i++)
        callers[i] = tb_open_server_socket();
    check_is_quiet(server, "without files");
    check_serves_not("without files");
    for (int i = 0; i < CALLERS; i++)
        if (callers[i] >= 0)
            close(callers[i]);
    limit(server, RLIMIT_NOFILE, before);
    check_serves("with files again");
    end_server(server);
}

/* ---- Threads ------------------------------------------------------------------------------------------------ */

/* As a user that may not have as many as root may. */
static void have_no_threads(void *unused)
{
    (void)unused;
    const pid_t server = server_start();
    const rlim_t before = limit(server, RLIMIT_NPROC, 1);
    check_serves_not("without threads");
    check_is_quiet(server, "without threads");
    limit(server, RLIMIT_NPROC, before);
    check_serves("with threads again");
    end_server(server);
}

static void become_another_user(void *unused)
{
    enum { USER = 54321 };
    if (setgid(USER) != 0 || setuid(USER) != 0)
        abort();
    if (access(server_command, X_OK) == 0)
        have_no_threads(unused);
    else
        printf("another user cannot run the command\n");
}

static void threads(void)
{
    char common[] = "/tmp/tileblas-limits-XXXXXX";
    if (geteuid() != 0) {
        have_no_threads(NULL);
        return;
    }
    if (!mkdtemp(common) || chown(common, 54321, 54321) != 0)
        SKIP("no folder for another user can be made");
    setenv("XDG_RUNTIME_DIR", common, 1);
    const child_end end = child_run(become_another_user, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a server that gets no threads: %s", child_end_text(end));
    CHECK(nftw(common, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s stays", common);
}

/* ---- Memory for the device ---------------------------------------------------------------------------------- */

/* A server whose device refuses so often what clients would have. */
static pid_t start_refused(int times)
{
    enum { MOST = 100, LINE = 32 };
    char script[MOST * LINE] = "";
    for (int i = 1; i <= times && i <= MOST; i++)
        snprintf(script + strlen(script), LINE, "%spinned:%d=memory", i == 1 ? "" : ",", i);
    setenv("TILEBLAS_SIM_FAIL", script, 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SIM_FAIL");
    return server;
}

static void berths(void)
{
    setenv("TILEBLAS_CALIBRATE", "0", 1);
    pid_t server = start_refused(100);
    check_is_quiet(server, "where the device takes no memory");
    check_serves_not("where the device takes no memory");
    end_server(server);
    server = start_refused(1);
    check_serves("where the device takes memory again");
    end_server(server);
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {{"memory", memory},   {"little", little}, {"locked", locked},
                                              {"sizes", sizes},     {"files", files},   {"full", full},
                                              {"threads", threads}, {"berths", berths}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    skip_under(has_thread_sanitizer);
    skip_under(has_address_sanitizer &&
               (strcmp(arguments[1], "memory") == 0 || strcmp(arguments[1], "little") == 0));
    server_command = arguments[2];
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    folder = make_runtime_folder();
    close(tb_open_private_folder());
    served = mmap(NULL, sizeof *served, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
