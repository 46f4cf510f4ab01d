/* Whatever the name, shape, storage and scalars, and wherever the matrices lie, a call computes the product,
 * takes the way that was asked for, and touches nothing else.
 *
 *     conformance [route=host|resident|streamed] [memory=host|pinned|managed|device|mixed]
 *                 [bits=32|64] [kernel=<name>] [rows=distinct] [cases=<per kernel>] [seconds=<instead>] [threads=<n>]
 *
 * On device routes every kernel of the catalog is forced in turn, unless one is named; most calls are of its element. With
 * rows=distinct one of those is that differ in nothing that the simulated device, the runtime or the dispatcher's checks see.
 * Each kernel, and each run on another route, has cases of its own. A failure prints the case; TILEBLAS_TEST_SEED and
 * TILEBLAS_TEST_CASE, and the same arguments, bring it back alone.
 */
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/cases.h"

#include "dispatch/plan.h"
#include "dispatch/tiling.h"
#include "include/tileblas.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "words/lowered.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define MOST_FAILURES 10
#define MAX_THREADS   64

/* What docs/precision.md promises of such kernels, where the numbers of a row or column are of like magnitude. */
#define FAST_ROUNDINGS 8

/* Bytes of 17 planes of 256 x 128 of A and of B, and 256 x 256 of C (kernels/crt/schedule_crt.c), and more than as much again. */
#define LEAST_ROOM_FOR_RESIDUES 5.4e6

static struct {
    const char *route, *kernel;
    case_wishes wishes;
    int64_t cases, seconds, threads;
    bool distinct;
} settings = {
    .route = "streamed", .kernel = "", .wishes = {.memory = TB_MEMORY_HOST}, .cases = 200, .threads = 1};

static uint64_t seed;
static uint64_t own_cases; /* of this route and kernel: the cases of others are others */
static time_t end;
static const tb_kernel *kernel;   /* that is forced; NULL on the host route */
static atomic_ullong for_devices; /* calls since the statistics were reset that a device has to answer */

/* ---- which way a call has to go ----------------------------------------------------------------------- */

static bool lies_in(const routine_call *made, bool (*kind)(tb_memory))
{
    return kind(made->c.memory) || (case_multiplies(made) && (kind(made->a.memory) || kind(made->b.memory)));
}

static bool only_device(tb_memory memory)
{
    return memory == TB_MEMORY_DEVICE;
}

static bool only_host(tb_memory memory)
{
    return memory == TB_MEMORY_HOST || memory == TB_MEMORY_PINNED;
}

/* Nothing at all to compute: such calls return before any decision. */
static bool is_trivial(const routine_call *made)
{
    const product *p = &made->product;
    return p->m == 0 || p->n == 0 ||
           (!case_multiplies(made) && p->in_place == TB_OUT_OF_PLACE && p->beta == 1 && p->beta_im == 0);
}

/* One whose element this is: an operand as the library sees it, of a call that is column-major. */
static tb_operand operand_of(const matrix *matrix, const operand *there, bool row_major, bool transposed,
                             bool conjugated, tb_structure structure, tb_triangle stored)
{
    return (tb_operand){.data = there->start,
                        .rows = matrix->length,
                        .columns = matrix->lines,
                        .ld = matrix->ld,
                        .element = matrix->element,
                        .transposed = transposed,
                        .conjugated = conjugated && tb_is_complex(matrix->element),
                        .structure = structure,
                        .stored = structure == TB_GENERAL             ? TB_FULL
                                  : (stored == TB_LOWER) != row_major ? TB_LOWER
                                                                      : TB_UPPER};
}

