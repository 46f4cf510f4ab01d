/* Failing each operation of a call in turn: a scenario says what is multiplied, where and with which options; each run of it is
 * a process of its own, because a lost device stays lost, and reports whether C was right, whether later calls were, and
 * what the runtime held afterwards.
 *
 * Header only, for the one file of a program that holds main.
 */
#ifndef TB_FAILING_H
#define TB_FAILING_H

#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/spellings.h"
#include "tests/oracle.h"
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
    bool transposed;           /* A and B; of complex numbers A is conjugated as well */
    tb_triangle triangle;      /* of C, by SYRK: B is A, and m is n; ... */
    bool hermitian, two_terms; /* ... or by HERK; or by SYR2K and HER2K, of two matrices */
    tb_structure structure;    /* of the left factor, by SYMM or HEMM, which is square: k is m */
    bool structured_right;     /* of the right one instead: k is n */
    tb_triangle stored;        /* of that factor */
    tb_in_place
        in_place; /* by TRMM or TRSM: that factor is triangular, the other one is C, and beta does not count */
    bool unit_diagonal; /* of a triangular one */
    double beta;
    double alpha_im, beta_im; /* of complex numbers */
    int threads;              /* in a crowd every other one multiplies doubles */
    bool drawn;               /* each call has routine, sizes, scalars and memory of its own instead ... */
    bool drawn_on_device;     /* ... which may be the device's */
    int calls;                /* of each thread; 0: one */
    tb_memory memory;         /* of A, B and C */
    bool managed_c, device_c,
        host_c;                /* but C lies in managed memory, on the device, or in the host's memory */
    const char *device_memory; /* the option; NULL: its default */
    const char *devices;       /* that share the product; NULL: one */
    bool measured;             /* when they come up */
    const char *kernel;        /* that is forced; NULL: none, or for operands on the device one that pads */
    const char *pinned_memory; /* the option; NULL: PINNED_MIB */
    long launches;             /* without failures; 0: any */
    bool fetched;              /* the host computes what is fetched from the device: nothing is launched */
    int foldings;              /* without failures; 0: any number, -1: none */
    long step;                 /* between operations that fail, where a call has many; 0: every one does */
} scenario;

/* What a process has to say. */
typedef struct report {
    bool finished, right;
    bool used;                    /* the device was up, and work was begun */
    long failures;                /* that the script caused */
    long launches;                /* of the first call */
    long foldings, copies;        /* of the first call */
    long allocations;             /* on the device, of the first call */
    sim_usage usage[LATER_CALLS]; /* after each later call */
    char wrong[256];
} report;

/* How far apart the operations are that fail: 1 leaves none out. TILEBLAS_TEST_STRIDE, for slow builds. */
static long stride = 1;
/* Of how many ways of a product, but for the first, one is taken: by memory, lost and half of three another one each.
 * TILEBLAS_TEST_WAYS, for the same. */
static long ways = 1;
static report *shared;
static uint64_t seed;

