/* A result is never lost. For n = 1, 2, 3 and so on, until a call has no n-th operation: the n-th operation
 * of the device fails, and C is right all the same, once; later calls are right too; nothing leaks; and no
 * more is said than one warning.
 *
 * Each n has a process of its own, because a lost device stays lost. The argument says how operations fail:
 * memory, unsupported, lost, fault or half (device_sim.h). A second one, cuts, double or triangles, picks
 * other products.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/spellings.h"
#include "tests/matrix.h"
#include "tests/sim/device_sim.h"

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

typedef struct scenario {
    tb_element element;
    int m, n, k;
    bool transposed;      /* A and B */
    tb_triangle triangle; /* of C, by SYRK: B is A, and m is n */
    double beta;
    int threads;               /* in a crowd every other one multiplies doubles */
    tb_memory memory;          /* of A, B and C */
    bool managed_c, device_c;  /* but C lies in managed memory, or on the device */
    const char *device_memory; /* the option; NULL: its default */
    const char *devices;       /* that share the product; NULL: one */
    bool measured;             /* when they come up */
    const char *kernel;        /* that is forced; NULL: none, or for operands on the device one that pads */
    const char *pinned_memory; /* the option; NULL: PINNED_MIB */
    long launches;             /* without failures; 0: any */
} scenario;

/* What a process has to say. */
typedef struct report {
    bool finished, right;
    bool used;                    /* the device was up, and work was begun */
    long failures;                /* that the script caused */
    long launches;                /* of the first call */
    long allocations;             /* on the device, of the first call */
    sim_usage usage[LATER_CALLS]; /* after each later call */
    char wrong[256];
} report;

/* How far apart the operations are that fail: 1 leaves none out. TILEBLAS_TEST_STRIDE, for slow builds. */
static long stride = 1;
static report *shared;
static uint64_t seed;

