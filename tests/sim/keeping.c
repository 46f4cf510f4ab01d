/* Buffers are kept while calls follow one another, and given back when none has come for a while. */
#include "include/tileblas.h"
#include "lib/clock.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 300, LARGE = 700, PATIENCE_SECONDS = 60 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static float a[N * LARGE], b[N * LARGE], c[LARGE * LARGE];

static void multiply_square(int n)
{
    cblas_sgemm(102, 111, 111, n, n, N, 1, a, n, b, N, 0, c, n);
    CHECK(c[n + 1] == N, "%g", (double)c[n + 1]);
}

static void multiply(void)
{
    multiply_square(N);
}

static void start(const char *keep_seconds)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", keep_seconds);
    for (int i = 0; i < N * LARGE; i++)
        a[i] = b[i] = 1;
    multiply();
}

static void what_was_used_is_kept(void)
{
    start("3600");
    long allocations = sim_operations("allocate") + sim_operations("pinned");
    sim_usage usage = sim_get_usage();
    CHECK(allocations > 0 && usage.device_bytes > 0 && usage.pinned_bytes > 0, "the device was not used");
    const long asked = sim_operations("memory"), launched = sim_operations("launch");
    multiply();
    CHECK(sim_operations("allocate") + sim_operations("pinned") == allocations, "allocated again");
    CHECK(sim_operations("memory") == asked, "asked again how much is free");
    const long once = sim_operations("launch") - launched;

    multiply_square(LARGE);
    const long again = sim_operations("memory");
    multiply();
    CHECK(sim_operations("memory") > again, "did not ask, although other memory is kept than before");
    multiply();
    const long launched_again = sim_operations("launch");
    tileblas_set_option("DEVICE_MEMORY", "1");
    multiply();
    CHECK(sim_operations("launch") > launched_again + once, "what is kept counts for more than the limit");
}

static void what_nobody_uses_is_given_back(void)
{
    start("1");
    double end = tb_seconds() + PATIENCE_SECONDS;
    sim_usage usage;
    do {
        usleep(10000);
        usage = sim_get_usage();
    } while (usage.device_bytes + usage.pinned_bytes > 0 && tb_seconds() < end);
    CHECK(usage.device_bytes == 0 && usage.pinned_bytes == 0, "%zu and %zu bytes are kept",
          usage.device_bytes, usage.pinned_bytes);
    multiply();
}

int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        what_was_used_is_kept();
        return check_result();
    }
    what_nobody_uses_is_given_back();
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "the first process: %d", status);
    return check_result();
}
