#include "lib/machine/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Processes that a device is claimed by, at most, and sockets that a process has. */
enum { CLAIMS_MOST = 64 };

/* The sockets of this process. The program may close them, and their numbers be other files': the inode tells. */
static struct {
    int file;
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
    held[count].inode = found.st_ino;
    atomic_store(&held_count, count + 1);
}

/* What a forked child's parent has claimed is the parent's: the child would keep it when that has ended. */
static void give_up_in_child(void)
{
    struct stat found;
    for (int i = 0; i < atomic_load(&held_count); i++)
        if (fstat(held[i].file, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == held[i].inode)
            close(held[i].file);
    atomic_store(&held_count, 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, give_up_in_child);
}

static bool has_identity(const tb_device_description *description)
{
    static const unsigned char nobody[sizeof description->uuid];
    return memcmp(description->uuid, nobody, sizeof nobody) != 0;
}

/* Of the abstract namespace, which has no files: the leading zero. */
static socklen_t name_claim(const tb_device_description *description, int number, struct sockaddr_un *name)
{
    char *text = name->sun_path + 1, *const end = name->sun_path + sizeof name->sun_path;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    text += snprintf(text, (size_t)(end - text), "tileblas-%d-", number);
    for (size_t i = 0; i < sizeof description->uuid; i++)
        text += snprintf(text, (size_t)(end - text), "%02x", description->uuid[i]);
    return (socklen_t)(text - (char *)name);
}

/* None of the numbers that a program without standard files may expect its own next files to have. */
static int open_socket(void)
{
    const int first = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (first < 0 || first > STDERR_FILENO)
        return first;
    const int moved = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(first);
    return moved;
}

/* The socket stays open until the process ends. Where there are no sockets nobody claims anything. */
static bool claim(const tb_device_description *description, int number)
{
    struct sockaddr_un name;
    const socklen_t length = name_claim(description, number, &name);
    const int claimed = open_socket();
    if (claimed < 0)
        return true;
    if (bind(claimed, (struct sockaddr *)&name, length) == 0) {
        hold(claimed);
        return true;
    }
    const bool is_taken = errno == EADDRINUSE;
    close(claimed);
    return !is_taken;
}

bool tb_claim_device(const tb_device_description *description)
{
    return !has_identity(description) || claim(description, 0);
}

int tb_claim_home(const tb_device_description *descriptions, int count)
{
    if (count < 2 || !has_identity(&descriptions[0]))
        return 0;
    for (int number = 0; number < CLAIMS_MOST; number++)
        for (int device = 0; device < count; device++)
            if (strcmp(descriptions[device].name, descriptions[0].name) == 0 &&
                claim(&descriptions[device], number))
                return device;
    return 0;
}