static void *place(const matrix *matrix, tb_memory memory)
{
    void *block = arena_allocate(memory, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

static bool multiply(const scenario *scenario, uint64_t number, char *wrong, size_t size)
{
    check_random random = {.state = seed + number};
    const tb_element element = scenario->threads > 1 && number % 2 == 1 ? TB_FP64 : scenario->element;
    product p = {.m = scenario->m, .n = scenario->n, .k = scenario->k, .alpha = 1.5, .beta = scenario->beta};
    p.transpose_a = p.transpose_b = scenario->transposed;
    p.a = scenario->transposed ? matrix_make_of(element, p.k, p.m, p.k + 3, 1)
                               : matrix_make_of(element, p.m, p.k, p.m + 3, 1);
    p.b = scenario->transposed ? matrix_make_of(element, p.n, p.k, p.n, 0)
                               : matrix_make_of(element, p.k, p.n, p.k, 0);
    p.c = matrix_make_of(element, p.m, p.n, p.m + 1, 2);
    matrix_fill(&p.a, MATRIX_UNIFORM, &random);
    matrix_fill(&p.b, MATRIX_UNIFORM, &random);
    if (scenario->triangle != TB_FULL) {
        matrix_free(&p.b);
        p.b = matrix_clone(&p.a);
        p.transpose_b = !p.transpose_a;
        p.mask = scenario->triangle;
    }
    matrix_fill(&p.c, p.beta == 0 ? MATRIX_NANS : MATRIX_UNIFORM, &random);

    const tb_memory memory_of_c = scenario->managed_c  ? TB_MEMORY_MANAGED
                                  : scenario->device_c ? TB_MEMORY_DEVICE
                                                       : scenario->memory;
    void *a = place(&p.a, scenario->memory), *b = place(&p.b, scenario->memory),
         *c = place(&p.c, memory_of_c);
    const int transposition = scenario->transposed ? 112 : 111;
    const call_arguments arguments = {.triangle = scenario->triangle == TB_UPPER ? 121 : 122,
                                      .transpose_a = transposition,
                                      .transpose_b = transposition,
                                      .m = p.m,
                                      .n = p.n,
                                      .k = p.k,
                                      .lda = p.a.ld,
                                      .ldb = p.b.ld,
                                      .ldc = p.c.ld,
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .a = matrix_start_in(&p.a, a),
                                      .b = matrix_start_in(&p.b, b),
                                      .c = matrix_start_in(&p.c, c)};
    static const char *const names[][2] = {{"cblas_sgemm", "cblas_ssyrk"}, {"cblas_dgemm", "cblas_dsyrk"}};
    call_routine(spelling_named(names[element == TB_FP64][scenario->triangle != TB_FULL]), &arguments);
    matrix result = matrix_clone(&p.c);
    arena_copy(result.block, c, result.bytes);
    bool right = product_holds(&p, &result, wrong, size);

    void *blocks[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        arena_release(i < 2 ? scenario->memory : memory_of_c, blocks[i]);
    matrix *spent[] = {&p.a, &p.b, &p.c, &result};
    for (int i = 0; i < 4; i++)
        matrix_free(spent[i]);
    return right;
}

typedef struct job {
    pthread_t thread;
    const scenario *scenario;
    uint64_t number;
    bool right;
    char wrong[256];
} job;

static void *run_job(void *argument)
{
    job *job = argument;
    job->right = multiply(job->scenario, job->number, job->wrong, sizeof job->wrong);
    return NULL;
}

/* One call in each of the scenario's threads; notes the first that is wrong. */
static void multiply_at_once(const scenario *scenario, report *report)
{
    job jobs[MAX_THREADS];
    for (int i = 0; i < scenario->threads; i++) {
        jobs[i] = (job){.scenario = scenario, .number = (uint64_t)i};
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

static void run_process(const scenario *scenario, const char *script, report *report)
{
    *report = (struct report){.right = true};
    sim_set("FAIL", script);
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", "3600");
    tileblas_set_option("PINNED_MEMORY",
                        scenario->pinned_memory != NULL ? scenario->pinned_memory : PINNED_MIB);
    sim_set("DEVICES", scenario->devices != NULL ? scenario->devices : "1");
    tileblas_set_option("DEVICES", scenario->devices != NULL ? scenario->devices : "1");
    if (scenario->measured) {
        sim_set("MULTIPROCESSORS", "1");
        tileblas_set_option("CALIBRATE", "1");
        tileblas_set_option("PINNED_MEMORY", "1");
    }
    if (scenario->device_memory != NULL)
        tileblas_set_option("DEVICE_MEMORY", scenario->device_memory);
    const bool pads = scenario->memory == TB_MEMORY_DEVICE && scenario->element == TB_FP32;
    const char *kernel = pads ? "padded" : "auto";
    tileblas_set_option("KERNEL", scenario->kernel != NULL ? scenario->kernel : kernel);
    multiply_at_once(scenario, report);
    report->launches = sim_operations("launch");
    report->allocations = sim_operations("allocate");
    report->failures = sim_failures("any");
    /* A device that cannot be opened is no loss. */
    report->used = sim_operations("stream") > 0 && sim_failures("open") == 0;
    sim_set("FAIL", "");
    const struct scenario later = {.element = scenario->element,
                                   .m = 65,
                                   .n = 33,
                                   .k = 20,
                                   .beta = -2,
                                   .threads = scenario->threads,
                                   .memory = scenario->memory};
    for (int call = 0; call < LATER_CALLS; call++) {
        multiply_at_once(&later, report);
        report->usage[call] = sim_get_usage();
    }
    report->finished = true;
}

/* The report of a process in which the script runs; what it prints is counted, and shown if it failed. */
static report run_scenario(const scenario *scenario, const char *script)
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
    CHECK(shared->right, "%s, beta %g, m=%d n=%d k=%d, %d threads: %s", script, scenario->beta, scenario->m,
          scenario->n, scenario->k, scenario->threads, shared->wrong);
    return *shared;
}

/* Whether the runtime holds no more of the device than it did, or does where nothing has failed. */
static void check_no_leak(const char *script, const sim_usage *before, const sim_usage *now, size_t pinned)
{
    CHECK(now->streams <= before->streams && now->events <= before->events,
          "%s: %ld streams and %ld events left", script, now->streams, now->events);
    CHECK(now->device_bytes <= before->device_bytes && now->pinned_bytes <= pinned,
          "%s: %zu bytes on the device, not %zu, and %zu pinned ones left", script, now->device_bytes,
          before->device_bytes, now->pinned_bytes);
}

/* Every operation of its class ("any": of all) in the first call fails in turn. */
static void fail_everywhere(const scenario *scenario, const char *operation, const char *failure)
{
    report normal = run_scenario(scenario, "");
    const sim_usage *settled = &normal.usage[LATER_CALLS - 1];
    CHECK(normal.launches > 0, "the device was not used");
    CHECK(scenario->launches == 0 || scenario->launches == normal.launches, "%ld launches, not %ld",
          normal.launches, scenario->launches);
    /* How many slots devices use at a time is left to chance, up to all of them. */
    long devices = scenario->devices != NULL ? atol(scenario->devices) : 1;
    size_t pinned = (size_t)(devices * atol(PINNED_MIB)) << 20;
    check_no_leak("without failures", &normal.usage[LATER_CALLS - 2], settled, pinned);
    for (long n = 1;; n += stride) {
        char script[64];
        snprintf(script, sizeof script, "%s:%ld=%s", operation, n, failure);
        report report = run_scenario(scenario, script);
        if (report.failures == 0) {
            CHECK(n > 1, "a call has no operation \"%s\"", operation);
            return;
        }
        check_no_leak(script, settled, &report.usage[LATER_CALLS - 1], pinned);
    }
}

/* Operations of many calls at once fail; which of them is left to chance. */
static void fail_in_a_crowd(const char *failure)
{
    const scenario crowd = {.m = 90, .n = 70, .k = 50, .beta = 0.5, .threads = MAX_THREADS};
    static const long numbers[] = {1, 4, 20, 60, 100};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char script[64];
        snprintf(script, sizeof script, "any:%ld=%s", numbers[i], failure);
        run_scenario(&crowd, script);
    }
}

/* C in managed memory: the device writes it, unless beta has to be applied to what lies there. */
static void fail_in_managed_memory(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 90, .n = 70, .k = 50, .beta = -2, .managed_c = true},
        {.m = 90, .n = 70, .k = 50, .beta = 0, .managed_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        fail_everywhere(&scenario, "any", failure);
    }
}

/* All operands in managed memory: the device computes in place what the host may have to compute once more. With one kernel
 * that needs nothing, one that pads, and one that takes k in parts for want of memory. */
static void fail_in_place(const char *operation, const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 90, .n = 70, .k = 50, .beta = -2, .kernel = "sgemm_simt_128x128", .launches = 1},
        {.m = 90, .n = 70, .k = 50, .beta = 0, .kernel = "sgemm_simt_128x128", .launches = 1},
        {.m = 65, .n = 33, .k = 20, .beta = -2, .kernel = "padded", .launches = 1},
        {.m = 65,
         .n = 33,
         .k = 2100,
         .beta = -2,
         .device_memory = "5",
         .kernel = "sgemm_bf16x6_sm90",
         .launches = 2},
        {.m = 50, .n = 50, .k = 40, .beta = -2, .triangle = TB_UPPER, .launches = 1},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        scenario.memory = TB_MEMORY_MANAGED;
        fail_everywhere(&scenario, operation, failure);
        if (strcmp(failure, "half") != 0)
            continue;
        /* So does the kernel that begins again: the host does all of it. */
        const report report = run_scenario(&scenario, "launch:1=half,launch:2=half");
        CHECK(report.failures == 2, "%ld failures", report.failures);
    }
}

