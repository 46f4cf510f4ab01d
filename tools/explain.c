/* `tileblas explain`: every way that a product could be computed, with its forecast, and the one that would be
 * chosen. The decision is the library's own, tb_decide; only where operands lie and what the machine is can be
 * supposed, so that a machine without a GPU can tell what one with it would do.
 */
#include "dispatch/plan.h"
#include "lib/facts.h"
#include "lib/json.h"
#include "lib/machine.h"
#include "tools/tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "usage: tileblas explain M N K [OPTION]...\n"
    "\n"
    "How C (M x N) = alpha op(A) (M x K) op(B) (K x N) + beta C would be computed, column-major as in "
    "Fortran: all\n"
    "candidates with their forecasts, the choice and the reason. Nothing is computed.\n"
    "\n"
    "  --transa N|T|C, --transb N|T|C   op; N is the default\n"
    "  --alpha X, --beta X              1 and 0 unless given\n"
    "  --lda N, --ldb N, --ldc N        leading dimensions; the least unless given\n"
    "  --pointers host|pinned|managed|device\n"
    "                                   where the three matrices lie; host is the default\n"
    "  --assume h200|none               another GPU than this machine's, or none\n"
    "  --cores N                        another number of host cores\n"
    "  --json                           as JSON\n"
    "  --help                           this\n"
    "\n"
    "TILEBLAS_ROUTE and TILEBLAS_KERNEL force their choice here as they do in a program.\n";

/* GPUs that can be supposed: those that the cost model was measured on. */
static const struct {
    const char *option, *name;
    int architecture, multiprocessors;
} known_gpus[] = {{"h200", "NVIDIA H200", 90, 132}};

typedef struct question {
    tb_problem problem;
    tb_memory memory;
    const char *assumed; /* name of the GPU that is supposed, "none", or NULL: this machine's */
    tb_facts facts;
    bool as_json;
} question;

/* An address for kernels that ask about alignment. It is never followed. */
#define SOME_ADDRESS ((float *)4096)

/* ---- The question ------------------------------------------------------------------------------------- */

enum { TRANSA = 1, TRANSB, ALPHA, BETA, LDA, LDB, LDC, POINTERS, ASSUME, CORES, JSON };

