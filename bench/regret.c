/* bench/regret [--routine NAME] FILE [SHAPES [MEMORY ...]]: how much the dispatcher loses by choosing as it
 * does.
 *
 * Random products of the routine, SGEMM unless said otherwise, which may be any of level 3 that is no batch; each extent
 * log-uniform from 1 to 16384, all transposes and sides, operands in ordinary, pinned and device memory, or in the ones that
 * are named: the library left alone, beside the fastest of the routes and kernels that can be forced. Everything is timed in turns in one
 * process; medians. What the library learns on the way, it learns as in any program.
 */
#include "bench/json.h"
#include "bench/routine.h"
#include "bench/timing.h"
#include "kernels/catalog.h"
#include "words/lowered.h"

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TURNS_MOST = 9,
    TURNS_DEVICE = 5,
    TURNS_LONG = 3,
    CHOICES_MAXIMUM = 64,
    SHAPES_DEFAULT = 200,
    EXTENT_MAXIMUM = 16384
};

/* Operands of at most this size, and products that the host does in a second or two. */
#define BYTES_MAXIMUM  1.08e9
#define VOLUME_MAXIMUM 2e12

/* OpenBLAS's threads spin after a call, in the way of what is timed next; for 0.13 s, but a run would take too long. */
#define REST_SECONDS 0.03

typedef int set_option(const char *name, const char *value);
typedef size_t last_plan(char *text, size_t size);

void sgemm_(void); /* OpenBLAS's */

static const bench_routine *routine;
static bench_function *multiply;
static set_option *set;
static last_plan *plan_text;
static int architecture; /* of device 0: 90 for compute capability 9.0 */

typedef enum memory { PAGEABLE, PINNED, DEVICE, MEMORIES } memory;
static const char *const memory_names[MEMORIES] = {"pageable", "pinned", "device"};

typedef struct choice {
    const char *route, *kernel;
    double seconds;
} choice;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "regret: %s\n", what);
    exit(1);
}

/* ---- Products --------------------------------------------------------------------------------------------- */

static int draw_extent(void)
{
    return (int)exp(log(EXTENT_MAXIMUM) * ((double)rand() / RAND_MAX));
}

static bool is_too_large(const tb_product *p)
{
    double bytes = 0;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        bytes = fmax(bytes, (double)tb_operand_bytes(&p->operands[role]));
    return tb_volume(p) > VOLUME_MAXIMUM || bytes > BYTES_MAXIMUM;
}

/* Its operands are nowhere yet. Of GEMMT one of the factors is transposed. */
static tb_product draw_product(void)
{
    for (;;) {
        const int m = draw_extent(), n = draw_extent(), k = draw_extent();
        const bool transpose_a = rand() & 1, transpose_b = rand() & 1;
        const bool is_triangle = routine->class == TB_CLASS_TRIANGLE;
        const tb_product p = bench_product_of(routine, transpose_a, is_triangle ? !transpose_a : transpose_b,
                                              m, n, k, NULL, NULL, NULL);
        if (!is_too_large(&p))
            return p;
    }
}

static void *allocate(memory memory, size_t bytes)
{
    void *matrix = NULL;
    if (memory == PAGEABLE)
        matrix = malloc(bytes);
    else if (memory == PINNED)
        require(cudaMallocHost(&matrix, bytes) == cudaSuccess, "no pinned memory");
    else
        require(cudaMalloc(&matrix, bytes) == cudaSuccess, "no device memory");
    require(matrix != NULL, "out of memory");
    return matrix;
}

static void release(memory memory, void *matrix)
{
    if (memory == PAGEABLE)
        free(matrix);
    else if (memory == PINNED)
        cudaFreeHost(matrix);
    else
        cudaFree(matrix);
}

static void *make_matrix(memory memory, const tb_operand *operand)
{
    const size_t bytes = tb_operand_bytes(operand), count = bytes / tb_bytes_of(operand->element);
    void *matrix = allocate(memory, bytes), *host = memory == DEVICE ? allocate(PAGEABLE, bytes) : matrix;
    bench_fill_random(operand->element, host, count);
    if (operand->structure == TB_TRIANGULAR)
        bench_make_triangle(operand->element, host, operand->rows);
    if (memory == DEVICE) {
        require(cudaMemcpy(matrix, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copying");
        free(host);
    }
    return matrix;
}

/* Whether the product has a matrix of its own there: B may be A, and one of the two C. */
static bool has_matrix(const tb_product *p, tb_role role)
{
    return bench_has_operand(routine, role) && !tb_is_in_place_of(p, role);
}

static void make_operands(memory memory, tb_product *p)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (has_matrix(p, role))
            p->operands[role].data = make_matrix(memory, &p->operands[role]);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!has_matrix(p, role))
            p->operands[role].data = tb_is_in_place_of(p, role) ? p->c.data : p->a.data;
}

