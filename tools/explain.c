/* `tileblas explain`: every way that a product could be computed, with its forecast, and the one that would be
 * chosen. The decision is the library's own, tb_decide; only where operands lie and what the machine is can be
 * supposed, so that a machine without a GPU can tell what one with it would do.
 */
#include "lib/call/facts.h"
#include "lib/learning/profile.h"
#include "lib/machine/meet_server.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "tools/explain_answer.h"
#include "tools/problem.h"
#include "tools/server.h"
#include "tools/supposed_gpu.h"
#include "tools/tool.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "usage: tileblas explain M N K [OPTION]...\n"
    "       tileblas explain --routine ROUTINE N K [OPTION]...\n"
    "       tileblas explain --routine ROUTINE M N [OPTION]...\n"
    "\n"
    "How C (M x N) = alpha op(A) (M x K) op(B) (K x N) + beta C would be computed, column-major as in "
    "Fortran: all\n"
    "candidates with their forecasts, the choice and the reason. Nothing is computed. Routines that compute "
    "a triangle\n"
    "of C have no M; SYRK's op(B) is op(A) transposed. SYMM, HEMM, TRMM and TRSM have no K;\n"
    "C of the last two is their B.\n"
    "\n"
    "  --routine ROUTINE                one that `tileblas info` lists; sgemm is the default\n"
    "  --side L|R, --uplo L|U           of SYMM's and TRMM's A, and the triangle; L is the default\n"
    "  --diag N|U                       of TRMM's and TRSM's A; N is the default\n"
    "  --transa N|T|C, --transb N|T|C   op; N is the default\n"
    "  --alpha X, --beta X              1 and 0 unless given\n"
    "  --lda N, --ldb N, --ldc N        leading dimensions; the least unless given\n"
    "  --products N                     of a batch; 1000 unless given\n"
    "  --pointers host|pinned|managed|device\n"
    "                                   where the three matrices lie; host is the default\n"
    "  --assume h200|h100|l40s|rtx4090|none\n"
    "                                   another GPU than this machine's, or none\n"
    "  --cores N                        another number of host cores\n"
    "  --all                            kernels too that are chosen only when forced\n"
    "  --json                           as JSON, with all kernels\n"
    "  --help                           this\n"
    "\n"
    "TILEBLAS_ROUTE and TILEBLAS_KERNEL force their choice here as they do in a program.\n";

/* ---- The question ------------------------------------------------------------------------------------- */

enum {
    ROUTINE = 1,
    SIDE,
    UPLO,
    DIAG,
    TRANSA,
    TRANSB,
    ALPHA,
    BETA,
    LDA,
    LDB,
    LDC,
    PRODUCTS,
    POINTERS,
    ASSUME,
    CORES,
    ALL,
    JSON
};