static const struct option options[] = {
    {"transa", required_argument, NULL, TRANSA},
    {"transb", required_argument, NULL, TRANSB},
    {"alpha", required_argument, NULL, ALPHA},
    {"beta", required_argument, NULL, BETA},
    {"lda", required_argument, NULL, LDA},
    {"ldb", required_argument, NULL, LDB},
    {"ldc", required_argument, NULL, LDC},
    {"pointers", required_argument, NULL, POINTERS},
    {"assume", required_argument, NULL, ASSUME},
    {"cores", required_argument, NULL, CORES},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char *const memory_names[] = {
    [TB_MEMORY_HOST] = "host",
    [TB_MEMORY_PINNED] = "pinned",
    [TB_MEMORY_MANAGED] = "managed",
    [TB_MEMORY_DEVICE] = "device",
};

static bool read_transposition(const char *text, int32_t *transpose)
{
    *transpose = strcasecmp(text, "T") == 0 || strcasecmp(text, "C") == 0;
    return *transpose || strcasecmp(text, "N") == 0;
}

static bool read_scalar(const char *text, float *value)
{
    char *end;
    *value = strtof(text, &end);
    return end != text && *end == '\0';
}

static bool read_size(const char *text, long long low, int64_t *value)
{
    long long number;
    bool good = tool_parse_integer(text, low, &number);
    *value = number;
    return good;
}

static bool read_memory(const char *text, tb_memory *memory)
{
    for (size_t i = 0; i < sizeof memory_names / sizeof *memory_names; i++)
        if (strcmp(text, memory_names[i]) == 0) {
            *memory = (tb_memory)i;
            return true;
        }
    return false;
}

static bool read_machine(const char *text, question *question)
{
    tb_machine *machine = &question->facts.machine;
    if (strcmp(text, "none") == 0) {
        machine->readiness = TB_ABSENT;
        question->assumed = "none";
        return true;
    }
    for (size_t i = 0; i < sizeof known_gpus / sizeof *known_gpus; i++)
        if (strcasecmp(text, known_gpus[i].option) == 0) {
            machine->readiness = TB_READY;
            machine->architecture = known_gpus[i].architecture;
            machine->multiprocessors = known_gpus[i].multiprocessors;
            question->assumed = known_gpus[i].name;
            return true;
        }
    return false;
}

static bool read_option(int option, question *question)
{
    tb_problem *problem = &question->problem;
    int64_t cores;
    switch (option) {
    case TRANSA:
        return read_transposition(optarg, &problem->transpose_a);
    case TRANSB:
        return read_transposition(optarg, &problem->transpose_b);
    case ALPHA:
        return read_scalar(optarg, &problem->alpha);
    case BETA:
        return read_scalar(optarg, &problem->beta);
    case LDA:
        return read_size(optarg, 1, &problem->lda);
    case LDB:
        return read_size(optarg, 1, &problem->ldb);
    case LDC:
        return read_size(optarg, 1, &problem->ldc);
    case POINTERS:
        return read_memory(optarg, &question->memory);
    case ASSUME:
        return read_machine(optarg, question);
    case CORES:
        if (!read_size(optarg, 1, &cores) || cores > 1 << 20)
            return false;
        question->facts.machine.host_cores = (int)cores;
        return true;
    case JSON:
        question->as_json = true;
        return true;
    default:
        return false;
    }
}

static bool settle_leading_dimension(int64_t rows, int64_t *ld)
{
    int64_t least = rows > 1 ? rows : 1;
    if (*ld == 0)
        *ld = least;
    return *ld >= least;
}

/* Where the operands lie, and the facts that the options and the machine give. */
static void gather_facts(question *question)
{
    tb_problem *problem = &question->problem;
    tb_machine supposed = question->facts.machine;
    problem->a = problem->b = problem->c = SOME_ADDRESS;
    if (!question->assumed)
        tb_machine_start(TB_START_NOW);
    tb_gather_facts(problem, &question->facts);
    question->facts.a = question->facts.b = question->facts.c = (tb_place){.memory = question->memory};
    /* Of the host, and of whatever else the facts hold, this machine's are taken. */
    tb_machine *machine = &question->facts.machine;
    if (supposed.host_cores > 0)
        machine->host_cores = supposed.host_cores;
    if (question->assumed) {
        machine->readiness = supposed.readiness;
        machine->architecture = supposed.architecture;
        machine->multiprocessors = supposed.multiprocessors;
    }
}

/* ---- The answer --------------------------------------------------------------------------------------- */

typedef struct candidate {
    bool possible;
    double seconds;
    const char *remark; /* why it is not possible */
} candidate;

typedef struct answer {
    candidate routes[TB_ROUTE_COUNT];
    tb_plan plan;
} answer;

static bool has_device(const question *question)
{
    return question->facts.machine.readiness == TB_READY;
}

/* The kernel that would be taken on the route, if nothing were forced. */
static const tb_kernel *best_kernel(const question *question, tb_route route)
{
    tb_plan plan = {.route = route, .a = question->facts.a, .b = question->facts.b, .c = question->facts.c};
    return has_device(question) && tb_choose_kernel(&question->problem, &question->facts, false, &plan)
               ? plan.kernel
               : NULL;
}

static answer find_answer(const question *question)
{
    const tb_problem *problem = &question->problem;
    const tb_machine *machine = &question->facts.machine;
    bool in_host = question->memory == TB_MEMORY_HOST || question->memory == TB_MEMORY_PINNED;
    answer answer = {.plan = tb_decide(problem, &question->facts)};
    candidate *host = &answer.routes[TB_ROUTE_HOST], *resident = &answer.routes[TB_ROUTE_RESIDENT],
              *streamed = &answer.routes[TB_ROUTE_STREAMED];

    host->seconds = tb_host_seconds(problem, machine);
    host->remark = question->memory == TB_MEMORY_DEVICE ? "the host cannot reach the matrices" : NULL;
    streamed->seconds = tb_streamed_seconds(problem, machine);
    streamed->remark = !has_device(question) ? "no usable device"
                       : !in_host            ? "the matrices need no streaming"
                                             : NULL;
    const tb_kernel *kernel = best_kernel(question, TB_ROUTE_RESIDENT);
    resident->seconds = kernel ? tb_kernel_seconds(kernel, problem, machine) : 0;
    resident->remark = !has_device(question) ? "no usable device"
                       : in_host             ? "the matrices lie in host memory"
                       : !kernel             ? "no kernel serves it"
                                             : NULL;
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        answer.routes[route].possible = answer.routes[route].remark == NULL;
    return answer;
}

typedef struct kernel_row {
    const tb_kernel *kernel;
    bool serves;
    double seconds;
} kernel_row;

static int compare_rows(const void *left, const void *right)
{
    const kernel_row *a = left, *b = right;
    if (a->serves != b->serves)
        return a->serves ? -1 : 1;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* All of the catalog, the cheapest first; to be freed. */
static kernel_row *sort_kernels(const question *question)
{
    kernel_row *rows = calloc(question->facts.kernel_count, sizeof *rows);
    bool pitched = question->memory == TB_MEMORY_HOST || question->memory == TB_MEMORY_PINNED;
    for (size_t i = 0; rows && i < question->facts.kernel_count; i++) {
        const tb_kernel *kernel = &question->facts.kernels[i];
        rows[i].kernel = kernel;
        rows[i].serves = tb_kernel_serves(kernel, &question->problem, &question->facts.machine, pitched);
        if (rows[i].serves)
            rows[i].seconds = tb_kernel_seconds(kernel, &question->problem, &question->facts.machine);
    }
    if (rows)
        qsort(rows, question->facts.kernel_count, sizeof *rows, compare_rows);
    return rows;
}

static void print_words(const question *question, const answer *answer, const kernel_row *rows)
{
    const tb_problem *problem = &question->problem;
    const tb_machine *machine = &question->facts.machine;
    char plan[512];
    tb_print_plan(&answer->plan, plan, sizeof plan);
    printf("product      sgemm %c%c m=%lld n=%lld k=%lld lda=%lld ldb=%lld ldc=%lld alpha=%g beta=%g\n",
           problem->transpose_a ? 'T' : 'N', problem->transpose_b ? 'T' : 'N', (long long)problem->m,
           (long long)problem->n, (long long)problem->k, (long long)problem->lda, (long long)problem->ldb,
           (long long)problem->ldc, (double)problem->alpha, (double)problem->beta);
    printf("matrices in  %s memory\n", memory_names[question->memory]);
    printf("host         %d cores\n", machine->host_cores);
    if (has_device(question))
        printf("GPU          %s%s, compute capability %d.%d, %d multiprocessors\n",
               question->assumed ? "supposed: " : "",
               question->assumed ? question->assumed : tb_machine_device(0)->name, machine->architecture / 10,
               machine->architecture % 10, machine->multiprocessors);
    else
        printf("GPU          %s\n", question->assumed ? "supposed: none" : "none that is usable");

    printf("\nroutes       forecast\n");
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const candidate *candidate = &answer->routes[route];
        if (candidate->possible)
            printf("  %-10s %.6g ms%s\n", tb_route_text(route), 1e3 * candidate->seconds,
                   route == answer->plan.route ? "  <- chosen" : "");
        else
            printf("  %-10s not possible: %s\n", tb_route_text(route), candidate->remark);
    }
    if (rows) {
        printf("\nkernels      forecast, without what is copied over the link\n");
        for (size_t i = 0; i < question->facts.kernel_count; i++)
            if (rows[i].serves)
                printf("  %-34s %.6g ms%s%s\n", rows[i].kernel->name, 1e3 * rows[i].seconds,
                       rows[i].kernel->forced_only ? "  only when forced" : "",
                       rows[i].kernel == answer->plan.kernel ? "  <- chosen" : "");
            else
                printf("  %-34s cannot serve it\n", rows[i].kernel->name);
    }
    printf("\nchoice       %s\n", plan);
}

static int print_json(const question *question, const answer *answer, const kernel_row *rows)
{
    const tb_problem *problem = &question->problem;
    const tb_plan *plan = &answer->plan;
    char text[512];
    tb_print_plan(plan, text, sizeof text);
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_open(&json, "problem", '{');
    tb_json_text(&json, "transa", problem->transpose_a ? "T" : "N");
    tb_json_text(&json, "transb", problem->transpose_b ? "T" : "N");
    tb_json_integer(&json, "m", problem->m);
    tb_json_integer(&json, "n", problem->n);
    tb_json_integer(&json, "k", problem->k);
    tb_json_integer(&json, "lda", problem->lda);
    tb_json_integer(&json, "ldb", problem->ldb);
    tb_json_integer(&json, "ldc", problem->ldc);
    tb_json_number(&json, "alpha", (double)problem->alpha);
    tb_json_number(&json, "beta", (double)problem->beta);
    tb_json_text(&json, "pointers", memory_names[question->memory]);
    tb_json_close(&json, '}');
    tb_json_open(&json, "machine", '{');
    tb_json_integer(&json, "host_cores", question->facts.machine.host_cores);
    tb_json_boolean(&json, "device", has_device(question));
    tb_json_text(&json, "supposed", question->assumed);
    tb_json_integer(&json, "architecture", question->facts.machine.architecture);
    tb_json_integer(&json, "multiprocessors", question->facts.machine.multiprocessors);
    tb_json_close(&json, '}');
    tb_json_open(&json, "routes", '[');
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const candidate *candidate = &answer->routes[route];
        tb_json_open(&json, NULL, '{');
        tb_json_text(&json, "route", tb_route_text(route));
        tb_json_boolean(&json, "possible", candidate->possible);
        if (candidate->possible)
            tb_json_number(&json, "seconds", candidate->seconds);
        else
            tb_json_text(&json, "remark", candidate->remark);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, ']');
    tb_json_open(&json, "kernels", '[');
    for (size_t i = 0; rows && i < question->facts.kernel_count; i++) {
        tb_json_open(&json, NULL, '{');
        tb_json_text(&json, "name", rows[i].kernel->name);
        tb_json_boolean(&json, "serves", rows[i].serves);
        tb_json_boolean(&json, "forced_only", rows[i].kernel->forced_only);
        if (rows[i].serves)
            tb_json_number(&json, "seconds", rows[i].seconds);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, ']');
    tb_json_open(&json, "choice", '{');
    tb_json_text(&json, "route", tb_route_text(plan->route));
    tb_json_text(&json, "kernel", plan->kernel ? plan->kernel->name : NULL);
    tb_json_text(&json, "reason", tb_reason_text(plan->reason));
    tb_json_text(&json, "text", text);
    tb_json_close(&json, '}');
    tb_json_close(&json, '}');
    return tool_print_json(&json);
}

