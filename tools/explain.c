/* `tileblas explain`: every way that a product could be computed, with its forecast, and the one that would be
 * chosen. The decision is the library's own, tb_decide; only where operands lie and what the machine is can be
 * supposed, so that a machine without a GPU can tell what one with it would do.
 */
#include "lib/call/facts.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "tools/explain_answer.h"
#include "tools/tool.h"
#include "words/batch.h"

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
    "  --assume h200|none               another GPU than this machine's, or none\n"
    "  --cores N                        another number of host cores\n"
    "  --all                            kernels too that are chosen only when forced\n"
    "  --json                           as JSON, with all kernels\n"
    "  --help                           this\n"
    "\n"
    "TILEBLAS_ROUTE and TILEBLAS_KERNEL force their choice here as they do in a program.\n";

/* GPUs that can be supposed: those that the cost model was measured on. */
static const struct {
    const char *option, *name;
    tb_chip chip;
} known_gpus[] = {
    {"h200",
     "NVIDIA H200",
     {.open = true,
      .architecture = 90,
      .multiprocessors = 132,
      .clock = 1.76e9,
      .memory_rate = 4.2e12,
      .link_in = 55e9,
      .link_out = 55e9}},
};

enum { PRODUCTS_PRESUMED = 1000 };

/* Addresses for kernels that ask about alignment, and for A and B to be two. They are never followed. */
#define SOME_ADDRESS(role) ((void *)(intptr_t)(4096 * (1 + (role))))

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
    for (*routine = 0; *routine < TB_ROUTINES; ++*routine)
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
    for (size_t i = 0; i < sizeof explain_memory_names / sizeof *explain_memory_names; i++)
        if (strcmp(text, explain_memory_names[i]) == 0) {
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
            machine->chips = &known_gpus[i].chip;
            machine->chip_count = 1;
            question->assumed = known_gpus[i].name;
            return true;
        }
    return false;
}

/* The arguments of the product, as they are read one by one. */
typedef struct shape {
    tb_routine routine;
    tb_triangle triangle; /* TB_FULL: none was given */
    bool right, transpose_a, transpose_b, conjugate_a, conjugate_b, has_transpose_b, has_diagonal,
        unit_diagonal;
    int64_t m, n, k, lda, ldb, ldc; /* a leading dimension of 0: as small as can be */
    int64_t products;               /* 0: not given */
    double alpha, beta;
} shape;

static bool read_option(int option, shape *shape, question *question)
{
    int64_t cores;
    switch (option) {
    case ROUTINE:
        return read_routine(optarg, &shape->routine);
    case TRANSA:
        return read_transposition(optarg, &shape->transpose_a, &shape->conjugate_a);
    case SIDE:
        return read_side(optarg, &shape->right);
    case UPLO:
        return read_triangle(optarg, &shape->triangle);
    case DIAG:
        shape->has_diagonal = true;
        return read_diagonal(optarg, &shape->unit_diagonal);
    case TRANSB:
        shape->has_transpose_b = true;
        return read_transposition(optarg, &shape->transpose_b, &shape->conjugate_b);
    case ALPHA:
        return read_scalar(optarg, &shape->alpha);
    case BETA:
        return read_scalar(optarg, &shape->beta);
    case LDA:
        return read_size(optarg, 1, &shape->lda);
    case LDB:
        return read_size(optarg, 1, &shape->ldb);
    case LDC:
        return read_size(optarg, 1, &shape->ldc);
    case PRODUCTS:
        return read_size(optarg, 1, &shape->products);
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

/* A leading dimension that was not given is the least that there can be. */
static bool settle_leading_dimension(tb_operand *operand)
{
    const int64_t least = operand->rows > 1 ? operand->rows : 1;
    if (operand->ld == 0)
        operand->ld = least;
    return operand->ld >= least;
}

/* Where the operands lie, and the facts that the options and the machine give. */
static void gather_facts(question *question)
{
    tb_product *product = &question->product;
    tb_machine supposed = question->facts.machine;
    if (!question->assumed)
        tb_machine_start(&(tb_plan){.start = TB_START_NOW});
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        question->facts.places[role] = (tb_place){.memory = question->memory};
    const tb_product one = tb_member_of(product, 0);
    tb_gather_facts(&one, &question->facts);
    /* Of the host, and of whatever else the facts hold, this machine's are taken. */
    tb_machine *machine = &question->facts.machine;
    if (supposed.host_cores > 0)
        machine->host_cores = supposed.host_cores;
    if (question->assumed) {
        machine->readiness = supposed.readiness;
        machine->chips = supposed.chips;
        machine->chip_count = supposed.chip_count;
    }
}

/* Matrices that lie one behind the other. */
static void spread(tb_product *product, int64_t products)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_operand *operand = &product->operands[role];
        tb_spread(operand, products, operand->ld * operand->columns, NULL);
    }
}

static int explain(question *question)
{
    gather_facts(question);
    /* As the library does: without a product A and B are not looked at. */
    if (tb_is_zero(question->product.alpha))
        question->product = tb_without_product(&question->product);
    return explain_answer(question);
}

static bool is_batch(const shape *shape)
{
    return tb_is_batch_class(tb_routine_rows[shape->routine].class);
}

/* A batch is asked for as one of its products. */
static tb_routine_class class_of(const shape *shape)
{
    return is_batch(shape) ? TB_CLASS_GEMM : tb_routine_rows[shape->routine].class;
}

