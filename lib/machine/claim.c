#include "lib/machine/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes that a device is claimed by, at most, and files that a process has. */
enum { CLAIMS_MOST = 64 };

/* ---- The files of this process ------------------------------------------------------------------------- */

/* The program may close them, and their numbers be other files': the inode tells. */
static struct {
    int file;
    dev_t device;
    ino_t inode;
} held[CLAIMS_MOST];
static atomic_int held_count;

static void hold(int file)
{
    struct stat found;
    const int count = atomic_load(&held_count);
    if (count == CLAIMS_MOST || fstat(file, &found) != 0)
        return;
    held[count].file = file;
    held[count].device = found.st_dev;
    held[count].inode = found.st_ino;
    atomic_store(&held_count, count + 1);
}

/* What a forked child's parent has claimed is the parent's: the lock is the child's as well, and would stay when that has
 * ended. */
static void give_up_in_child(void)
{
    struct stat found;
    for (int i = 0; i < atomic_load(&held_count); i++)
        if (fstat(held[i].file, &found) == 0 && found.st_dev == held[i].device &&
            found.st_ino == held[i].inode)
            close(held[i].file);
    atomic_store(&held_count, 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, give_up_in_child);
}

/* ---- The folder ---------------------------------------------------------------------------------------- */

/* So many names in /tmp are tried: anybody may have made the first ones. */
enum { FOLDERS_MOST = 16 };

/* None of the numbers that a program without standard files may expect its own next files to have. */
static int above_standard_files(int file)
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
    const int folder = above_standard_files(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
    if (folder >= 0 &&
        (fstat(folder, &found) != 0 || found.st_uid != geteuid() || (found.st_mode & 077) != 0)) {
        close(folder);
        return -1;
    }
    return folder;
}

static int make_private(int parent, const char *name)
{
    mkdirat(parent, name, 0700);
    return open_private(parent, name, O_NOFOLLOW);
}

/* A folder of our own in the one that the system has made for what the user's programs share while they run. */
static int open_in_runtime_folder(const char *path)
{
    const int runtime = path && *path == '/' ? open_private(AT_FDCWD, path, 0) : -1;
    if (runtime < 0)
        return -1;
    const int folder = make_private(runtime, "tileblas");
    close(runtime);
    return folder;
}

/* Where there is none, as in containers and under batch systems. All processes find the same one: the first that is theirs. */
static int open_in_common_folder(void)
{
    int folder = -1;
    for (int number = 0; number < FOLDERS_MOST && folder < 0; number++) {
        char path[64];
        snprintf(path, sizeof path, number == 0 ? "/tmp/tileblas-%u" : "/tmp/tileblas-%u.%d",
                 (unsigned)geteuid(), number);
        folder = make_private(AT_FDCWD, path);
    }
    return folder;
}

static int open_folder(void)
{
    char path[64];
    int folder = open_in_runtime_folder(secure_getenv("XDG_RUNTIME_DIR"));
    snprintf(path, sizeof path, "/run/user/%u", (unsigned)geteuid());
    if (folder < 0)
        folder = open_in_runtime_folder(path);
    return folder < 0 ? open_in_common_folder() : folder;
}

/* ---- Claims -------------------------------------------------------------------------------------------- */

static bool has_identity(const tb_device_description *description)
{
    static const unsigned char nobody[sizeof description->uuid];
    return memcmp(description->uuid, nobody, sizeof nobody) != 0;
}

static void name_claim(const tb_device_description *description, int number, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "device-%d-", number);
    for (size_t i = 0; i < sizeof description->uuid; i++)
        used += (size_t)snprintf(text + used, size - used, "%02x", description->uuid[i]);
}

/* The file stays open, and locked, until the process ends; and where it is, as another process may have opened it already. Where
 * there are no files or locks nobody claims anything. */
static bool claim(int folder, const tb_device_description *description, int number)
{
    char name[32 + 2 * sizeof description->uuid];
    name_claim(description, number, name, sizeof name);
    const int claimed = above_standard_files(
        openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (claimed < 0)
        return true;
    if (flock(claimed, LOCK_EX | LOCK_NB) == 0) {
        hold(claimed);
        return true;
    }
    const bool is_taken = errno == EWOULDBLOCK;
    close(claimed);
    return !is_taken;
}

bool tb_claim_device(const tb_device_description *description)
{
    const int folder = has_identity(description) ? open_folder() : -1;
    if (folder < 0)
        return true;
    const bool is_ours = claim(folder, description, 0);
    close(folder);
    return is_ours;
}

static int claim_any(int folder, const tb_device_description *descriptions, int count)
{
    for (int number = 0; number < CLAIMS_MOST; number++)
        for (int device = 0; device < count; device++)
            if (strcmp(descriptions[device].name, descriptions[0].name) == 0 &&
                claim(folder, &descriptions[device], number))
                return device;
    return 0;
}

int tb_claim_home(const tb_device_description *descriptions, int count)
{
    const int folder = count < 2 || !has_identity(&descriptions[0]) ? -1 : open_folder();
    if (folder < 0)
        return 0;
    const int home = claim_any(folder, descriptions, count);
    close(folder);
    return home;
}
