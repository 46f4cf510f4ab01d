/* Claims of devices: one for each claimant while there are as many, and then evenly; of devices like the first alone. All
 * claimants are of this process, whose files are in each other's way as those of several are. Nobody else can keep a device
 * from a claimant.
 */
#include "lib/machine/claim.h"
#include "tests/check.h"
#include "tests/runtime_folder.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 4, MANY = 70 };

/* The description is this process's alone: others may run this test. */
static tb_device_description describe(int number, const char *name)
{
    const int process = (int)getpid();
    tb_device_description device = {.uuid = {(unsigned char)(number + 1)}};
    snprintf(device.name, sizeof device.name, "%s", name);
    memcpy(device.uuid + 4, &process, sizeof process);
    return device;
}

static void check_home(const tb_device_description *devices, int count, int expected, const char *when)
{
    const int home = tb_claim_home(devices, count);
    CHECK(home == expected, "%s: %d instead of %d", when, home, expected);
}

static void claimants_are_spread_evenly(void)
{
    const tb_device_description devices[DEVICES] = {describe(0, "large"), describe(1, "small"),
                                                    describe(2, "large"), describe(3, "large, too")};
    check_home(devices, DEVICES, 0, "the first");
    check_home(devices, DEVICES, 2, "the second, past one of another kind");
    check_home(devices, DEVICES, 0, "the third");
    CHECK(!tb_claim_device(&devices[0]) && !tb_claim_device(&devices[2]), "what is claimed was claimed");
    CHECK(tb_claim_device(&devices[1]) && !tb_claim_device(&devices[1]), "what is free was not, or twice");

    const tb_device_description alike[] = {describe(4, "large"), describe(5, "large")};
    for (int i = 0; i < MANY; i++)
        check_home(alike, 2, i % 2, "one of many");
    check_home(alike, 1, 0, "a single one");
    CHECK(!tb_claim_device(&alike[1]), "what many have claimed was claimed");

    const tb_device_description unknown[DEVICES] = {{.name = "large"}, {.name = "large"}};
    check_home(unknown, 2, 0, "unknown ones");
    check_home(unknown, 2, 0, "unknown ones again");
    CHECK(tb_claim_device(&unknown[1]) && tb_claim_device(&unknown[1]),
          "unknown ones are claimed by somebody");
}

static bool is_folder_of_ours(const char *folder, const char *name)
{
    char path[PATH_MAX + 32];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && (found.st_mode & 0777) == 0700;
}

static int lowest_free_file(void)
{
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(file);
    return file;
}

/* Whose file is closed again that comes second. */
static void check_one_claims(const tb_device_description *device, const char *where)
{
    CHECK(tb_claim_device(device), "%s: what is free was claimed", where);
    const int free_file = lowest_free_file();
    CHECK(!tb_claim_device(device), "%s: what is claimed was claimed", where);
    CHECK(lowest_free_file() == free_file, "%s: a file is left open", where);
}

/* Any user can hold a name of a socket. */
static void names_that_anybody_can_hold_keep_nothing(void)
{
    const tb_device_description device = describe(10, "large");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char *text = name.sun_path + 1;
    text += sprintf(text, "tileblas-0-");
    for (size_t i = 0; i < sizeof device.uuid; i++)
        text += sprintf(text, "%02x", device.uuid[i]);
    const int stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(bind(stranger, (struct sockaddr *)&name, (socklen_t)(text - (char *)&name)) == 0, "no socket");
    check_one_claims(&device, "a stranger's socket");
    close(stranger);
}

static bool write_file(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return is_written;
}

/* The user, who may then mount file systems, as far as the machine lets users do that. */
static bool has_own_namespaces(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(groups, sizeof groups, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    return unshare(CLONE_NEWNS) == 0 ||
           (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file("/proc/self/setgroups", "deny") &&
            write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups));
}

/* A /tmp that nobody else sees, and no other folder of the user's. False where that cannot be had. */
static bool has_own_folders(void)
{
    if (!has_own_namespaces())
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0 &&
           (access("/run/user", F_OK) != 0 || mount("none", "/run/user", "tmpfs", 0, NULL) == 0);
}

/* What others may write to, or is no absolute path, is not used. */
static void only_private_folders_are_used(void)
{
    const tb_device_description device = describe(11, "large"), other = describe(12, "large");
    CHECK(mkdir("/tmp/own", 0700) == 0 && mkdir("/tmp/open", 0700) == 0 && chmod("/tmp/open", 0770) == 0,
          "no folder");
    setenv("XDG_RUNTIME_DIR", "/tmp/own", 1);
    check_one_claims(&device, "the user's folder");
    CHECK(is_folder_of_ours("/tmp/own", "tileblas"), "no folder was made");
    setenv("XDG_RUNTIME_DIR", "/tmp/open", 1);
    check_one_claims(&device, "beside a folder that others may write to");
    CHECK(rmdir("/tmp/open") == 0, "a folder that others may write to was used");
    setenv("XDG_RUNTIME_DIR", "/tmp/own", 1);
    check_one_claims(&other, "the user's folder again");
    CHECK(chdir("/tmp") == 0 && setenv("XDG_RUNTIME_DIR", "own", 1) == 0, "no folder");
    check_one_claims(&other, "beside a relative path");
}

/* Names in /tmp are such as others can make, too. */
static void taken_names_are_passed_over(void)
{
    const tb_device_description device = describe(13, "large");
    char names[4][64];
    unsetenv("XDG_RUNTIME_DIR");
    for (int number = 0; number < 4; number++)
        snprintf(names[number], sizeof names[number],
                 number == 0 ? "/tmp/tileblas-%u" : "/tmp/tileblas-%u.%d", (unsigned)geteuid(), number);
    CHECK(rename(names[0], "/tmp/before") == 0, "there was none");
    CHECK(mkdir(names[0], 0777) == 0 && chmod(names[0], 0777) == 0, "no folder");
    CHECK(mkdir("/tmp/elsewhere", 0700) == 0 && symlink("/tmp/elsewhere", names[1]) == 0, "no link");
    close(open(names[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    check_one_claims(&device, "beside taken names");
    CHECK(is_folder_of_ours("", names[3] + 1), "%s was not made", names[3]);
    CHECK(rmdir(names[0]) == 0 && rmdir("/tmp/elsewhere") == 0, "what others have made was used");
}

/* This is shown in a process of its own, of which the rest of the machine sees nothing. */
static void folders_are_nobody_elses(void)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (has_own_folders()) {
            only_private_folders_are_used();
            taken_names_are_passed_over();
        } else
            printf("left out: no file systems can be mounted here\n");
        fflush(stdout);
        _exit(atomic_load(&check_failures) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0, "the child ended with %d", status);
}

int main(void)
{
    const runtime_folder folder = make_runtime_folder();
    claimants_are_spread_evenly();
    names_that_anybody_can_hold_keep_nothing();
    folders_are_nobody_elses();
    remove_runtime_folder(&folder);
    return check_result();
}
