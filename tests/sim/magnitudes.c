/* Where a device multiplies doubles fast if magnitudes are alike, and slowly if not, a call goes there by what its operands hold.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <math.h>
#include <sched.h>
#include <string.h>

void cblas_dgemm_batch_strided(int, int, int, int, int, int, double, const double *, int, int, const double *,
                               int, int, double, double *, int, int, int);

/* The least of which integers are made. The device's FP64 units are slower than two cores, its INT8 units faster than one. */
enum { N = 1024, CORES = 2, COLUMN_MAJOR = 102, NO_TRANSPOSITION = 111 };
#define MULTIPROCESSORS "8"

static double numbers[N * N];

static double uniform(check_random *random)
{
    return ldexp((double)(check_next(random) >> 11), -53);
}

/* (u - 1/2) exp(spread N), as in docs/precision.md. */
static void draw(double spread, check_random *random)
{
    for (int i = 0; i < N * N; i++) {
        const double normal = sqrt(-2 * log(1 - uniform(random))) * cos(2 * acos(-1) * uniform(random));
        numbers[i] = (uniform(random) - 0.5) * exp(spread * normal);
    }
}

/* The square of the numbers, which lie in such memory. */
static void goes(tb_memory memory, const char *expected)
{
    double *const a = sim_allocate(memory, 0, sizeof numbers), *const c =
                                                                   sim_allocate(memory, 0, sizeof numbers);
    char plan[256];
    sim_copy(a, numbers, sizeof numbers);
    cblas_dgemm(COLUMN_MAJOR, NO_TRANSPOSITION, NO_TRANSPOSITION, N, N, N, 1, a, N, a, N, 0, c, N);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, expected, strlen(expected)) == 0, "\"%s\" instead of \"%s\"", plan, expected);
    sim_release(a);
    sim_release(c);
}

/* Two squares, of numbers alike and of numbers that are not: each goes where it would by itself. */
static void a_batch_goes_by_each_product(check_random *random)
{
    static double a[2][N * N], c[2][N * N];
    char plan[256];
    for (int i = 0; i < 2; i++) {
        draw(8 * i, random);
        memcpy(a[i], numbers, sizeof numbers);
    }
    cblas_dgemm_batch_strided(COLUMN_MAJOR, NO_TRANSPOSITION, NO_TRANSPOSITION, N, N, N, 1, a[0], N, N * N,
                              a[0], N, N * N, 0, c[0], N, N * N, 2);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "host: slow on the device", 24) == 0, "the last of a batch: \"%s\"", plan);
}

static void use_few_cores(void)
{
    cpu_set_t allowed;
    int left = CORES;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "no cores");
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && left-- <= 0)
            CPU_CLR(core, &allowed);
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0, "cores cannot be left out");
}

int main(int count, char **arguments)
{
    const char *architecture = count > 1 ? arguments[1] : "89";
    const bool has_units = strcmp(architecture, "90") == 0;
    check_random random = {check_seed()};
    use_few_cores();
    sim_set("ARCHITECTURE", architecture);
    sim_set("MULTIPROCESSORS", MULTIPROCESSORS);
    tileblas_set_option("START", "wait");
    for (int spread = 0; spread <= 8; spread += 8) {
        draw(spread, &random);
        const bool alike = spread == 0;
        if (has_units) {
            goes(TB_MEMORY_HOST, "streamed with dgemm_");
            continue;
        }
        goes(TB_MEMORY_HOST, alike ? "streamed with dgemm_crt_sm80" : "host: slow on the device");
        goes(TB_MEMORY_PINNED, alike ? "streamed with dgemm_crt_sm80" : "host: slow on the device");
        goes(TB_MEMORY_DEVICE, "resident with dgemm_crt_sm80");
    }
    if (!has_units)
        a_batch_goes_by_each_product(&random);
    return check_result();
}
