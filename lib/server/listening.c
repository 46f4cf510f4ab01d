#include "lib/server/listening.h"

#include "lib/process/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Of clients that wait to be accepted. */
enum { BACKLOG = 256 };

/* ---- One that was handed over ------------------------------------------------------------------------------ */

/* By systemd's convention (sd_listen_fds(3)): the first descriptor, and variables that name the process they are meant for. */
enum { FIRST_HANDED = 3 };

static bool names_one(const char *variable, long expected)
{
    const char *text = secure_getenv(variable);
    char *end;
    return text && strtol(text, &end, 10) == expected && end != text && *end == '\0';
}

static bool is_handed(void)
{
    return names_one("LISTEN_PID", getpid()) && secure_getenv("LISTEN_FDS");
}

static bool has_value(int file, int option, int expected)
{
    int value;
    socklen_t size = sizeof value;
    return getsockopt(file, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

static bool is_for_clients(int file)
{
    return has_value(file, SO_DOMAIN, AF_UNIX) && has_value(file, SO_TYPE, SOCK_SEQPACKET) &&
           has_value(file, SO_ACCEPTCONN, 1);
}

static tb_naming take_handed(tb_listening *listening)
{
    const bool is_one = names_one("LISTEN_FDS", 1) && is_for_clients(FIRST_HANDED);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!is_one)
        return TB_HANDED_ANOTHER;
    fcntl(FIRST_HANDED, F_SETFD, FD_CLOEXEC);
    listening->is_handed = true;
    listening->socket = FIRST_HANDED;
    return TB_NAMED;
}

/* ---- One of the server's own ------------------------------------------------------------------------------- */

static bool find_name(tb_listening *listening, const char *path)
{
    if (!path) {
        listening->folder = tb_open_private_folder();
        tb_wire_socket_name(listening->name, sizeof listening->name);
        return listening->folder >= 0;
    }
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || strlen(path) >= sizeof folder || strlen(name) >= sizeof listening->name)
        return false;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    strcpy(listening->name, name);
    listening->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return listening->folder >= 0;
}

/* Whether it is there, and is a socket. */
static bool look_at_name(const tb_listening *listening, struct stat *found)
{
    return fstatat(listening->folder, listening->name, found, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISSOCK(found->st_mode);
}

/* Which is not this server's to remove. */
static bool has_another_file(const tb_listening *listening)
{
    struct stat found;
    return fstatat(listening->folder, listening->name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISSOCK(found.st_mode);
}

/* The address of the name, by the folder that was opened. */
static struct sockaddr_un address_of(const tb_listening *listening)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", listening->folder,
             listening->name);
    return address;
}

/* A server that was killed leaves a name at which nobody listens. Systemd listens for a server that does not run; and a socket of
 * another kind is somebody else's. */
static bool has_listener(const tb_listening *listening)
{
    const struct sockaddr_un address = address_of(listening);
    const int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool has_listener =
        file >= 0 && (connect(file, (const struct sockaddr *)&address, sizeof address) == 0 ||
                      (errno != ECONNREFUSED && errno != ENOENT));
    if (file >= 0)
        close(file);
    return has_listener;
}

/* One that was killed has it for a moment longer than its socket. */
enum { ATTEMPTS = 20 };
#define ATTEMPT_NANOSECONDS 50000000

/* For as long as this server lives. */
static bool take_lock(tb_listening *listening)
{
    char name[sizeof listening->name + sizeof ".lock"];
    snprintf(name, sizeof name, "%s.lock", listening->name);
    listening->lock = openat(listening->folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int attempt = 0; listening->lock >= 0 && attempt < ATTEMPTS; attempt++) {
        if (flock(listening->lock, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (has_listener(listening))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = ATTEMPT_NANOSECONDS}, NULL);
    }
    return false;
}

static tb_naming take_own(tb_listening *listening, const char *path)
{
    if (!find_name(listening, path) || has_another_file(listening))
        return TB_NAME_IS_IMPOSSIBLE;
    return has_listener(listening) || !take_lock(listening) ? TB_NAME_IS_TAKEN : TB_NAMED;
}

tb_naming tb_take_name(tb_listening *listening, const char *path)
{
    *listening = (tb_listening){.socket = -1, .folder = -1, .lock = -1};
    const tb_naming naming = is_handed() ? take_handed(listening) : take_own(listening, path);
    if (naming != TB_NAMED)
        tb_stop_listening(listening);
    return naming;
}

static bool bind_to_name(const tb_listening *listening, int file)
{
    const struct sockaddr_un address = address_of(listening);
    return bind(file, (const struct sockaddr *)&address, sizeof address) == 0 &&
           fchmodat(listening->folder, listening->name, 0600, 0) == 0 && listen(file, BACKLOG) == 0;
}

bool tb_listen(tb_listening *listening)
{
    struct stat found;
    if (listening->is_handed)
        return true;
    if (look_at_name(listening, &found))
        unlinkat(listening->folder, listening->name, 0); /* of a server that was killed */
    const int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (file < 0 || !bind_to_name(listening, file) || !look_at_name(listening, &found)) {
        if (file >= 0)
            close(file);
        return false;
    }
    listening->device = found.st_dev;
    listening->inode = found.st_ino;
    listening->socket = file;
    return true;
}

bool tb_is_found(const tb_listening *listening)
{
    struct stat found;
    return listening->is_handed || (look_at_name(listening, &found) && found.st_dev == listening->device &&
                                    found.st_ino == listening->inode);
}

void tb_stop_listening(tb_listening *listening)
{
    if (listening->socket >= 0 && !listening->is_handed && tb_is_found(listening))
        unlinkat(listening->folder, listening->name, 0);
    if (listening->socket >= 0)
        close(listening->socket);
    if (listening->folder >= 0)
        close(listening->folder);
    if (listening->lock >= 0)
        close(listening->lock);
    *listening = (tb_listening){.socket = -1, .folder = -1, .lock = -1};
}