/* The library's product for one in C's place, likewise. */
static tb_product product_in_place(const routine_call *made)
{
    const product *p = &made->product;
    const bool row_major = p->row_major, left = p->structure_a == TB_TRIANGULAR;
    const matrix *triangle = left ? &p->a : &p->b;
    const tb_operand a =
        operand_of(triangle, left ? &made->a : &made->b, row_major, left ? p->transpose_a : p->transpose_b,
                   left ? p->conjugate_a : p->conjugate_b, TB_TRIANGULAR, left ? p->stored_a : p->stored_b);
    tb_product product =
        tb_triangular(p->in_place, a.element, left != row_major, a.stored, a.transposed, a.conjugated,
                      p->unit_diagonal, row_major ? p->n : p->m, row_major ? p->m : p->n,
                      (tb_scalar){p->alpha, p->alpha_im}, a.data, a.ld, made->c.start, p->c.ld);
    product.routine = made->spelling->routine;
    return product;
}

/* The call as the library sees it: column-major, without steps of k where A and B are not read. */
static tb_product product_of(const routine_call *made)
{
    const product *p = &made->product;
    const bool row_major = p->row_major;
    if (p->in_place != TB_OUT_OF_PLACE) {
        const tb_product in_place = product_in_place(made);
        return case_multiplies(made) ? in_place : tb_without_product(&in_place);
    }
    const tb_operand a = operand_of(&p->a, &made->a, row_major, p->transpose_a, p->conjugate_a,
                                    p->structure_a, p->stored_a),
                     b = operand_of(&p->b, &made->b, row_major, p->transpose_b, p->conjugate_b,
                                    p->structure_b, p->stored_b);
    tb_product product = {
        .routine = made->spelling->routine,
        .m = row_major ? p->n : p->m,
        .n = row_major ? p->m : p->n,
        .k = p->k,
        .a = row_major ? b : a,
        .b = row_major ? a : b,
        .c = operand_of(&p->c, &made->c, row_major, false, false, TB_GENERAL, TB_FULL),
        .alpha = {p->alpha, p->alpha_im},
        .beta = {p->beta, p->beta_im},
    };
    product.terms = p->terms;
    if (p->hermitian)
        product.c.structure = TB_HERMITIAN;
    if (p->mask != TB_FULL)
        product.mask = (p->mask == TB_LOWER) != p->row_major ? TB_LOWER : TB_UPPER;
    if (case_multiplies(made))
        return product;
    return product.in_place == TB_OUT_OF_PLACE ? tb_without_product(&product)
                                               : tb_steps_of(&product, (tb_range){0, 0});
}

/* Whether the forced kernel can take the operands, as they lie or from pitched buffers, and the mask: or those of what the
 * product is lowered to, which lie where it wants them unless they are as they were. */
static bool kernel_serves(const routine_call *made)
{
    const tb_product product = product_of(made);
    tb_machine machine = tb_machine_facts();
    const bool pitched = lies_in(made, only_host);
    if (product.in_place != TB_OUT_OF_PLACE)
        return tb_kernel_serves(kernel, &product, &machine.chips[0], pitched);
    const tb_product one = pitched ? product : tb_term_of(&product, 0);
    tb_product lowered = tb_lowered(&one);
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (lowered.expanded[role].from > 0)
            lowered.operands[role].ld =
                tb_pitched(lowered.operands[role].rows, lowered.operands[role].element);
    if (kernel->reads != TB_READS_PLAIN || tb_is_plain(&product))
        return (kernel->reads == TB_READS_PLAIN || !pitched || lies_in(made, only_device)) &&
               tb_kernel_serves(kernel, kernel->reads == TB_READS_COMPLEX ? &one : &product,
                                &machine.chips[0], pitched);
    return tb_can_be_lowered(&product) && tb_kernel_serves(kernel, &lowered, &machine.chips[0], pitched);
}

/* How the plan's text must begin. A kernel that was forced and cannot serve leaves the call to the host or,
 * if the host cannot reach the operands, to another kernel. */