/* Many more rows than columns: bands of rows, B with the first; one launch a band. C on the device has none. */
static void fail_in_bands(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 1300, .n = 40, .k = 60, .beta = -2, .pinned_memory = "1", .launches = 2},
        {.m = 1300, .n = 40, .k = 60, .beta = 0, .transposed = true, .pinned_memory = "1", .launches = 2},
        {.m = 700,
         .n = 40,
         .k = 60,
         .beta = 0,
         .pinned_memory = "1",
         .memory = TB_MEMORY_PINNED,
         .launches = 2},
        {.m = 1300, .n = 40, .k = 60, .beta = -2, .pinned_memory = "1", .device_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        if (!scenario.device_c)
            fail_everywhere(&scenario, "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0 || strcmp(failure, "unsupported") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
}

/* Cut at random (cuts.c): bands, columns, slabs for all of C, in any order that a product can have. */
static void fail_in_cuts(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 60, .n = 50, .k = 40, .beta = 0},
        {.m = 50, .n = 60, .k = 70, .beta = -2},
        {.m = 70, .n = 50, .k = 40, .beta = 1, .transposed = true},
        {.m = 40, .n = 60, .k = 50, .beta = 0, .memory = TB_MEMORY_PINNED},
        {.m = 60, .n = 40, .k = 50, .beta = -2, .transposed = true, .memory = TB_MEMORY_PINNED},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        fail_everywhere(&scenario, "any", failure);
    }
}