static void release_operands(memory memory, const tb_product *p)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (has_matrix(p, role))
            release(memory, p->operands[role].data);
}

static double time_product(const tb_product *p)
{
    double start = tb_seconds();
    bench_call_fortran(multiply, p);
    return tb_seconds() - start;
}

/* ---- Choices ---------------------------------------------------------------------------------------------- */

static bool force(const choice *choice)
{
    return set("ROUTE", choice->route) == 0 && set("KERNEL", choice->kernel) == 0;
}

/* Those for plain products serve others, which are lowered to these. */
static bool is_of_routine(const tb_kernel *kernel)
{
    return kernel->element == (kernel->structured ? routine->element : tb_real_of(routine->element));
}

/* One thread for each element. */
static bool is_naive(const tb_kernel *kernel)
{
    return kernel->structured || strcmp(kernel->name, "naive") == 0 ||
           strcmp(kernel->name, "dgemm_naive") == 0;
}

/* The library left alone comes first. Kernels for show are no choice; nor is a naive one where it would take for
 * ever. */
static int list_choices(memory memory, const tb_product *p, choice *choices)
{
    int count = 0;
    choices[count++] = (choice){.route = "auto", .kernel = "auto"};
    if (memory != DEVICE) {
        choices[count++] = (choice){.route = "host", .kernel = "auto"};
        choices[count++] = (choice){.route = "streamed", .kernel = "auto"};
        return count;
    }
    for (size_t row = 0; row < tb_catalog_size && count < CHOICES_MAXIMUM; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool endless = is_naive(kernel) && tb_volume(p) > 5e9;
        if (tb_kernel_is_free_on(kernel, architecture) && is_of_routine(kernel) &&
            kernel->accuracy <= TB_ACCURACY_FP32 && (!kernel->structured || !tb_is_plain(p)) && !endless)
            choices[count++] = (choice){.route = "auto", .kernel = tb_catalog[row].name};
    }
    return count;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(REST_SECONDS * 1e9)}, NULL);
}

/* The faster of calls this short is the one that comes second: threads, caches and clocks are awake. All of them come
 * second, behind a call like themselves. */
#define SHORT_SECONDS 2e-3

/* What came of the turns that were left alone. */
typedef struct outcome {
    double regret;
    double over_host; /* its time over the host's; 0 unless most turns left the host */
    double settled;   /* the same after as many turns again, or more while it is slower: see settle */
} outcome;

static int turns_of(memory memory, const tb_product *p)
{
    if (tb_volume(p) > 1e11)
        return TURNS_LONG;
    return memory == DEVICE ? TURNS_DEVICE : TURNS_MOST;
}

/* Returns how many of the turns left alone were not computed by the host. A plan that does not name the forced kernel
 * shows that it could not serve. Calls that are left alone and too small to gain leave no plan. */