/* Before anything else. */
static inline void begin_failing(void)
{
    const char *wanted_stride = getenv("TILEBLAS_TEST_STRIDE");
    if (wanted_stride != NULL && atol(wanted_stride) > 0)
        stride = atol(wanted_stride);
    const char *wanted_ways = getenv("TILEBLAS_TEST_WAYS");
    if (wanted_ways != NULL && atol(wanted_ways) > 0)
        ways = atol(wanted_ways);
    seed = check_seed();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static inline void *place(const matrix *matrix, tb_memory memory)
{
    void *block = arena_allocate(memory, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* "cblas_zhemm": by class and element. */
static inline const spelling *spelling_of(const scenario *scenario, tb_element element)
{
    static const char letters[TB_ELEMENTS] = {
        [TB_FP32] = 's', [TB_FP64] = 'd', [TB_COMPLEX_FP32] = 'c', [TB_COMPLEX_FP64] = 'z'};
    static const char *const structured[] = {
        [TB_GENERAL] = "gemm", [TB_SYMMETRIC] = "symm", [TB_HERMITIAN] = "hemm"};
    char name[16];
    static const char *const updates[2][2] = {{"syrk", "syr2k"}, {"herk", "her2k"}};
    static const char *const in_place[] = {[TB_MULTIPLIES] = "trmm", [TB_SOLVES] = "trsm"};
    snprintf(name, sizeof name, "cblas_%c%s", letters[element],
             scenario->in_place != TB_OUT_OF_PLACE ? in_place[scenario->in_place]
             : scenario->triangle != TB_FULL       ? updates[scenario->hermitian][scenario->two_terms]
                                                   : structured[scenario->structure]);
    return spelling_named(name);
}

static inline matrix make_factor(tb_element element, bool transposed, int64_t rows, int64_t columns,
                                 int64_t more, int64_t offset)
{
    return transposed ? matrix_make_of(element, columns, rows, columns + more, offset)
                      : matrix_make_of(element, rows, columns, rows + more, offset);
}

/* Of a product or solve in C's place: the triangle, and nothing beside it. */
static inline void make_triangle(const scenario *scenario, tb_element element, check_random *random,
                                 product *p)
{
    const bool right = scenario->structured_right,
               conjugated = scenario->transposed && tb_is_complex(element);
    p->in_place = scenario->in_place;
    p->unit_diagonal = scenario->unit_diagonal;
    p->beta = 1;
    p->transpose_a = scenario->transposed && !right;
    p->transpose_b = scenario->transposed && right;
    p->conjugate_a = conjugated && !right;
    p->conjugate_b = conjugated && right;
    *(right ? &p->b : &p->a) = make_factor(element, false, p->k, p->k, 3, 1);
    *(right ? &p->a : &p->b) = matrix_make_of(element, 0, 0, 1, 0);
    matrix_fill(right ? &p->b : &p->a, MATRIX_SOLVABLE, random);
}

/* What the scenario multiplies, filled. */
static inline product make_product(const scenario *scenario, tb_element element, check_random *random)
{
    product p = {.m = scenario->m, .n = scenario->n, .k = scenario->k, .alpha = 1.5, .beta = scenario->beta};
    p.transpose_a = p.transpose_b = scenario->transposed;
    p.conjugate_a = scenario->transposed && tb_is_complex(element);
    if (scenario->triangle != TB_FULL) {
        p.transpose_b = !p.transpose_a;
        p.hermitian = scenario->hermitian;
        p.conjugate_a = p.hermitian && p.transpose_a;
        p.conjugate_b = p.hermitian && p.transpose_b;
        p.terms = scenario->two_terms ? 2 : 1;
        p.mask = scenario->triangle;
    }
    p.alpha_im = scenario->alpha_im;
    p.beta_im = scenario->beta_im;
    *(scenario->structured_right ? &p.structure_b : &p.structure_a) = scenario->structure;
    *(scenario->structured_right ? &p.stored_b : &p.stored_a) = scenario->stored;
    p.c = matrix_make_of(element, p.m, p.n, p.m + 1, 2);
    if (scenario->in_place != TB_OUT_OF_PLACE) {
        make_triangle(scenario, element, random, &p);
    } else {
        p.a = make_factor(element, p.transpose_a, p.m, p.k, 3, 1);
        p.b = make_factor(element, p.transpose_b, p.k, p.n, 0, 0);
        matrix_fill(&p.a, MATRIX_UNIFORM, random);
        matrix_fill(&p.b, MATRIX_UNIFORM, random);
    }
    if (scenario->triangle != TB_FULL && !scenario->two_terms) {
        matrix_free(&p.b);
        p.b = matrix_clone(&p.a);
    }
    matrix_fill(&p.c, p.beta == 0 && p.beta_im == 0 ? MATRIX_NANS : MATRIX_UNIFORM, random);
    if (scenario->structure != TB_GENERAL || scenario->hermitian)
        product_hide_the_rest(&p);
    return p;
}

/* C's triangle, by SYRK or SYR2K, HERK or HER2K. */
static inline void draw_triangle(scenario *one, check_random *random)
{
    one->m = one->n;
    one->triangle = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    one->two_terms = check_between(random, 0, 1);
    one->hermitian = tb_is_complex(one->element) && check_between(random, 0, 1);
    one->transposed = check_between(random, 0, 1);
    if (one->hermitian)
        one->beta_im = 0;
    if (one->hermitian && !one->two_terms)
        one->alpha_im = 0;
}

/* What a call of the crowd multiplies: a triangle, complex numbers, a factor of which one triangle is stored, or neither; or in C's place. */
static inline scenario draw_scenario(const scenario *of_all, check_random *random)
{
    static const tb_in_place kinds[] = {TB_OUT_OF_PLACE, TB_OUT_OF_PLACE, TB_MULTIPLIES, TB_SOLVES};
    static const tb_element elements[] = {TB_FP32, TB_FP64, TB_COMPLEX_FP32, TB_COMPLEX_FP64,
                                          TB_COMPLEX_FP64};
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_HOST, TB_MEMORY_HOST, TB_MEMORY_PINNED,
                                         TB_MEMORY_MANAGED};
    static const int most[] = {9, 70, 300};
    static const double betas[] = {0, 1, -2}, parts[] = {0, 0, 0.5};
    scenario one = {.element = CHECK_PICK(random, elements),
                    .m = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .n = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .k = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .beta = CHECK_PICK(random, betas),
                    .threads = 1,
                    .memory = CHECK_PICK(random, memories),
                    .managed_c = check_between(random, 0, 7) == 0};
    const bool is_complex = tb_is_complex(one.element);
    if (is_complex) {
        one.alpha_im = CHECK_PICK(random, parts);
        /* Products in host memory with a complex beta are the host's. */
        one.beta_im = one.memory == TB_MEMORY_MANAGED && check_between(random, 0, 3) == 0 ? 0.5 : 0;
    }
    if (of_all->drawn_on_device && check_between(random, 0, 3) == 0) {
        one.memory = TB_MEMORY_DEVICE;
        one.host_c = check_between(random, 0, 1);
        one.beta_im = is_complex && check_between(random, 0, 1) ? 0.5 : one.beta_im;
    }
    if (check_between(random, 0, 3) == 0) {
        draw_triangle(&one, random);
        return one;
    }
    one.in_place = CHECK_PICK(random, kinds);
    one.unit_diagonal = check_between(random, 0, 1);
    one.structure =
        one.in_place != TB_OUT_OF_PLACE
            ? TB_TRIANGULAR
            : (tb_structure)check_between(random, TB_GENERAL, is_complex ? TB_HERMITIAN : TB_SYMMETRIC);
    if (one.structure == TB_GENERAL || one.structure == TB_TRIANGULAR)
        one.transposed = check_between(random, 0, 1);
    if (one.structure != TB_GENERAL) {
        one.structured_right = check_between(random, 0, 1);
        one.stored = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        one.k = one.structured_right ? one.n : one.m;
    }
    return one;
}

static inline bool multiply(const scenario *of_all, uint64_t number, char *wrong, size_t size)
{
    check_random random = {.state = seed + number};
    const struct scenario one = of_all->drawn ? draw_scenario(of_all, &random) : *of_all, *scenario = &one;
    const tb_element element = scenario->threads > 1 && number % 2 == 1 && !tb_is_complex(scenario->element)
                                   ? TB_FP64
                                   : scenario->element;
    product p = make_product(scenario, element, &random);
    const tb_memory memory_of_c = scenario->managed_c  ? TB_MEMORY_MANAGED
                                  : scenario->device_c ? TB_MEMORY_DEVICE
                                  : scenario->host_c   ? TB_MEMORY_HOST
                                                       : scenario->memory;
    void *a = place(&p.a, scenario->memory), *b = place(&p.b, scenario->memory),
         *c = place(&p.c, memory_of_c);
    const bool right = scenario->structured_right, in_place = p.in_place != TB_OUT_OF_PLACE;
    const int transposition = scenario->transposed ? 112 : 111;
    const bool conjugates = p.conjugate_a || (in_place && p.conjugate_b);
    const matrix *first = right ? &p.b : &p.a, *second = right ? &p.a : &p.b;
    const tb_triangle triangle = scenario->triangle != TB_FULL ? scenario->triangle : scenario->stored;
    const call_arguments arguments = {.side = right ? 142 : 141,
                                      .triangle = triangle == TB_UPPER ? 121 : 122,
                                      .transpose_a = conjugates ? 113 : transposition,
                                      .transpose_b = transposition,
                                      .diagonal = p.unit_diagonal ? 132 : 131,
                                      .m = p.m,
                                      .n = p.n,
                                      .k = p.k,
                                      .lda = first->ld,
                                      .ldb = second->ld,
                                      .ldc = p.c.ld,
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .alpha_im = p.alpha_im,
                                      .beta_im = p.beta_im,
                                      .a = matrix_start_in(first, right ? b : a),
                                      .b = matrix_start_in(second, right ? a : b),
                                      .c = matrix_start_in(&p.c, c)};
    call_routine(spelling_of(scenario, element), &arguments);
    matrix result = matrix_clone(&p.c);
    arena_copy(result.block, c, result.bytes);
    const bool holds = product_holds(&p, &result, wrong, size);
    if (!holds && of_all->drawn) {
        const size_t length = strlen(wrong);
        snprintf(wrong + length, size - length,
                 " of %s m=%d n=%d k=%d, right %d, stored %d, transposed %d, memory %d, %d",
                 spelling_of(scenario, element)->name, one.m, one.n, one.k, right, (int)one.stored,
                 one.transposed, (int)one.memory, one.managed_c);
    }

    void *blocks[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        arena_release(i < 2 ? scenario->memory : memory_of_c, blocks[i]);
    matrix *spent[] = {&p.a, &p.b, &p.c, &result};
    for (int i = 0; i < 4; i++)
        matrix_free(spent[i]);
    return holds;
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
        job->right = multiply(job->scenario, job->number + (uint64_t)call, job->wrong, sizeof job->wrong);
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
    report->foldings = sim_foldings();
    report->copies = sim_operations("copy");
    report->allocations = sim_operations("allocate");
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
    CHECK(shared->right, "%s, beta %g, m=%d n=%d k=%d, %d threads: %s", script, scenario->beta, scenario->m,
          scenario->n, scenario->k, scenario->threads, shared->wrong);
    return *shared;
}

/* Whether the runtime holds no more of the device than it did, or does where nothing has failed. */
static inline void check_no_leak(const char *script, const sim_usage *before, const sim_usage *now,
                                 size_t pinned)
{
    CHECK(now->streams <= before->streams && now->events <= before->events,
          "%s: %ld streams and %ld events left", script, now->streams, now->events);
    CHECK(now->device_bytes <= before->device_bytes && now->pinned_bytes <= pinned,
          "%s: %zu bytes on the device, not %zu, and %zu pinned ones left", script, now->device_bytes,
          before->device_bytes, now->pinned_bytes);
}

/* Every operation of its class ("any": of all) in the first call fails in turn. */
static inline void fail_everywhere(const scenario *scenario, const char *operation, const char *failure)
{
    static long way = -1;
    if (++way > 0 && (way + failure[0]) % ways != 0)
        return;
    report normal = run_scenario(scenario, "");
    const sim_usage *settled = &normal.usage[LATER_CALLS - 1];
    CHECK((normal.launches == 0) == scenario->fetched, "%ld launches", normal.launches);
    CHECK(scenario->launches == 0 || scenario->launches == normal.launches, "%ld launches, not %ld",
          normal.launches, scenario->launches);
    const long foldings = scenario->foldings > 0 ? scenario->foldings : 0;
    CHECK(scenario->foldings == 0 || normal.foldings == foldings, "%d x %d x %d: %ld foldings, not %ld",
          scenario->m, scenario->n, scenario->k, normal.foldings, foldings);
    /* How many slots devices use at a time is left to chance, up to all of them. */
    long devices = scenario->devices != NULL ? atol(scenario->devices) : 1;
    size_t pinned = (size_t)(devices * atol(PINNED_MIB)) << 20;
    check_no_leak("without failures", &normal.usage[LATER_CALLS - 2], settled, pinned);
    for (long n = 1;; n += stride * (scenario->step > 0 ? scenario->step : 1)) {
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

#endif
