#include "bench/regret_choices.h"

#include "bench/expect.h"
#include "bench/timing.h"
#include "kernels/catalog.h"
#include "words/lowered.h"

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { TURNS_MOST = 9, TURNS_DEVICE = 5, TURNS_LONG = 3, CHOICES_MAXIMUM = 64 };

/* OpenBLAS's threads spin after a call, in the way of what is timed next; for 0.13 s, but a run would take too long. */
#define REST_SECONDS 0.03

/* The faster of calls this short is the one that comes second: threads, caches and clocks are awake. All of them come
 * second, behind a call like themselves. */
#define SHORT_SECONDS 2e-3

/* Products that leave the host well ahead of it are settled, as the library sees them, too. */
#define CLEARLY_FASTER 0.6
/* It tries the host again every so often, and so do a product's turns go on while it takes longer than the host. */
#define SETTLING_ROUNDS 5
#define SLOWER          1.1

typedef int set_option(const char *name, const char *value);
typedef size_t last_plan(char *text, size_t size);

void sgemm_(void); /* OpenBLAS's */

static bench_function *multiply; /* the library's routine */
static set_option *set;
static last_plan *plan_text;
static int architecture; /* of device 0: 90 for compute capability 9.0 */

static int architecture_of_device(void)
{
    int major, minor;
    bench_expect(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
                     cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess,
                 "no device");
    return 10 * major + minor;
}

void regret_open_library(const bench_routine *routine)
{
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bench_expect(library != NULL, "libtileblas is not there");
    char name[32];
    snprintf(name, sizeof name, "%s_", routine->name);
    multiply = (bench_function *)dlsym(library, name);
    set = (set_option *)dlsym(library, "tileblas_set_option");
    plan_text = (last_plan *)dlsym(library, "tileblas_last_plan");
    bench_expect(multiply && set && plan_text, "libtileblas lacks a name");
    bench_expect(set("START", "wait") == 0, "an option was refused");
    architecture = architecture_of_device();
    /* The program's own BLAS, which the library is to find. */
    bench_expect((bench_function *)sgemm_ != multiply, "OpenBLAS is not there");
}

static double time_product(const tb_product *p)
{
    double start = tb_seconds();
    bench_call_fortran(multiply, p);
    return tb_seconds() - start;
}

static bool force(const regret_choice *choice)
{
    return set("ROUTE", choice->route) == 0 && set("KERNEL", choice->kernel) == 0;
}

/* Those for plain products serve others, which are lowered to these. */
static bool is_of_routine(const tb_kernel *kernel, const tb_product *p)
{
    return kernel->element ==
           (kernel->reads == TB_READS_PLAIN ? tb_real_of(tb_element_of(p)) : tb_element_of(p));
}

/* One thread for each element. */
static bool is_naive(const tb_kernel *kernel)
{
    return kernel->reads != TB_READS_PLAIN || strcmp(kernel->name, "naive") == 0 ||
           strcmp(kernel->name, "dgemm_naive") == 0;
}

/* The library left alone comes first. Kernels for show are no choice; nor is a naive one where it would take for
 * ever. */
static int list_choices(regret_memory memory, const tb_product *p, regret_choice *choices)
{
    int count = 0;
    choices[count++] = (regret_choice){.route = "auto", .kernel = "auto"};
    if (memory != REGRET_DEVICE) {
        choices[count++] = (regret_choice){.route = "host", .kernel = "auto"};
        choices[count++] = (regret_choice){.route = "streamed", .kernel = "auto"};
        return count;
    }
    for (size_t row = 0; row < tb_catalog_size && count < CHOICES_MAXIMUM; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool endless = is_naive(kernel) && tb_volume(p) > 5e9;
        if (tb_kernel_is_free_on(kernel, architecture) && is_of_routine(kernel, p) &&
            kernel->accuracy <= TB_ACCURACY_FP32 && (kernel->reads == TB_READS_PLAIN || !tb_is_plain(p)) &&
            !endless)
            choices[count++] = (regret_choice){.route = "auto", .kernel = tb_catalog[row].name};
    }
    return count;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(REST_SECONDS * 1e9)}, NULL);
}

static int turns_of(regret_memory memory, const tb_product *p)
{
    if (tb_volume(p) > 1e11)
        return TURNS_LONG;
    return memory == REGRET_DEVICE ? TURNS_DEVICE : TURNS_MOST;
}

/* Returns how many of the turns left alone were not computed by the host. A plan that does not name the forced kernel
 * shows that it could not serve. Calls that are left alone and too small to gain leave no plan. */
static int time_choices(regret_memory memory, const tb_product *p, regret_choice *choices, int count,
                        char *chosen, size_t size)
{
    static double times[CHOICES_MAXIMUM][TURNS_MOST];
    char text[256];
    int left_host = 0;
    const int turns = turns_of(memory, p);
    for (int turn = -1; turn < turns; turn++)
        for (int i = 0; i < count; i++) {
            bench_expect(force(&choices[i]), "an option was refused");
            double seconds = time_product(p);
            if (seconds < SHORT_SECONDS)
                seconds = time_product(p);
            plan_text(text, sizeof text);
            if (i == 0)
                snprintf(chosen, size, "%s", strstr(text, "forced") ? "host: too small to gain" : text);
            if (strncmp(i == 0 ? chosen : text, "host", 4) == 0)
                rest();
            left_host += i == 0 && turn >= 0 && strncmp(chosen, "host", 4) != 0;
            bool refused = strcmp(choices[i].kernel, "auto") != 0 && !strstr(text, choices[i].kernel);
            if (turn >= 0)
                times[i][turn] = refused ? (double)INFINITY : seconds;
        }
    for (int i = 0; i < count; i++) {
        choices[i].seconds = bench_median(times[i], (size_t)turns);
    }
    return left_host;
}

/* What the library has learned in these turns shows in further ones, beside the host alone. */
static double settle(regret_memory memory, const tb_product *p, int *rounds)
{
    regret_choice choices[] = {{.route = "auto", .kernel = "auto"}, {.route = "host", .kernel = "auto"}};
    char chosen[256];
    double over_host = SLOWER + 1;
    for (*rounds = 0; *rounds < SETTLING_ROUNDS && over_host > SLOWER; ++*rounds) {
        const int left_host = time_choices(memory, p, choices, 2, chosen, sizeof chosen);
        over_host = 2 * left_host > turns_of(memory, p) ? choices[0].seconds / choices[1].seconds : 0;
    }
    return over_host;
}

regret_times regret_time(regret_memory memory, const tb_product *p)
{
    regret_choice choices[CHOICES_MAXIMUM];
    regret_times times = {.turns = turns_of(memory, p)};
    regret_outcome *outcome = &times.outcome;
    const int count = list_choices(memory, p, choices);
    times.turns_left_host = time_choices(memory, p, choices, count, times.plan, sizeof times.plan);
    times.alone = times.best = choices[0];
    for (int i = 1; i < count; i++)
        if (choices[i].seconds < times.best.seconds)
            times.best = choices[i];
    outcome->regret = times.alone.seconds / times.best.seconds;
    if (memory == REGRET_DEVICE)
        return times;
    times.host = choices[1];
    times.streamed = choices[2];
    if (2 * times.turns_left_host > times.turns)
        outcome->over_host = times.alone.seconds / times.host.seconds;
    if (outcome->over_host > 0 && outcome->over_host < CLEARLY_FASTER)
        outcome->settled = outcome->over_host;
    else if (times.turns_left_host > 0)
        outcome->settled = settle(memory, p, &times.settling_rounds);
    return times;
}