static const struct option options[] = {
    {"routine", required_argument, NULL, ROUTINE},
    {"side", required_argument, NULL, SIDE},
    {"uplo", required_argument, NULL, UPLO},
    {"diag", required_argument, NULL, DIAG},
    {"transa", required_argument, NULL, TRANSA},
    {"transb", required_argument, NULL, TRANSB},
    {"alpha", required_argument, NULL, ALPHA},
    {"beta", required_argument, NULL, BETA},
    {"lda", required_argument, NULL, LDA},
    {"ldb", required_argument, NULL, LDB},
    {"ldc", required_argument, NULL, LDC},
    {"products", required_argument, NULL, PRODUCTS},
    {"pointers", required_argument, NULL, POINTERS},
    {"assume", required_argument, NULL, ASSUME},
    {"cores", required_argument, NULL, CORES},
    {"all", no_argument, NULL, ALL},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_routine(const char *text, tb_routine *routine)
{
    for (*routine = 0; *routine < TB_PRODUCT_ROUTINES; ++*routine)
        if (strcasecmp(text, tb_routine_rows[*routine].name) == 0)
            return true;
    return false;
}

static bool read_transposition(const char *text, bool *transpose, bool *conjugate)
{
    *conjugate = strcasecmp(text, "C") == 0;
    *transpose = *conjugate || strcasecmp(text, "T") == 0;
    return *transpose || strcasecmp(text, "N") == 0;
}

static bool read_side(const char *text, bool *right)
{
    *right = strcasecmp(text, "R") == 0;
    return *right || strcasecmp(text, "L") == 0;
}

static bool read_diagonal(const char *text, bool *unit)
{
    *unit = strcasecmp(text, "U") == 0;
    return *unit || strcasecmp(text, "N") == 0;
}

static bool read_triangle(const char *text, tb_triangle *triangle)
{
    *triangle = strcasecmp(text, "L") == 0 ? TB_LOWER : TB_UPPER;
    return *triangle == TB_LOWER || strcasecmp(text, "U") == 0;
}

static bool read_scalar(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
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
    *memory = TB_MEMORY_HOST;
    while (*memory < TB_MEMORY_DEVICE && strcmp(text, tb_memory_text(*memory)) != 0)
        (*memory)++;
    return strcmp(text, tb_memory_text(*memory)) == 0;
}

static bool read_machine(const char *text, question *question)
{
    tb_machine *machine = &question->facts.machine;
    if (strcmp(text, "none") == 0) {
        machine->readiness = TB_ABSENT;
        question->assumed = "none";
        return true;
    }
    const supposed_gpu *gpu = find_supposed_gpu(text);
    if (gpu)
        suppose_gpu(gpu, machine);
    question->assumed = gpu ? gpu->name : NULL;
    return gpu != NULL;
}

static bool read_option(int option, problem *problem, question *question)
{
    int64_t cores;
    switch (option) {
    case ROUTINE:
        return read_routine(optarg, &problem->routine);
    case TRANSA:
        return read_transposition(optarg, &problem->transpose_a, &problem->conjugate_a);
    case SIDE:
        return read_side(optarg, &problem->right);
    case UPLO:
        return read_triangle(optarg, &problem->triangle);
    case DIAG:
        problem->has_diagonal = true;
        return read_diagonal(optarg, &problem->unit_diagonal);
    case TRANSB:
        problem->has_transpose_b = true;
        return read_transposition(optarg, &problem->transpose_b, &problem->conjugate_b);
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
    case PRODUCTS:
        return read_size(optarg, 1, &problem->products);
    case POINTERS:
        return read_memory(optarg, &question->memory);
    case ASSUME:
        return read_machine(optarg, question);
    case CORES:
        if (!read_size(optarg, 1, &cores) || cores > 1 << 20)
            return false;
        question->facts.machine.host_cores = (int)cores;
        return true;
    case ALL:
        question->wants_all = true;
        return true;
    case JSON:
        question->as_json = true;
        return true;
    default:
        return false;
    }
}

/* As in a program: a server is met where there is one, the option SERVER allows it, and it reaches the operands. One that is busy may
 * take longer to answer than a program's call waits: that asks again, and here it is waited for. */
static bool would_be_served(const question *question)
{
    const bool is_reached = question->memory == TB_MEMORY_HOST || question->memory == TB_MEMORY_PINNED,
               is_background = strcmp(tb_option_text(TB_OPTION_START), "background") == 0;
    if (!is_reached || !server_answers())
        return false;
    if (is_background)
        tb_set_option("START", "wait");
    const bool is_met = tb_machine_meet_server(&(tb_plan){.start = TB_START_NOW}, tb_load_profile);
    if (is_background)
        tb_set_option("START", "background");
    return is_met;
}

/* Where the operands lie, and the facts that the options and the machine give. */
static void gather_facts(question *question)
{
    tb_product *product = &question->product;
    tb_machine supposed = question->facts.machine;
    if (!question->assumed && !would_be_served(question))
        tb_machine_start(&(tb_plan){.start = TB_START_NOW}, tb_load_profile);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        question->facts.places[role] = (tb_place){.memory = question->memory};
    tb_gather_facts(tb_task_of_product(product), &question->facts);
    /* What facts say of the host, and all else that was not supposed, is this machine's. */
    tb_machine *machine = &question->facts.machine;
    if (supposed.host_cores > 0)
        machine->host_cores = supposed.host_cores;
    if (question->assumed) {
        machine->readiness = supposed.readiness;
        machine->chips = supposed.chips;
        machine->chip_count = supposed.chip_count;
    }
}

static int explain(question *question)
{
    gather_facts(question);
    /* A and B are not looked at without a product, as in the library. */
    if (tb_is_zero(question->product.alpha))
        question->product = tb_without_product(&question->product);
    return explain_answer(question);
}

/* Nothing is asked about an empty C. */
static bool read_sizes(char **texts, problem *problem)
{
    const bool square = problem_has_triangle(problem);
    if (!square && !read_size(*texts++, 1, &problem->m))
        return false;
    if (!read_size(*texts++, 1, &problem->n))
        return false;
    if (!problem_has_side(problem) && !read_size(*texts, 0, &problem->k))
        return false;
    if (square)
        problem->m = problem->n;
    return true;
}

int tool_explain(int argc, char **argv)
{
    question question = {0};
    problem problem = {.alpha = 1};
    int option, position;
    while ((option = getopt_long(argc, argv, "h", options, &position)) != -1) {
        if (option == 'h')
            return tool_print(help);
        if (option == '?')
            return tool_usage("explain", "wrong option");
        if (!read_option(option, &problem, &question))
            return tool_usage("explain", "--%s cannot be '%s'", options[option - 1].name, optarg);
    }
    const char *routine = tb_routine_rows[problem.routine].name;
    const char *sizes = problem_has_side(&problem) ? "M N" : problem_has_triangle(&problem) ? "N K" : "M N K";
    const int wanted = strlen(sizes) == 3 ? 2 : 3;
    if (argc - optind != wanted)
        return tool_usage("explain", "%s sizes of %s are needed: %s", wanted == 2 ? "two" : "three", routine,
                          sizes);
    if (!read_sizes(argv + optind, &problem))
        return tool_usage("explain", "sizes are whole numbers, and C has elements");
    if (!problem_has_triangle(&problem) && !problem_has_side(&problem) && problem.triangle != TB_FULL)
        return tool_usage("explain", "%s has no --uplo", routine);
    if (!problem_is_in_place(&problem) && problem.has_diagonal)
        return tool_usage("explain", "%s has no --diag", routine);
    if (problem_is_in_place(&problem) && (problem.has_transpose_b || problem.ldc || problem.beta != 0))
        return tool_usage("explain", "%s has no --transb, --ldc and --beta", routine);
    if (problem_has_one_operand(&problem) && (problem.has_transpose_b || problem.ldb))
        return tool_usage("explain", "%s has one operand: --transa and --lda are its", routine);
    if (!problem_is_batch(&problem) && problem.products > 0)
        return tool_usage("explain", "%s is no batch, and has no --products", routine);
    question.product = problem_product(&problem);
    if (!problem_settle_leading_dimensions(&question.product))
        return tool_usage("explain", "a leading dimension is smaller than its matrix has rows");
    if (!problem_has_room(&question.product) ||
        (problem_is_batch(&problem) && !problem_spread(&problem, &question.product)))
        return tool_usage("explain", "no process has room for matrices of these sizes");
    return explain(&question);
}