static int explain(question *question)
{
    gather_facts(question);
    /* As the library does: without a product A and B are not looked at. */
    if (question->problem.alpha == 0)
        question->problem.k = 0;
    answer answer = find_answer(question);
    kernel_row *rows = has_device(question) ? sort_kernels(question) : NULL;
    int status = TOOL_OK;
    if (question->as_json)
        status = print_json(question, &answer, rows);
    else
        print_words(question, &answer, rows);
    free(rows);
    return status == TOOL_OK ? tool_print("") : status;
}

int tool_explain(int argc, char **argv)
{
    question question = {.problem = {.alpha = 1}};
    tb_problem *problem = &question.problem;
    int option, position;
    while ((option = getopt_long(argc, argv, "h", options, &position)) != -1) {
        if (option == 'h')
            return tool_print(help);
        if (option == '?')
            return tool_usage("explain", "wrong option");
        if (!read_option(option, &question))
            return tool_usage("explain", "--%s cannot be '%s'", options[option - 1].name, optarg);
    }
    if (argc - optind != 3)
        return tool_usage("explain", "three sizes are needed: M N K");
    if (!read_size(argv[optind], 0, &problem->m) || !read_size(argv[optind + 1], 0, &problem->n) ||
        !read_size(argv[optind + 2], 0, &problem->k))
        return tool_usage("explain", "sizes are whole numbers");
    if (!settle_leading_dimension(problem->transpose_a ? problem->k : problem->m, &problem->lda) ||
        !settle_leading_dimension(problem->transpose_b ? problem->n : problem->k, &problem->ldb) ||
        !settle_leading_dimension(problem->m, &problem->ldc))
        return tool_usage("explain", "a leading dimension is smaller than its matrix has rows");
    return explain(&question);
}
