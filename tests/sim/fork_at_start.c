/* A fork while another thread brings a device up: the child, which has no such thread, knows that there is no
 * device for it, and waits for none. The driver may have been inside the dynamic linker, whose lock the child
 * would find taken: it asks the linker nothing.
 *
 *   fork_at_start beginning    before the driver is entered
 *   fork_at_start opening      while the first device is opened
 *   fork_at_start more         while another one is, and the first one is there
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { FORKING_MICROSECONDS = 50000, LOOK_MICROSECONDS = 200 };
#define CHILD_SECONDS 60.0

static sem_t may_fork;
static bool is_child; /* of a fork in which somebody may have been inside the linker */

/* Stands in front of the C library's. The library calls it when it begins, to stay loaded; the fork is under
 * way when it comes back. */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);
    CHECK(!is_child, "the child asks the linker for %s", file);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (mode & RTLD_NODELETE) {
        sem_post(&may_fork);
        usleep(FORKING_MICROSECONDS);
    }
    return real(file, mode);
}

/* Stands in front of the C library's, likewise. */
__attribute__((visibility("default"))) int dladdr(const void *address, Dl_info *info)
{
    int (*real)(const void *, Dl_info *);
    CHECK(!is_child, "the child asks the linker where a function lies");
    *(void **)&real = dlsym(RTLD_NEXT, "dladdr");
    return real(address, info);
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
    if (is_child) {
        CHECK(tileblas_attach() == -1 && tileblas_detach() == -1,
              "the child goes through the linker's objects");
        CHECK(tileblas_runtime(plan, sizeof plan) == 0, "the child knows from the linker where it is");
    }
}

/* What starts at the thread's call is under way. */
static void wait_until_opening(void)
{
    while (sim_devices_opening() == 0)
        usleep(LOOK_MICROSECONDS);
}

static void start_one_of_two(void)
{
    sim_set("DEVICES", "2");
    tileblas_set_option("DEVICES", "1");
    CHECK(known_multiply_once(300, 200, 30, 0, 2, TB_MEMORY_HOST) == 0, "wrong");
    tileblas_set_option("DEVICES", "2");
}

int main(int count, char **arguments)
{
    const char *when = count > 1 ? arguments[1] : "beginning";
    const bool begins = strcmp(when, "beginning") == 0;
    pthread_t starter;
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    sem_init(&may_fork, 0, 0);
    if (strcmp(when, "more") == 0)
        start_one_of_two();
    pthread_create(&starter, NULL, start_device, NULL);
    begins ? (void)sem_wait(&may_fork) : wait_until_opening();
    const pid_t child = fork();
    if (child == 0) {
        is_child = !begins;
        multiply_in_child();
        _exit(check_result());
    }
    const child_end end = child_wait(child, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the child was %s", child_end_text(end));
    pthread_join(starter, NULL);
    return check_result();
}
