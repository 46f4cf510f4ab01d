/* A fork while another thread begins to bring the device up: the child, which has no such thread, knows that there is no device
 * for it, and waits for none.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { FORKING_MICROSECONDS = 50000 };
#define CHILD_SECONDS 60.0

static sem_t may_fork;

/* In front of the C library's. The library calls it when it begins, to stay loaded; the fork is under way when it comes back. */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (mode & RTLD_NODELETE) {
        sem_post(&may_fork);
        usleep(FORKING_MICROSECONDS);
    }
    return real(file, mode);
}

static void *start_device(void *unused)
{
    CHECK(known_multiply_once(300, 200, 30, 0, 2, TB_MEMORY_HOST) == 0, "wrong beside a fork");
    return unused;
}

static void multiply_in_child(void)
{
    char plan[256];
    CHECK(known_multiply_once(300, 200, 30, 0, 3, TB_MEMORY_HOST) == 0, "wrong in the child");
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strstr(plan, "lost") != NULL, "the child's plan: %s", plan);
}

int main(void)
{
    pthread_t starter;
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    sem_init(&may_fork, 0, 0);
    pthread_create(&starter, NULL, start_device, NULL);
    sem_wait(&may_fork);
    const pid_t child = fork();
    if (child == 0) {
        multiply_in_child();
        _exit(check_result());
    }
    const child_end end = child_wait(child, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the child was %s", child_end_text(end));
    pthread_join(starter, NULL);
    return check_result();
}
