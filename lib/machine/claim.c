#include "lib/machine/claim.h"

#include "lib/process/private_folder.h"

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
    const int claimed = tb_above_standard_files(
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
    const int folder = has_identity(description) ? tb_open_private_folder() : -1;
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
    const int folder = count < 2 || !has_identity(&descriptions[0]) ? -1 : tb_open_private_folder();
    if (folder < 0)
        return 0;
    const int home = claim_any(folder, descriptions, count);
    close(folder);
    return home;
}
