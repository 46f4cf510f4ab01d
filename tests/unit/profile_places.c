/* What else may lie where a profile is read or written: nothing there is waited for, and no file of somebody
 * else's is written. */
#include "lib/learning/profile.h"
#include "tests/check.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 10, WRITERS = 4, ROUNDS = 50 };

static char folder[PATH_MAX], path[PATH_MAX + 32];

/* Starts a process that acts, as others do. */
static pid_t start(void (*act)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        act();
        _exit(atomic_load(&check_failures) > 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    return child;
}

static bool went_well(pid_t child)
{
    int status = EXIT_FAILURE;
    return waitpid(child, &status, 0) == child && status == EXIT_SUCCESS;
}

static void load(void)
{
    tb_load_profile("device");
}

static void a_pipe_is_not_waited_for(void)
{
    CHECK(mkfifo(path, 0600) == 0, "no pipe");
    CHECK(went_well(start(load)), "loading did not end");
    unlink(path);
}

/* A file that is written before it takes the profile's place has a name that can be told beforehand. */
static void save_over_link(void)
{
    char fresh[PATH_MAX + 64], other[PATH_MAX + 64];
    struct stat found;
    snprintf(other, sizeof other, "%s/other", folder);
    fclose(fopen(other, "w"));
    snprintf(fresh, sizeof fresh, "%s.new", path);
    CHECK(symlink(other, fresh) == 0, "no link");
    snprintf(fresh, sizeof fresh, "%s.new-%ld", path, (long)getpid());
    CHECK(symlink(other, fresh) == 0, "no link");
    CHECK(tb_save_profile(path, "device"), "it was not kept");
    CHECK(stat(other, &found) == 0 && found.st_size == 0, "another file was written");
    CHECK(lstat(path, &found) == 0 && S_ISREG(found.st_mode), "the link was kept");
    unlink(other);
    unlink(path);
}

static void no_link_is_followed(void)
{
    char left[PATH_MAX + 64];
    CHECK(went_well(start(save_over_link)), "a link was followed");
    snprintf(left, sizeof left, "%s.new", path);
    unlink(left);
}

static void save_often(void)
{
    for (int round = 0; round < ROUNDS; round++)
        CHECK(tb_save_profile(path, "device"), "it was not kept");
}

static void many_keep_it_at_a_time(void)
{
    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start(save_often);
    for (int i = 0; i < WRITERS; i++)
        CHECK(went_well(writers[i]), "writer %d", i);
    unlink(path);
}

int main(void)
{
    static const char name[] = "/places-XXXXXX";
    if (!getcwd(folder, PATH_MAX - sizeof name) || !mkdtemp(strcat(folder, name)))
        SKIP("no folder can be made here");
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/tileblas", folder);
    mkdir(path, 0700);
    CHECK(tb_profile_path(path, sizeof path), "no path");
    a_pipe_is_not_waited_for();
    no_link_is_followed();
    many_keep_it_at_a_time();
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0 && rmdir(folder) == 0, "something was left");
    return check_result();
}
