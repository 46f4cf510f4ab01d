/* Many callers at once: threads whose first calls race, and children forked while others are calling.
 *
 *   crowd threads
 *   crowd fork
 */
#include "tests/abi/product.h"
#include "tests/check.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, CALLS = 50, CALLING_PARENTS = 4, CHILDREN = 20, SECONDS = 60 };

static pthread_barrier_t barrier;
static atomic_bool finished;

static long some_errors(int seed)
{
    product p = {.fortran = seed & 1,
                 .row_major = (seed & 3) == 2,
                 .transpose_a = seed & 4,
                 .transpose_b = seed & 8,
                 .lower = seed % 3 == 0,
                 .left = seed & 4,
                 .m = 1 + seed % 60,
                 .n = 1 + seed % 37,
                 .k = 1 + seed % 50};
    return product_errors(&p);
}

static void *call_at_once(void *seed)
{
    long errors = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < CALLS; i++)
        errors += some_errors((int)(intptr_t)seed + i);
    CHECK(errors == 0, "thread %d: %ld elements are wrong", (int)(intptr_t)seed, errors);
    return NULL;
}

static void *call_until_finished(void *seed)
{
    long errors = 0;
    for (int i = 0; !finished; i = (i + 1) % CALLS)
        errors += some_errors((int)(intptr_t)seed + i);
    CHECK(errors == 0, "a thread of the parent: %ld elements are wrong", errors);
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_at_once, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* A lock that another thread holds at the fork stays held in the child for ever; the alarm ends that wait. */
static void check_child(int number)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(some_errors(number) || some_errors(number + 1) ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "child %d: status %#x", number, status);
}

static void check_fork(void)
{
    pthread_t threads[CALLING_PARENTS];
    for (intptr_t i = 0; i < CALLING_PARENTS; i++)
        pthread_create(&threads[i], NULL, call_until_finished, (void *)i);
    for (int i = 0; i < CHILDREN; i++)
        check_child(i);
    finished = true;
    for (int i = 0; i < CALLING_PARENTS; i++)
        pthread_join(threads[i], NULL);
    check_child(CHILDREN);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "threads") == 0)
        check_threads();
    else
        check_fork();
    return check_result();
}
