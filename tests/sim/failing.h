/* Failing each operation of a call in turn: a scenario says what is multiplied, where and with which options; each run of it is
 * a process of its own, because a lost device stays lost, and reports whether C was right, whether later calls were, and
 * what the runtime held afterwards.
 *
 * Header only, for the one file of a program that holds main.
 */
#ifndef TB_FAILING_H
#define TB_FAILING_H

#include "dispatch/tiling.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"
#include "tests/sim/scenario.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slots of 1 MiB: what is not used costs no time. */
#define PINNED_MIB  "8"
#define LATER_CALLS 3
#define MAX_THREADS 16
#define MOST_OUTPUT 4096

/* What a process has to say. */
typedef struct report {
    bool finished, right;
    bool used;                    /* the device was up, and work was begun */
    long failures;                /* that the script caused */
    long launches;                /* of the first call */
    long foldings, copies;        /* of the first call */
    long crossings;               /* from device to device, of the first call */
    long allocations;             /* on the device, of the first call */
    size_t bytes_most;            /* of the device, that the runtime held during the first call */
    sim_usage usage[LATER_CALLS]; /* after each later call */
    char wrong[256];
} report;

/* How far apart the operations are that fail: 1 leaves none out. TILEBLAS_TEST_STRIDE, for slow builds. */
static long stride = 1;
/* How many ways of a product, but for the first, one is taken of: by memory, lost and half of three another one each.
 * TILEBLAS_TEST_WAYS says the same. */
static long ways = 1;
static report *shared;
static uint64_t seed;

/* Called before anything else. */
static inline void begin_failing(void)
{
    const char *wanted_stride = getenv("TILEBLAS_TEST_STRIDE");
    if (wanted_stride != NULL && atol(wanted_stride) > 0)
        stride = atol(wanted_stride);
    const char *wanted_ways = getenv("TILEBLAS_TEST_WAYS");
    if (wanted_ways != NULL && atol(wanted_ways) > 0)
        ways = atol(wanted_ways);
    seed = check_seed();
    /* The host's BLAS, where it is this one, is loaded once and not by every process. */
    dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

typedef struct job {
    pthread_t thread;
    const scenario *scenario;
    uint64_t number; /* of the first of its calls */
    bool right;
    char wrong[256];
} job;

static inline int calls_of(const scenario *scenario)
{
    return scenario->calls > 0 ? scenario->calls : 1;
}

static inline void *run_job(void *argument)
{
    job *job = argument;
    job->right = true;
    for (int call = 0; job->right && call < calls_of(job->scenario); call++)
        job->right = scenario_multiply(job->scenario, seed, job->number + (uint64_t)call, job->wrong,
                                       sizeof job->wrong);
    return NULL;
}

/* The calls of each of the scenario's threads; notes the first that is wrong. */
static inline void multiply_at_once(const scenario *scenario, report *report)
{
    job jobs[MAX_THREADS];
    for (int i = 0; i < scenario->threads; i++) {
        jobs[i] = (job){.scenario = scenario, .number = (uint64_t)(i * calls_of(scenario))};
        pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
    }
    for (int i = 0; i < scenario->threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        if (!jobs[i].right && report->right) {
            report->right = false;
            memcpy(report->wrong, jobs[i].wrong, sizeof report->wrong);
        }
    }
}

/* When nothing is kept any more, or after a while in which that does not come. */
static inline sim_usage usage_at_rest(void)
{
    sim_usage usage = sim_get_usage();
    for (int i = 0; i < 6000 && usage.device_bytes + usage.pinned_bytes > 0; i++) {
        usleep(10000);
        usage = sim_get_usage();
    }
    return usage;
}

static inline void run_process(const scenario *scenario, const char *script, report *report)
{
    *report = (struct report){.right = true};
    sim_set("FAIL", script);
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", scenario->drawn ? "1" : "3600");
    tileblas_set_option("PINNED_MEMORY",
                        scenario->pinned_memory != NULL ? scenario->pinned_memory : PINNED_MIB);
    sim_set("DEVICES", scenario->devices != NULL ? scenario->devices : "1");
    tileblas_set_option("DEVICES", scenario->devices != NULL ? scenario->devices : "1");
    /* What is measured of the link decides how products are cut, and so how many events a pipeline has in the end: with it, no
     * two runs could be compared. */
    tileblas_set_option("CALIBRATE", scenario->measured ? "1" : "0");
    if (scenario->measured) {
        sim_set("MULTIPROCESSORS", "1");
        tileblas_set_option("PINNED_MEMORY", "1");
    }
    if (scenario->device_memory != NULL)
        tileblas_set_option("DEVICE_MEMORY", scenario->device_memory);
    const bool pads = scenario->memory == TB_MEMORY_DEVICE && scenario->element == TB_FP32;
    const char *kernel = pads ? "padded" : "auto";
    tileblas_set_option("KERNEL", scenario->kernel != NULL ? scenario->kernel : kernel);
    multiply_at_once(scenario, report);
    report->launches = sim_operations("launch");
    report->foldings = sim_foldings();
    report->crossings = sim_crossings();
    report->copies = sim_operations("copy");
    report->allocations = sim_operations("allocate");
    report->bytes_most = sim_get_usage().device_bytes_most;
    report->failures = sim_failures("any");
    /* A device that cannot be opened is no loss. */
    report->used = sim_operations("stream") > 0 && sim_failures("open") == 0;
    sim_set("FAIL", "");
    const bool right = scenario->structured_right;
    const struct scenario later = {.element = scenario->element,
                                   .m = 65,
                                   .n = 33,
                                   .k = scenario->structure == TB_GENERAL ? 20
                                        : right                           ? 33
                                                                          : 65,
                                   .structure = scenario->structure,
                                   .structured_right = right,
                                   .stored = scenario->stored,
                                   .in_place = scenario->in_place,
                                   .beta = -2,
                                   .threads = scenario->threads,
                                   .memory = scenario->memory};
    for (int call = 0; call < LATER_CALLS; call++) {
        multiply_at_once(&later, report);
        report->usage[call] = sim_get_usage();
    }
    if (scenario->drawn)
        report->usage[LATER_CALLS - 1] = usage_at_rest();
    report->finished = true;
}

/* Linked in where products are cut at random, which heeds no limit (cuts.c). */
bool __wrap_tb_choose_tiling(const tb_product *, const tb_budget *, tb_tiling *) __attribute__((weak));

/* A product has no more of the device's memory, beside operands that lie there, than the option allows. */
static inline void check_limit(const scenario *scenario, const char *script)
{
    const size_t limit = scenario->device_memory != NULL ? (size_t)atol(scenario->device_memory) << 20 : 0;
    const bool heeded = limit > 0 && !scenario->drawn && !__wrap_tb_choose_tiling;
    CHECK(!heeded || shared->bytes_most <= limit,
          "%s, m=%d n=%d k=%d: %zu bytes of the device's memory, not %zu", script, scenario->m, scenario->n,
          scenario->k, shared->bytes_most, limit);
}

/* The report of a process in which the script runs; what it prints is counted, and shown if it failed. */
static inline report run_scenario(const scenario *scenario, const char *script)
{
    int output = memfd_create("output", 0);
    fflush(stdout);
    *shared = (report){0};
    pid_t child = fork();
    if (child == 0) {
        dup2(output, STDERR_FILENO);
        run_process(scenario, script, shared);
        exit(EXIT_SUCCESS);
    }
    int status;
    waitpid(child, &status, 0);

    char text[MOST_OUTPUT + 1];
    ssize_t length = pread(output, text, MOST_OUTPUT, 0);
    text[length > 0 ? length : 0] = '\0';
    close(output);
    const char *end = strchr(text, '\n');
    CHECK(end == NULL || end[1] == '\0', "%s: more than one line was said:\n%s", script, text);
    bool loses = strstr(script, "lost") != NULL || strstr(script, "fault") != NULL;
    CHECK(end != NULL || !loses || !shared->used || shared->failures == 0, "%s: nothing was said", script);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS && shared->finished,
          "%s: the process ended with status %d and said:\n%s", script, status, text);
    check_limit(scenario, script);
    CHECK(shared->right, "%s, beta %g, m=%d n=%d k=%d, %d threads: %s", script, scenario->beta, scenario->m,
          scenario->n, scenario->k, scenario->threads, shared->wrong);
    return *shared;
}