static int time_choices(memory memory, const tb_product *p, choice *choices, int count, char *chosen,
                        size_t size)
{
    static double times[CHOICES_MAXIMUM][TURNS_MOST];
    char text[256];
    int left_host = 0;
    const int turns = turns_of(memory, p);
    for (int turn = -1; turn < turns; turn++)
        for (int i = 0; i < count; i++) {
            require(force(&choices[i]), "an option was refused");
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

/* ---- The run ---------------------------------------------------------------------------------------------- */

/* Products that leave the host well ahead of it are settled, as the library sees them, too. */
#define CLEARLY_FASTER 0.6
/* It tries the host again every so often, and so do a product's turns go on while it takes longer than the host. */
#define SETTLING_ROUNDS 5
#define SLOWER          1.1

/* What the library has learned in these turns shows in further ones, beside the host alone. */
static double settle(memory memory, const tb_product *p, int *rounds)
{
    choice choices[] = {{.route = "auto", .kernel = "auto"}, {.route = "host", .kernel = "auto"}};
    char chosen[256];
    double over_host = SLOWER + 1;
    for (*rounds = 0; *rounds < SETTLING_ROUNDS && over_host > SLOWER; ++*rounds) {
        const int left_host = time_choices(memory, p, choices, 2, chosen, sizeof chosen);
        over_host = 2 * left_host > turns_of(memory, p) ? choices[0].seconds / choices[1].seconds : 0;
    }
    return over_host;
}

/* "NT" for op(A) and op(B); or "LN" for the side of what is no general matrix, and whether that is transposed. */
static const char *letters_of(const tb_product *p)
{
    static const char *const of_factors[2][2] = {{"NN", "NT"}, {"TN", "TT"}}, *const of_left[] = {"LN", "LT"},
                             *const of_right[] = {"RN", "RT"};
    if (p->a.structure != TB_GENERAL)
        return of_left[p->a.transposed];
    if (p->b.structure != TB_GENERAL)
        return of_right[p->b.transposed];
    return of_factors[p->a.transposed][p->b.transposed];
}

static outcome measure(bench_json *json, memory memory, const tb_product *p)
{
    choice choices[CHOICES_MAXIMUM];
    char chosen[256] = "";
    int count = list_choices(memory, p, choices);
    int left_host = time_choices(memory, p, choices, count, chosen, sizeof chosen);
    const choice *best = &choices[0];
    for (int i = 1; i < count; i++)
        if (choices[i].seconds < best->seconds)
            best = &choices[i];
    outcome outcome = {.regret = choices[0].seconds / best->seconds};
    if (memory != DEVICE && 2 * left_host > turns_of(memory, p))
        outcome.over_host = choices[0].seconds / choices[1].seconds;
    int rounds = 0;
    if (outcome.over_host > 0 && outcome.over_host < CLEARLY_FASTER)
        outcome.settled = outcome.over_host;
    else if (memory != DEVICE && left_host > 0)
        outcome.settled = settle(memory, p, &rounds);
    bench_json_begin(json, NULL, '{');
    bench_json_text(json, "memory", memory_names[memory]);
    bench_json_integer(json, "m", p->m);
    bench_json_integer(json, "n", p->n);
    bench_json_integer(json, "k", p->k);
    bench_json_text(json, "transposes", letters_of(p));
    bench_json_number(json, "flop", bench_flop(p));
    bench_json_number(json, "bytes", (double)tb_product_bytes(p));
    bench_json_text(json, "plan", chosen);
    bench_json_text(json, "best_route", best->route);
    bench_json_text(json, "best_kernel", best->kernel);
    bench_json_number(json, "seconds", choices[0].seconds);
    bench_json_number(json, "best_seconds", best->seconds);
    if (memory != DEVICE) {
        bench_json_number(json, "host_seconds", choices[1].seconds);
        bench_json_number(json, "streamed_seconds", choices[2].seconds);
        bench_json_integer(json, "turns", turns_of(memory, p));
        bench_json_integer(json, "turns_left_host", left_host);
        bench_json_number(json, "settled_over_host", outcome.settled);
        bench_json_integer(json, "settling_rounds", rounds);
    }
    bench_json_number(json, "regret", outcome.regret);
    bench_json_end(json, '}');
    if (outcome.regret > 1.3 || outcome.over_host > 1.1 || outcome.settled > 1.1)
        printf("%-8s %5lld %5lld %5lld %s %6.2f, settled %.2f of the host's  %.3f ms by \"%s\"; best %s %s\n",
               memory_names[memory], (long long)p->m, (long long)p->n, (long long)p->k, letters_of(p),
               outcome.regret, outcome.settled, 1e3 * choices[0].seconds, chosen, best->route, best->kernel);
    return outcome;
}

typedef struct summary {
    double mean, high, worst; /* geometric mean, 95th percentile */
    int left_host;            /* products that left it in most of their turns */
    double worst_over_host;   /* of these */
    int settled_away;         /* products that most of the further turns left the host with */
    double worst_settled;
} summary;

static summary summarize(memory memory, const outcome *outcomes, int count)
{
    double *regrets = malloc((size_t)count * sizeof *regrets);
    require(regrets != NULL, "out of memory");
    double sum = 0, worst_over_host = 0, worst_settled = 0;
    int left_host = 0, settled_away = 0;
    for (int i = 0; i < count; i++) {
        regrets[i] = outcomes[i].regret;
        sum += log(regrets[i]);
        left_host += outcomes[i].over_host > 0;
        worst_over_host = fmax(worst_over_host, outcomes[i].over_host);
        settled_away += outcomes[i].settled > 0;
        worst_settled = fmax(worst_settled, outcomes[i].settled);
    }
    qsort(regrets, (size_t)count, sizeof *regrets, bench_compare);
    const summary summary = {exp(sum / count), regrets[count * 95 / 100], regrets[count - 1],
                             left_host,        worst_over_host,           settled_away,
                             worst_settled};
    free(regrets);
    printf("%-8s %d shapes: geometric mean %.3f, 95th percentile %.2f, worst %.2f", memory_names[memory],
           count, summary.mean, summary.high, summary.worst);
    if (memory == DEVICE)
        printf("\n");
    else
        printf("; %d left the host, at worst %.2f of its time; settled %d, at worst %.2f\n", left_host,
               worst_over_host, settled_away, worst_settled);
    fflush(stdout);
    return summary;
}

static void write_summary(bench_json *json, memory memory, const summary *summary)
{
    bench_json_begin(json, memory_names[memory], '{');
    bench_json_number(json, "geometric_mean", summary->mean);
    bench_json_number(json, "percentile_95", summary->high);
    bench_json_number(json, "worst", summary->worst);
    if (memory != DEVICE) {
        bench_json_integer(json, "left_host", summary->left_host);
        bench_json_number(json, "worst_over_host", summary->worst_over_host);
        bench_json_integer(json, "settled_away", summary->settled_away);
        bench_json_number(json, "worst_settled", summary->worst_settled);
    }
    bench_json_end(json, '}');
}

/* The same products in every memory. */
static summary run_products(bench_json *json, memory memory, int shapes)
{
    outcome *outcomes = malloc((size_t)shapes * sizeof *outcomes);
    require(outcomes != NULL, "out of memory");
    srand(1);
    for (int i = 0; i < shapes; i++) {
        tb_product p = draw_product();
        make_operands(memory, &p);
        outcomes[i] = measure(json, memory, &p);
        release_operands(memory, &p);
        if ((i + 1) % 20 == 0)
            fprintf(stderr, "%s: %d of %d\n", memory_names[memory], i + 1, shapes);
    }
    const summary summary = summarize(memory, outcomes, shapes);
    free(outcomes);
    return summary;
}

static bool is_memory(const char *name)
{
    for (memory memory = 0; memory < MEMORIES; memory++)
        if (strcmp(name, memory_names[memory]) == 0)
            return true;
    return false;
}

/* All that are named, or all there are. */
static bool is_wanted(memory memory, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], memory_names[memory]) == 0)
            return true;
    return count <= 0;
}

