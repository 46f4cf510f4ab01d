#include "lib/user/append.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* A full pipe is waited for so long: its reader may be slow, or never read. */
enum { PATIENCE_MS = 1000 };

static bool write_pieces(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN && poll(&(struct pollfd){file, POLLOUT, 0}, 1, PATIENCE_MS) != 0)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* A pipe that nobody reads any more, and a file beyond the limit of RLIMIT_FSIZE, raise signals that end the program. */
bool tb_write_whole(int file, const char *bytes, size_t size)
{
    sigset_t raised, pending, before;
    sigemptyset(&raised);
    sigaddset(&raised, SIGPIPE);
    sigaddset(&raised, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &raised, &before);
    const bool is_written = write_pieces(file, bytes, size);
    const int error = errno;
    /* Those that are the program's stay for it. */
    if (sigismember(&pending, SIGPIPE))
        sigdelset(&raised, SIGPIPE);
    if (sigismember(&pending, SIGXFSZ))
        sigdelset(&raised, SIGXFSZ);
    while (!is_written && sigtimedwait(&raised, NULL, &(struct timespec){0}) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_written;
}

bool tb_append(const char *path, bool (*write)(int file))
{
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (file < 0)
        return false;
    const bool is_written = write(file);
    return close(file) == 0 && is_written;
}
