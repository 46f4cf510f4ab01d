/* Every forwarded name goes to its namesake, whoever calls it first: several threads start on the same names at
 * the same moment, or children are forked while others are in the middle of first calls.
 *
 *   names threads
 *   names fork
 */
#include "tests/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 20, SECONDS = 60 };

static const char *const names[] = {
#define NAME(name) #name,
#include "names.inc"
#undef NAME
};
enum { NAMES = sizeof names / sizeof *names };

static int (*functions[NAMES])(void);
static pthread_barrier_t barrier;
static atomic_bool finished;

static long count_astray(size_t first, size_t step)
{
    long astray = 0;
    for (size_t i = first; i < NAMES; i += step)
        astray += functions[i]() != (int)i;
    return astray;
}

/* Once through all names, and again for as long as children are forked. */
static void *call_all(void *unused)
{
    long astray = 0;
    pthread_barrier_wait(&barrier);
    do
        astray += count_astray(0, 1);
    while (!finished);
    CHECK(astray == 0, "%ld calls of %d names go astray", astray, NAMES);
    return unused;
}

/* A lock that another thread holds at the fork stays held in the child for ever; the alarm ends that wait. */
static void check_child(size_t number)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(count_astray(NAMES - 1 - number, CHILDREN) ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "child %zu: status %#x", number, status);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    Dl_info first = {0}, object;
    for (int i = 0; i < NAMES; i++) {
        *(void **)&functions[i] = dlsym(RTLD_DEFAULT, names[i]);
        if (!functions[i] || !dladdr(*(void **)&functions[i], &object))
            return 2;
        if (i == 0)
            first = object;
        CHECK(object.dli_fbase == first.dli_fbase && strstr(object.dli_fname, "tileblas"), "%s is that of %s",
              names[i], object.dli_fname);
    }
    bool forks = argc == 2 && strcmp(argv[1], "fork") == 0;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_all, NULL);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; forks && i < CHILDREN; i++)
        check_child(i);
    finished = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_result();
}