static bool is_symmetric(const shape *shape)
{
    return class_of(shape) == TB_CLASS_SYMM || class_of(shape) == TB_CLASS_HEMM;
}

static bool has_one_operand(const shape *shape)
{
    return class_of(shape) == TB_CLASS_RANK_K || class_of(shape) == TB_CLASS_HERK;
}

static bool is_two_term(const shape *shape)
{
    return class_of(shape) == TB_CLASS_RANK_2K || class_of(shape) == TB_CLASS_HER2K;
}

static bool is_in_place(const shape *shape)
{
    return tb_in_place_of_routine(shape->routine) != TB_OUT_OF_PLACE;
}

/* A is square, and on one side of a matrix of C's size. */
static bool has_side(const shape *shape)
{
    return is_symmetric(shape) || is_in_place(shape);
}

/* Of C, all of which is of n rows and columns. */
static bool has_triangle(const shape *shape)
{
    return class_of(shape) != TB_CLASS_GEMM && !has_side(shape);
}

static tb_product make_triangular(const shape *s, tb_triangle triangle)
{
    const int64_t least = s->m > 1 ? s->m : 1;
    tb_product product = tb_triangular(
        tb_in_place_of_routine(s->routine), tb_routine_rows[s->routine].element, !s->right, triangle,
        s->transpose_a, s->conjugate_a, s->unit_diagonal, s->m, s->n, (tb_scalar){s->alpha, 0},
        SOME_ADDRESS(TB_A), s->lda, SOME_ADDRESS(TB_C), s->ldb > 0 ? s->ldb : least);
    product.routine = s->routine;
    return product;
}

static tb_product make_product(const shape *s)
{
    const tb_triangle triangle = s->triangle == TB_FULL ? TB_LOWER : s->triangle;
    if (is_in_place(s))
        return make_triangular(s, triangle);
    if (is_two_term(s))
        return tb_rank_2k(s->routine, triangle, s->transpose_a, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                          s->lda, SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (has_one_operand(s))
        return tb_rank_k(s->routine, triangle, s->transpose_a, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                         s->lda, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (is_symmetric(s))
        return tb_symm(s->routine, !s->right, triangle, s->m, s->n, s->alpha, SOME_ADDRESS(TB_A), s->lda,
                       SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    tb_product product =
        tb_gemm(s->routine, s->transpose_a, s->transpose_b, s->m, s->n, s->k, s->alpha, SOME_ADDRESS(TB_A),
                s->lda, SOME_ADDRESS(TB_B), s->ldb, s->beta, SOME_ADDRESS(TB_C), s->ldc);
    if (has_triangle(s))
        product.mask = triangle;
    if (tb_is_complex(tb_element_of(&product))) {
        product.a.conjugated = s->conjugate_a;
        product.b.conjugated = s->conjugate_b;
    }
    return product;
}

static bool read_sizes(char **texts, shape *shape)
{
    const bool square = has_triangle(shape);
    if (!square && !read_size(*texts++, 0, &shape->m))
        return false;
    if (!read_size(*texts++, 0, &shape->n))
        return false;
    if (!has_side(shape) && !read_size(*texts, 0, &shape->k))
        return false;
    if (square)
        shape->m = shape->n;
    return true;
}

int tool_explain(int argc, char **argv)
{
    question question = {0};
    shape shape = {.alpha = 1};
    int option, position;
    while ((option = getopt_long(argc, argv, "h", options, &position)) != -1) {
        if (option == 'h')
            return tool_print(help);
        if (option == '?')
            return tool_usage("explain", "wrong option");
        if (!read_option(option, &shape, &question))
            return tool_usage("explain", "--%s cannot be '%s'", options[option - 1].name, optarg);
    }
    const char *routine = tb_routine_rows[shape.routine].name;
    const char *sizes = has_side(&shape) ? "M N" : has_triangle(&shape) ? "N K" : "M N K";
    const int wanted = strlen(sizes) == 3 ? 2 : 3;
    if (argc - optind != wanted)
        return tool_usage("explain", "%s sizes of %s are needed: %s", wanted == 2 ? "two" : "three", routine,
                          sizes);
    if (!read_sizes(argv + optind, &shape))
        return tool_usage("explain", "sizes are whole numbers");
    if (class_of(&shape) == TB_CLASS_GEMM && shape.triangle != TB_FULL)
        return tool_usage("explain", "%s has no --uplo", routine);
    if (!is_in_place(&shape) && shape.has_diagonal)
        return tool_usage("explain", "%s has no --diag", routine);
    if (is_in_place(&shape) && (shape.has_transpose_b || shape.ldc || shape.beta != 0))
        return tool_usage("explain", "%s has no --transb, --ldc and --beta", routine);
    if (has_one_operand(&shape) && (shape.has_transpose_b || shape.ldb))
        return tool_usage("explain", "%s has one operand: --transa and --lda are its", routine);
    if (!is_batch(&shape) && shape.products > 0)
        return tool_usage("explain", "%s is no batch, and has no --products", routine);
    question.product = make_product(&shape);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!settle_leading_dimension(&question.product.operands[role]))
            return tool_usage("explain", "a leading dimension is smaller than its matrix has rows");
    if (is_batch(&shape))
        spread(&question.product, shape.products > 0 ? shape.products : PRODUCTS_PRESUMED);
    return explain(&question);
}
