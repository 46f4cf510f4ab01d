/* Whose rights a program has, and whose a server: another user's server is no client's, and a program that runs with its owner's rights
 * believes nothing of its caller's environment.
 *
 *   rights foreign|environment COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/process/private_folder.h"
#include "tests/server/door.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { CHILD_SECONDS = 120, PRODUCTS = 12, NOBODY = 65534 };

static runtime_folder folder;

static int multiply_all(void)
{
    check_random random = {1};
    int served = 0;
    for (int i = 0; i < PRODUCTS; i++)
        served += multiply(&random, 100, "with somebody's rights");
    return served;
}

/* ---- A server of another user -------------------------------------------------------------------------------- */

/* A folder that everybody reaches, and that is the user's. */
static void make_common_folder(char *path, uid_t user)
{
    strcpy(path, "/tmp/tileblas-rights-XXXXXX");
    if (!mkdtemp(path) || chmod(path, 0755) != 0 || chown(path, user, user) != 0)
        SKIP("no folder for another user can be made");
}

/* With its socket in the folder where it runs. */
static pid_t start_as_another_user(const char *path)
{
    int ends[2];
    char line[128] = "";
    const int command = open(server_command, O_RDONLY | O_CLOEXEC);
    if (pipe(ends) != 0 || command < 0)
        abort();
    const pid_t server = fork();
    if (server == 0) {
        char *arguments[] = {"tileblas", "serve", "--socket", "socket", NULL};
        if (dup2(ends[1], STDOUT_FILENO) < 0 || chdir(path) != 0 || setgid(NOBODY) != 0 ||
            setuid(NOBODY) != 0)
            _exit(127);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fexecve(command, arguments, environ);
        _exit(127);
    }
    close(ends[1]);
    close(command);
    const bool is_ready = read(ends[0], line, sizeof line - 1) > 0 && strncmp(line, "ready", 5) == 0;
    close(ends[0]);
    CHECK(is_ready, "another user's server says: %s", line);
    return server;
}

static void refuse_another_users(void *path)
{
    tb_welcome status;
    const int files = open_files();
    has_no_device = true;
    prefer_device();
    tileblas_set_option("SERVER", path);
    const int served = multiply_all();
    CHECK(served == 0 && open_files() == files, "%d products were served by another user's server", served);
    CHECK(!tb_ask_status(&status, 5000) && strstr(tb_why_no_server(), "another user") != NULL,
          "another user's server: %s", tb_why_no_server());
}

static void foreign(void)
{
    char path[64], socket_path[PATH_MAX];
    if (geteuid() != 0)
        SKIP("only root can be another user");
    make_common_folder(path, NOBODY);
    snprintf(socket_path, sizeof socket_path, "%s/socket", path);
    const pid_t server = start_as_another_user(path);
    CHECK(access(socket_path, F_OK) == 0, "there is no server's socket");
    const child_end end = child_run(refuse_another_users, socket_path, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client of another user's server: %s", child_end_text(end));
    CHECK(server_end(server, SIGTERM) == 0, "another user's server did not end well");
    CHECK(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s stays", path);
}

/* ---- The environment of a program that has its owner's rights ---------------------------------------------- */

/* What this program does where it is run as such a one. */
static int be_privileged(const char *wanted)
{
    if ((getauxval(AT_SECURE) != 0) != (strcmp(wanted, "secure") == 0))
        return CHECK_SKIPPED;
    has_no_device = true;
    tileblas_set_option("ROUTE", "streamed");
    multiply_all();
    return check_result();
}

static int open_copy(const char *path, mode_t mode)
{
    char bytes[1 << 16];
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
              to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    for (ssize_t count; (count = read(from, bytes, sizeof bytes)) > 0;)
        if (write(to, bytes, (size_t)count) != count)
            abort();
    close(from);
    if (fchmod(to, mode) != 0)
        abort();
    close(to);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether it has ended well; whoever knocks meanwhile waits at the door. */
static bool run_copy(int program, const char *variable, const char *value, uid_t user, const char *wanted)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {"rights", "as", (char *)(uintptr_t)wanted, NULL};
        unsetenv("XDG_RUNTIME_DIR");
        setenv(variable, value, 1);
        if (setgid(user) != 0 || setuid(user) != 0)
            _exit(127);
        fexecve(program, arguments, environ);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED)
        SKIP("programs have no rights of their owner's here");
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* A slow client knocks more than once. */
static bool has_knocked(int door)
{
    struct pollfd ready = {.fd = door, .events = POLLIN};
    bool any = false;
    for (; poll(&ready, 1, 0) == 1; any = true)
        close(accept(door, NULL, NULL));
    return any;
}

/* Which somebody else has set: the option, and the folder for what runs. Where the program has its caller's rights both are heeded. */
static void environment(void)
{
    char path[PATH_MAX + 16], copy[PATH_MAX + 16];
    if (geteuid() != 0)
        SKIP("only root can give a program away");
    snprintf(path, sizeof path, "%s/named", folder.path);
    snprintf(copy, sizeof copy, "%s/program", folder.path);
    const int in_folder = open_door(SOCK_SEQPACKET);
    tileblas_set_option("SERVER", path);
    const int named = open_door(SOCK_SEQPACKET), program = open_copy(copy, 04755);
    const struct {
        const char *variable, *value;
        int door;
    } rows[] = {{"TILEBLAS_SERVER", path, named}, {"XDG_RUNTIME_DIR", folder.path, in_folder}};
    for (int i = 0; i < 2; i++) {
        CHECK(run_copy(program, rows[i].variable, rows[i].value, 0, "open") && has_knocked(rows[i].door),
              "%s is not heeded at all", rows[i].variable);
        CHECK(run_copy(program, rows[i].variable, rows[i].value, NOBODY, "secure"),
              "a product of a program with rights of its owner's is wrong");
        CHECK(!has_knocked(rows[i].door), "%s is heeded", rows[i].variable);
    }
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {{"foreign", foreign}, {"environment", environment}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    if (strcmp(arguments[1], "as") == 0)
        return be_privileged(arguments[2]);
    server_command = arguments[2];
    folder = make_runtime_folder();
    close(tb_open_private_folder());
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