static void expect_plan(const routine_call *made, char *text, size_t size)
{
    bool on_device = lies_in(made, only_device), on_host = lies_in(made, only_host);
    bool refused =
        strcmp(settings.route, "host") == 0 || (strcmp(settings.route, "resident") == 0 && on_host);
    bool served = kernel != NULL && kernel_serves(made);
    if (!on_device && (refused || !served))
        snprintf(text, size, "host");
    else
        snprintf(text, size, "%s with%s%s", on_host ? "streamed" : "resident", served ? " " : "",
                 served ? kernel->name : "");
}

/* A triangle that the device has no room for beside some of the rest leaves the call to the host, where that reaches it: one that
 * is written out in place of C is there twice, a matrix of which one is stored lies there as it is. So does a kernel that is
 * forced and has no room for the least of its workspace: residues of a tile. */
static bool may_lack_room(const routine_call *made)
{
    const product *p = &made->product;
    const double room = (double)tb_option_value(TB_OPTION_DEVICE_MEMORY) * 0x1p20;
    if (room == 0)
        return false;
    if (kernel != NULL && strstr(kernel->name, "_crt_") && room < LEAST_ROOM_FOR_RESIDUES)
        return true;
    const double triangle = (double)p->k * (double)p->k * (double)tb_bytes_of(p->c.element);
    if (p->in_place != TB_OUT_OF_PLACE)
        return 4 * triangle > room;
    return (p->structure_a != TB_GENERAL || p->structure_b != TB_GENERAL) && 2 * triangle > room;
}

