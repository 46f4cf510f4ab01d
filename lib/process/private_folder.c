#include "lib/process/private_folder.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many names in /tmp are tried: anybody may have made the first ones. */
enum { FOLDERS_MOST = 16 };

/* None of the numbers that a program without standard files may expect its own next files to have. */
int tb_above_standard_files(int file)
{
    if (file < 0 || file > STDERR_FILENO)
        return file;
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(file);
    return moved;
}

/* The user's own, where nobody else can put, take or hold anything; or -1. */
static int open_private(int parent, const char *name, int flags)
{
    struct stat found;
    const int folder =
        tb_above_standard_files(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
    if (folder >= 0 &&
        (fstat(folder, &found) != 0 || found.st_uid != geteuid() || (found.st_mode & 077) != 0)) {
        close(folder);
        return -1;
    }
    return folder;
}

static int open_own(int parent, const char *name, bool makes)
{
    if (makes)
        mkdirat(parent, name, 0700);
    return open_private(parent, name, O_NOFOLLOW);
}

/* A folder of our own in the one that the system has made for what the user's programs share while they run. */
static int open_in_runtime_folder(const char *path, bool makes)
{
    const int runtime = path && *path == '/' ? open_private(AT_FDCWD, path, 0) : -1;
    if (runtime < 0)
        return -1;
    const int folder = open_own(runtime, "tileblas", makes);
    close(runtime);
    return folder;
}

/* Where there is none, as in containers and under batch systems. All processes find the same one: the first that is theirs. */
static int open_in_common_folder(bool makes)
{
    int folder = -1;
    for (int number = 0; number < FOLDERS_MOST && folder < 0; number++) {
        char path[64];
        snprintf(path, sizeof path, number == 0 ? "/tmp/tileblas-%u" : "/tmp/tileblas-%u.%d",
                 (unsigned)geteuid(), number);
        folder = open_own(AT_FDCWD, path, makes);
    }
    return folder;
}

static int open_folder(bool makes)
{
    char path[64];
    int folder = open_in_runtime_folder(secure_getenv("XDG_RUNTIME_DIR"), makes);
    snprintf(path, sizeof path, "/run/user/%u", (unsigned)geteuid());
    if (folder < 0)
        folder = open_in_runtime_folder(path, makes);
    return folder < 0 ? open_in_common_folder(makes) : folder;
}

int tb_open_private_folder(void)
{
    return open_folder(true);
}

int tb_find_private_folder(void)
{
    return open_folder(false);
}
