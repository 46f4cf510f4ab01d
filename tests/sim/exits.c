/* Processes that end while the device comes up, or while others multiply: no operation of the device is begun once exit handlers
 * run. The driver's initialization is waited for, for a moment, and nothing else.
 *
 *   exits HOW AT_WORK [long]
 *
 * HOW: return, exit, quick_exit, or thread (exit by another thread). AT_WORK: starting, or multiplying. Long: the device takes a
 * minute to open, and a test that does not end in much less has waited.
 */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { M = 400, N = 300, K = 40, CALLERS = 3 };

/* Operations that were about to begin have begun by then, and, later, a device that was coming up would have gone on. */
#define SETTLED_MICROSECONDS 20000
#define LATER_MICROSECONDS   400000

static long begun = -1;

/* Threads that are initializing the driver when the library's exit handlers have run; where that takes a minute there is one. */
static int opening;
static bool opens_soon;

/* Registered before the library registers anything: it runs after that. */
static void begin_to_watch(void)
{
    usleep(SETTLED_MICROSECONDS);
    begun = sim_operations("any");
    opening = sim_devices_opening();
}

/* Runs after all handlers, but for quick_exit. */
static void end_watching(void)
{
    if (opens_soon && opening > 0) {
        fprintf(stderr, "the driver is being initialized while its exit handlers run\n");
        _exit(EXIT_FAILURE);
    }
    usleep(LATER_MICROSECONDS);
    const long more = sim_operations("any") - begun;
    if (begun <= 0 || more != 0) {
        fprintf(stderr, "%ld operations before exit handlers ran, %ld afterwards\n", begun, more);
        _exit(EXIT_FAILURE);
    }
}

__attribute__((destructor)) static void at_the_end(void)
{
    if (begun >= 0)
        end_watching();
}

static void watch_and_end(void)
{
    begin_to_watch();
    end_watching();
}

static void *multiply_for_ever(void *unused)
{
    for (;;)
        if (known_multiply_once(M, N, K, 0, 2, TB_MEMORY_HOST) != 0)
            _exit(EXIT_FAILURE);
    return unused;
}

static void *end_process(void *unused)
{
    exit(EXIT_SUCCESS);
    return unused;
}

static void wait_for_operations(const char *operation, long count)
{
    const double start = tb_seconds();
    while (sim_operations(operation) < count && tb_seconds() - start < 10)
        usleep(1000);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "return", *at_work = count > 2 ? arguments[2] : "starting";
    pthread_t thread;
    opens_soon = count <= 3;
    atexit(begin_to_watch);
    at_quick_exit(watch_and_end);
    tileblas_set_option("ROUTE", "streamed");
    if (strcmp(at_work, "starting") == 0) {
        known_multiply_once(M, N, K, 0, 2, TB_MEMORY_HOST);
        wait_for_operations("open", 1);
    } else {
        tileblas_set_option("START", "wait");
        for (int i = 0; i < CALLERS; i++)
            pthread_create(&thread, NULL, multiply_for_ever, NULL);
        wait_for_operations("copy", 50);
    }
    if (strcmp(how, "exit") == 0)
        exit(EXIT_SUCCESS);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(EXIT_SUCCESS);
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, end_process, NULL);
        pause();
    }
    return EXIT_SUCCESS;
}