static void open_library(void)
{
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "libtileblas is not there");
    char name[32];
    snprintf(name, sizeof name, "%s_", routine->name);
    multiply = (bench_function *)dlsym(library, name);
    set = (set_option *)dlsym(library, "tileblas_set_option");
    plan_text = (last_plan *)dlsym(library, "tileblas_last_plan");
    require(multiply && set && plan_text, "libtileblas lacks a name");
    require(set("START", "wait") == 0, "an option was refused");
}

int main(int argc, char **argv)
{
    const bool named = argc > 2 && strcmp(argv[1], "--routine") == 0;
    routine = bench_find_any_routine(named ? argv[2] : "sgemm");
    argv += named ? 2 : 0;
    argc -= named ? 2 : 0;
    if (argc < 2 || !routine) {
        fprintf(stderr, "usage: regret [--routine NAME] FILE.json [SHAPES [pageable|pinned|device ...]]\n");
        return 2;
    }
    int shapes = argc > 2 ? atoi(argv[2]) : SHAPES_DEFAULT;
    require(shapes > 0, "how many shapes?");
    for (int i = 3; i < argc; i++)
        require(is_memory(argv[i]), "there is no such memory");
    summary summaries[MEMORIES];
    open_library();
    int major, minor;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
                cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess,
            "no device");
    architecture = 10 * major + minor;
    /* The program's own BLAS, which the library is to find. */
    require((bench_function *)sgemm_ != multiply, "OpenBLAS is not there");
    FILE *file = fopen(argv[1], "w");
    require(file != NULL, argv[1]);
    bench_json json = bench_json_to(file);
    bench_json_begin(&json, NULL, '{');
    bench_json_text(&json, "routine", routine->name);
    bench_json_begin(&json, "products", '[');
    for (memory memory = 0; memory < MEMORIES; memory++)
        if (is_wanted(memory, argc - 3, argv + 3))
            summaries[memory] = run_products(&json, memory, shapes);
    bench_json_end(&json, ']');
    for (memory memory = 0; memory < MEMORIES; memory++)
        if (is_wanted(memory, argc - 3, argv + 3))
            write_summary(&json, memory, &summaries[memory]);
    bench_json_end(&json, '}');
    return fclose(file) == 0 ? 0 : 1;
}
