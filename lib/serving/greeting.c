#include "lib/serving/greeting.h"

#include "lib/process/clock.h"
#include "lib/process/private_folder.h"
#include "lib/user/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Why the last question was not answered: for people. */
static const char *_Atomic why_none = "none was looked for";

/* Since when it has not answered; 0: it has, or there is none. */
static _Atomic(double) silent_since;

static bool none_because(const char *why)
{
    atomic_store(&why_none, why);
    atomic_store(&silent_since, 0);
    return false;
}

static bool none_because_of_silence(void)
{
    double none = 0;
    atomic_store(&why_none, "it does not answer");
    atomic_compare_exchange_strong(&silent_since, &none, tb_seconds());
    return false;
}

/* A server that is being started answers within so long, be it one of several devices. */
#define COMING_SECONDS 10.0

bool tb_server_is_coming(void)
{
    const double since = atomic_load(&silent_since);
    return since != 0 && tb_seconds() - since < COMING_SECONDS;
}

const char *tb_why_no_server(void)
{
    return atomic_load(&why_none);
}

/* The folder in which a server's socket is looked for, and the name there; the folder is the caller's. -1: there is none. */
static int open_place(char *name, size_t size)
{
    const bool is_named = tb_option_value(TB_OPTION_SERVER) == TB_SERVER_PATH;
    if (!is_named) {
        tb_wire_socket_name(name, size);
        return tb_find_private_folder();
    }
    char folder[PATH_MAX];
    const char *path = tb_option_text(TB_OPTION_SERVER), *last = strrchr(path, '/');
    if ((size_t)(last + 1 - path) >= sizeof folder || strlen(last + 1) >= size)
        return -1;
    strcpy(name, last + 1);
    snprintf(folder, sizeof folder, "%.*s", (int)(last + 1 - path), path);
    return tb_above_standard_files(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void tb_print_server_place(char *path, size_t size)
{
    char name[TB_WIRE_NAME_SIZE], link[32], folder[PATH_MAX] = "";
    const int file = open_place(name, sizeof name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = file < 0 ? -1 : readlink(link, folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    snprintf(path, size, "%s%s%s", folder, length > 0 ? "/" : "", length > 0 ? name : "");
    if (file >= 0)
        close(file);
}

/* The user's own server: whoever else has put a socket there is not greeted. */
static bool is_of_this_user(int socket)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid()) ||
           none_because("its socket is another user's");
}

/* Messages come with the number of the process that sends them: where systemd has opened the socket, that is not the peer's. */
static bool reach(int socket, const struct sockaddr_un *address)
{
    if (connect(socket, (const struct sockaddr *)address, sizeof *address) != 0)
        return errno == EAGAIN /* as many wait already as may */ ? none_because_of_silence()
                                                                 : none_because("none runs");
    return is_of_this_user(socket) &&
           setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) == 0;
}

int tb_open_server_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[TB_WIRE_NAME_SIZE];
    const int folder = open_place(name, sizeof name);
    if (folder < 0) {
        none_because(tb_option_value(TB_OPTION_SERVER) == TB_SERVER_PATH ? "there is no folder for its socket"
                                                                         : "none runs");
        return -1;
    }
    /* By the folder that was looked at, whatever has its name by now. */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
    int file = tb_above_standard_files(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (file >= 0 && !reach(file, &address)) {
        close(file);
        file = -1;
    }
    close(folder);
    return file;
}

/* Where there was no room for both of them one has come. */
static void close_enclosed(const struct cmsghdr *header)
{
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int file;
        memcpy(&file, CMSG_DATA(header) + i * sizeof file, sizeof file);
        close(file);
    }
}

static tb_enclosed read_enclosed(struct msghdr *message)
{
    tb_enclosed found = {0};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        struct ucred sender;
        if (header->cmsg_level != SOL_SOCKET)
            continue;
        if (header->cmsg_type == SCM_CREDENTIALS && header->cmsg_len == CMSG_LEN(sizeof sender)) {
            memcpy(&sender, CMSG_DATA(header), sizeof sender);
            found.process = sender.pid;
            found.is_of_this_user = sender.uid == geteuid();
        } else if (header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof found.files)) {
            memcpy(found.files, CMSG_DATA(header), sizeof found.files);
            found.has_files = true;
        } else if (header->cmsg_type == SCM_RIGHTS) {
            close_enclosed(header);
        }
    }
    return found;
}

static bool is_sound(const tb_welcome *welcome, ssize_t received)
{
    return received == (ssize_t)sizeof *welcome && welcome->build == tb_wire_build() &&
           welcome->status == TB_OK && welcome->device_count > 0 && welcome->device_count <= TB_WIRE_DEVICES;
}

/* A signal that the program handles ends no wait. */
static bool has_answer(int socket, int milliseconds)
{
    const double until = tb_seconds() + milliseconds * 1e-3;
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    int count;
    while ((count = poll(&ready, 1, milliseconds)) < 0 && errno == EINTR) {
        const double left = until - tb_seconds();
        milliseconds = left > 0 ? (int)(left * 1e3) + 1 : 0;
    }
    return count == 1;
}

/* The welcome, and the two files that come with it for a client. */
bool tb_receive_welcome(int socket, int milliseconds, tb_welcome *welcome, tb_enclosed *beside)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control = {0};
    struct iovec part = {.iov_base = welcome, .iov_len = sizeof *welcome};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (!has_answer(socket, milliseconds))
        return none_because_of_silence();
    const ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    *beside = received > 0 ? read_enclosed(&message) : (tb_enclosed){0};
    if (is_sound(welcome, received) && beside->is_of_this_user)
        return true;
    for (int i = 0; i < 2 && beside->has_files; i++)
        close(beside->files[i]);
    return none_because("it is of another build, or has no room");
}

bool tb_ask_status(tb_welcome *welcome, int milliseconds)
{
    const tb_hello hello = {.build = tb_wire_build()};
    const int socket = tb_open_server_socket();
    tb_enclosed beside;
    const bool is_told = socket >= 0 &&
                         send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello &&
                         tb_receive_welcome(socket, milliseconds, welcome, &beside);
    if (is_told)
        welcome->process = beside.process;
    if (socket >= 0)
        close(socket);
    return is_told;
}
