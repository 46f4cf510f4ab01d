/* How the device comes up where not all is well.
 *
 *   starting another        the first device cannot be opened: another one does its work
 *   starting elsewhere      operands lie on a device that is not open yet: the call that finds them there waits for that one, too
 *   starting constructor F  the library F multiplies in its constructor, and waits for the device
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { M = 300, N = 200, K = 30, DEVICES = 3, CALLERS = 4, DEADLINE_SECONDS = 60 };

static void expect_device(int device)
{
    char plan[256], name[16];
    const long launches = sim_operations("launch");
    CHECK(known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST) == 0, "wrong");
    tileblas_last_plan(plan, sizeof plan);
    snprintf(name, sizeof name, "device %d", device);
    CHECK(strstr(plan, name) && sim_operations("launch") > launches, "\"%s\" instead of %s", plan, name);
}

/* Whoever brings it up, all wait. */
static void *call_first(void *unused)
{
    expect_device(DEVICES - 1);
    return unused;
}

/* The driver is opened, each device is described, and then opened: the failures are of the first two that are. */
static void another_device_is_opened(void)
{
    pthread_t callers[CALLERS];
    char devices[8], script[64];
    snprintf(devices, sizeof devices, "%d", DEVICES);
    snprintf(script, sizeof script, "open:%d=unsupported,open:%d=memory", DEVICES + 2, DEVICES + 3);
    sim_set("DEVICES", devices);
    sim_set("FAIL", script);
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i], NULL, call_first, NULL);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    expect_device(DEVICES - 1);
    tileblas_set_option("DEVICES", devices);
    expect_device(DEVICES - 1);
    CHECK(sim_failures("open") == 2, "%ld devices could not be opened", sim_failures("open"));
}

static void another_device_is_waited_for(void)
{
    enum { SIDE = 60 };
    double numbers[SIDE * SIDE], *matrices[3];
    char plan[256];
    for (int i = 0; i < SIDE * SIDE; i++)
        numbers[i] = 1;
    sim_set("DEVICES", "2");
    tileblas_set_option("START", "wait");
    for (int i = 0; i < 3; i++) {
        matrices[i] = sim_allocate(TB_MEMORY_DEVICE, 1, sizeof numbers);
        sim_copy(matrices[i], numbers, sizeof numbers);
    }
    cblas_dgemm(102, 111, 111, SIDE, SIDE, SIDE, 1, matrices[0], SIDE, matrices[1], SIDE, 0, matrices[2],
                SIDE);
    tileblas_last_plan(plan, sizeof plan);
    sim_copy(numbers, matrices[2], sizeof numbers);
    CHECK(strstr(plan, "resident") == plan && strstr(plan, "device 1"), "\"%s\"", plan);
    for (int i = 0; i < SIDE * SIDE; i++)
        CHECK(numbers[i] == SIDE, "element %d is %g", i, numbers[i]);
}

/* The dynamic linker's lock is this thread's while the constructor runs, and the simulated driver takes it, too. */
static void a_constructor_may_wait(const char *library)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    CHECK(dlopen(library, RTLD_NOW) != NULL, "%s", dlerror());
    CHECK(sim_operations("launch") > 0, "the constructor's product was not for the device");
    expect_device(0);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "another";
    alarm(DEADLINE_SECONDS);
    if (strcmp(what, "constructor") == 0)
        a_constructor_may_wait(count > 2 ? arguments[2] : "");
    else if (strcmp(what, "elsewhere") == 0)
        another_device_is_waited_for();
    else
        another_device_is_opened();
    return check_result();
}