static bool begins_with(const char *text, const char *words)
{
    size_t length = strlen(words);
    return strncmp(text, words, length) == 0 && strchr(" ,:", text[length]) != NULL;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static void run_case(int64_t number)
{
    check_random random = {.state = (seed ^ ((uint64_t)number << 32)) + own_cases};
    routine_call made = case_make(&random, &settings.wishes);
    if (kernel != NULL && kernel->accuracy == TB_ACCURACY_FAST)
        made.product.more_roundings = FAST_ROUNDINGS;
    char expected[128], taken[256], wrong[256] = "", description[512];
    bool trivial = is_trivial(&made);
    if (!trivial)
        expect_plan(&made, expected, sizeof expected);
    case_describe(&made, description, sizeof description);

    bool found = call_routine(made.spelling, &made.arguments);
    CHECK(found, "%s is not exported", made.spelling->name);
    CHECK(case_holds(&made, wrong, sizeof wrong), "TILEBLAS_TEST_CASE=%" PRId64 ": %s: %s", number,
          description, wrong);
    tileblas_last_plan(taken, sizeof taken);
    if (!trivial && may_lack_room(&made) && begins_with(taken, "host"))
        snprintf(expected, sizeof expected, "host");
    for_devices += !trivial && !begins_with(expected, "host");
    CHECK(trivial || begins_with(taken, expected),
          "TILEBLAS_TEST_CASE=%" PRId64 ": %s: took \"%s\", not \"%s\"", number, description, taken,
          expected);
    case_free(&made);
}

static bool is_wanted(int64_t number)
{
    return settings.seconds > 0 ? time(NULL) < end : number < settings.cases;
}

static void *run_cases(void *thread)
{
    const char *only = getenv("TILEBLAS_TEST_CASE");
    if (only != NULL)
        run_case(strtoll(only, NULL, 0));
    else
        for (int64_t number = (intptr_t)thread; is_wanted(number); number += settings.threads)
            if (atomic_load(&check_failures) < MOST_FAILURES)
                run_case(number);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[MAX_THREADS];
    for (intptr_t i = 0; i < settings.threads; i++)
        pthread_create(&threads[i], NULL, run_cases, (void *)i);
    for (intptr_t i = 0; i < settings.threads; i++)
        pthread_join(threads[i], NULL);
}

static unsigned long long calls_on_devices(void)
{
    tileblas_statistics statistics;
    tileblas_read_statistics(&statistics, sizeof statistics);
    return statistics.resident.calls + statistics.streamed.calls;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static void run_kernel(const tb_kernel *forced)
{
    if (atomic_load(&check_failures) >= MOST_FAILURES)
        return;
    kernel = forced;
    own_cases =
        hash_of(hash_of(UINT64_C(0xcbf29ce484222325), settings.route), forced != NULL ? forced->name : "") +
        (uint64_t)(8 * settings.wishes.memory + settings.wishes.bits);
    settings.wishes.element = forced != NULL ? (int)forced->element : CASE_MIXED_ELEMENTS;
    tileblas_set_option("KERNEL", forced != NULL ? forced->name : "auto");
    tileblas_reset_statistics();
    for_devices = 0;
    end = time(NULL) + settings.seconds;
    run_threads();
    printf("%s: %llu calls on the device\n", forced != NULL ? forced->name : "host", calls_on_devices());
    CHECK(calls_on_devices() == for_devices, "the statistics show %llu calls on devices, not %llu",
          calls_on_devices(), (unsigned long long)for_devices);
}

/* Rows that the library can only tell apart by their names, sizes of tiles and speed. */
static bool are_alike(const tb_kernel *one, const tb_kernel *other)
{
    return one->element == other->element && one->reads == other->reads && one->in_place == other->in_place &&
           one->alignment == other->alignment && one->pads == other->pads && one->masks == other->masks &&
           one->batches == other->batches && one->joins == other->joins && one->k_limit == other->k_limit &&
           one->accuracy == other->accuracy && one->chains_in_c == other->chains_in_c &&
           one->shares_tiles == other->shares_tiles && one->prepare == other->prepare &&
           one->launch == other->launch && one->sequence == other->sequence;
}

static bool is_wanted_row(size_t row)
{
    const tb_kernel *const wanted = &tb_catalog[row];
    const size_t length = strlen(settings.kernel);
    if (length > 0 && settings.kernel[length - 1] == '/') /* a folder: all of its rows */
        return strncmp(settings.kernel, wanted->name, length) == 0;
    if (length > 0)
        return strcmp(settings.kernel, wanted->name) == 0;
    for (size_t before = 0; settings.distinct && before < row; before++)
        if (are_alike(&tb_catalog[before], wanted))
            return false;
    return true;
}

/* ---- the command line --------------------------------------------------------------------------------- */

static void read_argument(const char *argument)
{
    const char *value = strchr(argument, '=');
    value = value != NULL ? value + 1 : "";
    if (strncmp(argument, "route=", 6) == 0)
        settings.route = value;
    else if (strncmp(argument, "kernel=", 7) == 0)
        settings.kernel = value;
    else if (strncmp(argument, "memory=", 7) == 0)
        settings.wishes.memory = case_memory_named(value);
    else if (strncmp(argument, "bits=", 5) == 0)
        settings.wishes.bits = atoi(value);
    else if (strncmp(argument, "cases=", 6) == 0)
        settings.cases = atoll(value);
    else if (strncmp(argument, "seconds=", 8) == 0)
        settings.seconds = atoll(value);
    else if (strcmp(argument, "rows=distinct") == 0)
        settings.distinct = true;
    else if (strncmp(argument, "threads=", 8) == 0)
        settings.threads = atoll(value) < MAX_THREADS ? atoll(value) : MAX_THREADS;
    else {
        fprintf(stderr, "conformance: what is %s?\n", argument);
        exit(EXIT_FAILURE);
    }
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++)
        read_argument(arguments[i]);
    bool on_host = strcmp(settings.route, "host") == 0;
    if (!on_host && !arena_has_device())
        SKIP("no device");
    seed = check_seed();

    tileblas_set_option("ROUTE", settings.route);
    if (on_host) {
        run_kernel(NULL);
        return check_result();
    }
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL);
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (is_wanted_row(row))
            run_kernel(&tb_catalog[row]);
    return check_result();
}