/* A triangle, of which some has been returned, or written in place, when the next columns or rows fail. */
static void fail_in_triangles(const char *failure)
{
    static const scenario scenarios[] = {
        {.n = 60, .k = 40, .beta = -2, .triangle = TB_LOWER},
        {.n = 60, .k = 40, .beta = 0, .transposed = true, .triangle = TB_UPPER, .memory = TB_MEMORY_PINNED},
        {.n = 200, .k = 330, .beta = -2, .triangle = TB_LOWER, .device_memory = "1"},
        {.n = 40, .k = 30, .beta = -2, .triangle = TB_UPPER, .managed_c = true},
        {.n = 40, .k = 30, .beta = 0, .triangle = TB_LOWER, .managed_c = true},
        {.n = 40, .k = 30, .beta = -2, .triangle = TB_LOWER, .memory = TB_MEMORY_MANAGED},
        {.n = 20, .k = 30, .beta = -2, .triangle = TB_LOWER, .device_c = true},
        {.n = 20, .k = 30, .beta = -2, .triangle = TB_UPPER, .device_c = true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.m = scenario.n;
        scenario.element = i % 2 == 0 ? TB_FP32 : TB_FP64;
        scenario.threads = 1;
        if (!scenario.device_c)
            fail_everywhere(&scenario, "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
    /* Of its steps the second needs the largest workspace: what that takes is taken before the first. */
    const scenario growing = {.element = TB_FP64,
                              .m = 200,
                              .n = 200,
                              .k = 1000,
                              .triangle = TB_LOWER,
                              .threads = 1,
                              .kernel = "dgemm_mma_64x64"};
    const report report = run_scenario(&growing, "");
    CHECK(report.launches > 1 && report.allocations == 3, "%ld launches, %ld allocations", report.launches,
          report.allocations);
}

/* On the device, but memory of ours there is short: kernels take k in parts, whose workspaces differ. */
static void run_in_parts(void)
{
    static const scenario scenarios[] = {
        {.m = 294, .n = 143, .k = 1353, .beta = 0, .device_memory = "2", .kernel = "auto"},
        {.m = 33, .n = 40, .k = 2100, .beta = 0, .device_memory = "3", .kernel = "sgemm_bf16x9_sm90"},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            scenario scenario = scenarios[i];
            scenario.transposed = transposed;
            scenario.threads = 1;
            scenario.memory = TB_MEMORY_DEVICE;
            run_scenario(&scenario, "");
        }
    /* The second part fails, and so does the kernel that begins again: the host does all of it. */
    const scenario finished_by_host = {.m = 65,
                                       .n = 33,
                                       .k = 2100,
                                       .beta = -2,
                                       .threads = 1,
                                       .memory = TB_MEMORY_MANAGED,
                                       .device_memory = "4",
                                       .kernel = "sgemm_bf16x6_sm90"};
    report report = run_scenario(&finished_by_host, "launch:2=memory,launch:3=memory");
    CHECK(report.failures == 2, "%ld failures", report.failures);
}

/* Elements of 8 bytes, wherever bytes are counted: slots, blocks on the device, bands, devices' shares,
 * memory that a device writes in place, k in parts. */
static void fail_in_doubles(const char *failure)
{
    static const scenario scenarios[] = {
        {.m = 65, .n = 33, .k = 20, .beta = -2},
        {.m = 150, .n = 250, .k = 300, .beta = -2, .device_memory = "1", .pinned_memory = "1"},
        {.m = 700, .n = 40, .k = 60, .beta = 0, .transposed = true, .pinned_memory = "1", .launches = 2},
        {.m = 60, .n = 130, .k = 40, .beta = -2, .devices = "3"},
        {.m = 90, .n = 70, .k = 50, .beta = -2, .managed_c = true},
        {.m = 33,
         .n = 40,
         .k = 3000,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 2},
        {.m = 33,
         .n = 40,
         .k = 3000,
         .beta = -2,
         .memory = TB_MEMORY_DEVICE,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 2},
    };
    const bool loses = strcmp(failure, "lost") == 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.element = TB_FP64;
        scenario.threads = 1;
        /* What lies on a device that is gone is beyond help. */
        if (scenario.memory != TB_MEMORY_DEVICE)
            fail_everywhere(&scenario, "any", failure);
        else if (!loses)
            fail_everywhere(&scenario, "launch", failure);
    }
}

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    /* More columns than the streamed route returns at a time. */
    const scenario panels = {.m = 800, .n = 800, .k = 2, .beta = -2, .threads = 1};
    static const double betas[] = {0, 1, -2};

    const char *wanted_stride = getenv("TILEBLAS_TEST_STRIDE");
    if (wanted_stride != NULL && atol(wanted_stride) > 0)
        stride = atol(wanted_stride);
    seed = check_seed();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count > 2 && strcmp(arguments[2], "cuts") == 0) {
        fail_in_cuts(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "triangles") == 0) {
        fail_in_triangles(failure);
        return check_result();
    }
    if (count > 2 && strcmp(arguments[2], "double") == 0) {
        fail_in_doubles(failure);
        return check_result();
    }
    if (strcmp(failure, "half") == 0) {
        fail_in_place("launch", failure);
        return check_result();
    }
    for (size_t i = 0; i < sizeof betas / sizeof betas[0]; i++) {
        const scenario small = {.m = 65, .n = 33, .k = 20, .beta = betas[i], .threads = 1};
        fail_everywhere(&small, "any", failure);
    }
    fail_everywhere(&panels, "any", failure);
    /* Too large for the device: blocks of C, slabs of k, rings that turn. */
    const scenario cut = {.m = 200, .n = 330, .k = 400, .beta = -2, .threads = 1, .device_memory = "1"};
    fail_everywhere(&cut, "any", failure);
    fail_in_managed_memory(failure);
    fail_in_place("any", failure);
    fail_in_bands(failure);
    /* Where one device fails, the others' parts stay. */
    const scenario shared_by_three = {.m = 60, .n = 130, .k = 40, .beta = -2, .threads = 1, .devices = "3"};
    fail_everywhere(&shared_by_three, "any", failure);
    const scenario measured = {.m = 65, .n = 33, .k = 20, .beta = -2, .threads = 1, .measured = true};
    fail_everywhere(&measured, "any", failure);
    fail_in_a_crowd(failure);

    /* Memory of the device that runs out costs no product of matrices that lie there. */
    static const char *const operations[] = {"allocate", "copy", "launch", "stream"};
    const scenario resident = {
        .m = 65, .n = 33, .k = 20, .beta = -2, .threads = 1, .memory = TB_MEMORY_DEVICE};
    /* There a kernel whose workspace is too large takes k in two parts; beta counts once, whichever fails. */
    const scenario in_two_parts = {.m = 65,
                                   .n = 33,
                                   .k = 2100,
                                   .beta = -2,
                                   .threads = 1,
                                   .memory = TB_MEMORY_DEVICE,
                                   .device_memory = "5",
                                   .kernel = "sgemm_bf16x6_sm90",
                                   .launches = 2};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0] && strcmp(failure, "memory") == 0; i++) {
        fail_everywhere(&resident, operations[i], failure);
        if (strcmp(operations[i], "copy") != 0)
            fail_everywhere(&in_two_parts, operations[i], failure);
    }
    if (strcmp(failure, "memory") == 0)
        run_in_parts();
    return check_result();
}