/* Whether the runtime holds no more of the device than it did, or does where nothing has failed. */
static inline void check_no_leak(const char *script, const sim_usage *before, const sim_usage *now,
                                 size_t pinned)
{
    CHECK(now->streams <= before->streams && now->events <= before->events,
          "%s: %ld streams and %ld events left, not %ld and %ld", script, now->streams, now->events,
          before->streams, before->events);
    CHECK(now->device_bytes <= before->device_bytes && now->pinned_bytes <= pinned,
          "%s: %zu bytes on the device, not %zu, and %zu pinned ones left", script, now->device_bytes,
          before->device_bytes, now->pinned_bytes);
}

/* Every operation of its class ("any": of all) in the first call fails in turn: with a stride, of each product others. */
static inline void fail_everywhere(const scenario *scenario, const char *operation, const char *failure)
{
    static long way = -1;
    if (++way > 0 && (way + failure[0]) % ways != 0)
        return;
    report normal = run_scenario(scenario, "");
    sim_usage *settled = &normal.usage[LATER_CALLS - 1];
    CHECK((normal.launches == 0) == scenario->fetched, "%ld launches", normal.launches);
    CHECK(scenario->launches == 0 || scenario->launches == normal.launches, "%ld launches, not %ld",
          normal.launches, scenario->launches);
    const long foldings = scenario->foldings > 0 ? scenario->foldings : 0;
    CHECK(scenario->foldings == 0 || normal.foldings == foldings, "%d x %d x %d: %ld foldings, not %ld",
          scenario->m, scenario->n, scenario->k, normal.foldings, foldings);
    /* How many slots devices use at a time is left to chance, up to all of them. */
    long devices = scenario->devices != NULL ? atol(scenario->devices) : 1;
    size_t pinned = (size_t)(devices * atol(PINNED_MIB)) << 20;
    if (scenario
            ->exchanged) /* what fails is brought through slots that are not needed otherwise; each has an event */
        settled->events += devices * TB_SLOTS;
    else
        check_no_leak("without failures", &normal.usage[LATER_CALLS - 2], settled, pinned);
    CHECK(scenario->exchanged == (normal.crossings > 0), "%ld copies between devices", normal.crossings);
    const long distance = stride * (scenario->step > 0 ? scenario->step : 1);
    bool have_failed = false;
    for (long n = 1 + way % distance;; n += distance) {
        char script[64];
        snprintf(script, sizeof script, "%s:%ld=%s", operation, n, failure);
        report report = run_scenario(scenario, script);
        if (report.failures == 0) {
            if (have_failed || !CHECK(n > 1, "a call has no operation \"%s\"", operation))
                return;
            n = 1 - distance; /* it has fewer than that */
            continue;
        }
        have_failed = true;
        check_no_leak(script, settled, &report.usage[LATER_CALLS - 1], pinned);
    }
}

#endif
