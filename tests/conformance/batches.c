/* Batches: whatever the name, groups, sizes, scalars and storage, and wherever the matrices lie, a call computes every product,
 * once, and touches nothing else.
 *
 *     batches [route=auto|host|resident|streamed] [memory=host|pinned|managed|device|mixed] [cases=<number>] [failing]
 *
 * `failing` lets the n-th operation of the simulated device fail, for n from case to case: the first ones, and of each kind. The
 * results of matrices that the host reaches are the same then. A failure prints the case; TILEBLAS_TEST_SEED and
 * TILEBLAS_TEST_CASE, and the same arguments, bring it back alone.
 */
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/batch_calls.h"
#include "tests/conformance/cases.h"

#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "lib/machine/start.h"

#include <dlfcn.h>
#include <string.h>

enum {
    MOST_FAILURES = 10,
    MOST_GROUPS = 4,
    MOST_MEMBERS = 7,
    MOST_EXTENT = 150,
    MOST_PRODUCTS = MOST_GROUPS * MOST_MEMBERS
};

#ifdef BATCHES_ON_SIM
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <sys/mman.h>
#endif

static struct {
    const char *route;
    int memory;
    int64_t cases;
    bool failing;
} settings = {.route = "auto", .memory = TB_MEMORY_HOST, .cases = 300};

static uint64_t seed;

/* A matrix of one product, where it lies for the call. */
typedef struct placed {
    matrix before;
    tb_memory memory;
    void *block; /* of a group that is at strides, part of one for all */
} placed;

typedef struct group {
    product form; /* but for the matrices */
    int64_t size;
    placed a[MOST_MEMBERS], b[MOST_MEMBERS], c[MOST_MEMBERS];
    void *strided[3]; /* blocks of A, B and C at strides; NULL: each has its own */
    int64_t strides[3];
} group;

/* ---- Drawing a batch ------------------------------------------------------------------------------------- */

static int64_t draw_extent(check_random *random)
{
    static const int64_t likely[] = {1, 2, 3, 16, 31, 32, 33, 64};
    const int64_t kind = check_between(random, 0, 9);
    return kind == 0 ? 0 : kind < 6 ? CHECK_PICK(random, likely) : check_between(random, 1, MOST_EXTENT);
}

static double draw_scalar(check_random *random, bool exact)
{
    static const double whole[] = {0, 1, -1, 2};
    return exact || check_between(random, 0, 1) ? CHECK_PICK(random, whole) : (double)check_uniform(random);
}

static matrix draw_matrix(check_random *random, const product *form, bool transposed, int64_t rows,
                          int64_t columns, int64_t spare)
{
    const bool along_rows = form->row_major != transposed;
    const int64_t length = along_rows ? columns : rows, lines = along_rows ? rows : columns;
    (void)random;
    return matrix_make_of(form->c.element, length, lines, (length > 0 ? length : 1) + spare, 0);
}

static tb_memory draw_memory(check_random *random)
{
    return settings.memory == CASE_MIXED_MEMORY
               ? (tb_memory)check_between(random, TB_MEMORY_HOST, TB_MEMORY_DEVICE)
               : (tb_memory)settings.memory;
}

/* Those of a group have the same size; one is a member. In one block, some at strides, in any order; or in blocks of their
 * own. */
static void place(check_random *random, group *group, placed *members, int role, bool strided)
{
    const int64_t step = check_between(random, 0, 2) * 64; /* bytes between one block and the next */
    const size_t bytes = group->size > 0 ? members[0].before.bytes : 0;
    const tb_memory memory = draw_memory(random);
    const size_t each = (bytes + 63) / 64 * 64 + (size_t)step;
    if (strided && group->size > 0) {
        group->strided[role] = arena_allocate(memory, each * (size_t)group->size);
        group->strides[role] = (int64_t)(each / tb_bytes_of(group->form.c.element));
    }
    for (int64_t i = 0; i < group->size; i++) {
        placed *own = &members[i];
        const bool is_own = !strided && check_between(random, 0, 3) == 0;
        own->memory = is_own ? draw_memory(random) : memory;
        own->block =
            strided ? (char *)group->strided[role] + (size_t)i * each : arena_allocate(own->memory, bytes);
        arena_copy(own->block, own->before.block, bytes);
    }
}

static void fill(check_random *random, placed *member, bool exact, bool nothing)
{
    matrix_fill(&member->before, nothing ? MATRIX_NANS : exact ? MATRIX_INTEGERS : MATRIX_UNIFORM, random);
}

static bool multiplies(const product *form)
{
    return form->k > 0 && (form->alpha != 0 || form->alpha_im != 0);
}

static group draw_group(check_random *random, tb_element element, bool row_major, bool strided)
{
    group group = {.form = {.row_major = row_major, .exact = check_between(random, 0, 1) == 0},
                   .size = check_between(random, 0, 9) == 0 ? 0 : check_between(random, 1, MOST_MEMBERS)};
    product *form = &group.form;
    const bool is_complex = tb_is_complex(element);
    form->c.element = element;
    form->m = draw_extent(random);
    form->n = draw_extent(random);
    form->k = draw_extent(random);
    form->transpose_a = check_between(random, 0, 1);
    form->transpose_b = check_between(random, 0, 1);
    form->conjugate_a = is_complex && form->transpose_a && check_between(random, 0, 1);
    form->conjugate_b = is_complex && form->transpose_b && check_between(random, 0, 1);
    form->alpha = draw_scalar(random, form->exact);
    form->beta = draw_scalar(random, form->exact);
    if (is_complex && check_between(random, 0, 1)) {
        form->alpha_im = draw_scalar(random, form->exact);
        form->beta_im = draw_scalar(random, form->exact);
    }
    const bool nothing = form->beta == 0 && form->beta_im == 0;
    const int64_t spare[] = {check_between(random, 0, 3), check_between(random, 0, 3),
                             check_between(random, 0, 3)};
    for (int64_t i = 0; i < group.size; i++) {
        group.a[i].before = draw_matrix(random, form, form->transpose_a, form->m, form->k, spare[0]);
        group.b[i].before = draw_matrix(random, form, form->transpose_b, form->k, form->n, spare[1]);
        group.c[i].before = draw_matrix(random, form, false, form->m, form->n, spare[2]);
        fill(random, &group.a[i], form->exact, !multiplies(form)); /* not to be read then */
        fill(random, &group.b[i], form->exact, !multiplies(form));
        fill(random, &group.c[i], form->exact, nothing);
    }
    place(random, &group, group.a, 0, strided || check_between(random, 0, 1));
    place(random, &group, group.b, 1, strided || check_between(random, 0, 1));
    place(random, &group, group.c, 2, strided || check_between(random, 0, 1));
    return group;
}

static void free_role(group *group, placed *members, int role)
{
    for (int64_t i = 0; i < group->size; i++) {
        if (!group->strided[role])
            arena_release(members[i].memory, members[i].block);
        matrix_free(&members[i].before);
    }
    if (group->strided[role])
        arena_release(members[0].memory, group->strided[role]);
}

static void free_group(group *group)
{
    free_role(group, group->a, 0);
    free_role(group, group->b, 1);
    free_role(group, group->c, 2);
}

/* ---- Calling --------------------------------------------------------------------------------------------- */

static batch_group group_of_call(check_random *random, const group *group, const void **a, const void **b,
                                 void **c)
{
    const product *form = &group->form;
    const bool hides = !multiplies(form) && check_between(random, 0, 1);
    for (int64_t i = 0; i < group->size; i++) {
        a[i] = hides ? NULL : matrix_start_in(&group->a[i].before, group->a[i].block);
        b[i] = hides ? NULL : matrix_start_in(&group->b[i].before, group->b[i].block);
        c[i] = matrix_start_in(&group->c[i].before, group->c[i].block);
    }
    return (batch_group){.transpose_a = form->conjugate_a   ? 'C'
                                        : form->transpose_a ? 'T'
                                                            : 'N',
                         .transpose_b = form->conjugate_b   ? 'C'
                                        : form->transpose_b ? 'T'
                                                            : 'N',
                         .m = form->m,
                         .n = form->n,
                         .k = form->k,
                         .lda = group->size > 0 ? group->a[0].before.ld : form->m + form->k + 1,
                         .ldb = group->size > 0 ? group->b[0].before.ld : form->k + form->n + 1,
                         .ldc = group->size > 0 ? group->c[0].before.ld : form->m + form->n + 1,
                         .alpha = {form->alpha, form->alpha_im},
                         .beta = {form->beta, form->beta_im},
                         .strides = {group->strides[0], group->strides[1], group->strides[2]},
                         .size = group->size};
}

static bool is_as_before(const placed *member)
{
    matrix now = matrix_clone(&member->before);
    arena_copy(now.block, member->block, now.bytes);
    const bool same = matrix_equals(&member->before, &now);
    matrix_free(&now);
    return same;
}

static void check_group(int64_t number, const char *name, const group *group)
{
    for (int64_t i = 0; i < group->size; i++) {
        char wrong[256] = "";
        product p = group->form;
        p.a = group->a[i].before;
        p.b = group->b[i].before;
        p.c = group->c[i].before;
        matrix c = matrix_clone(&p.c);
        arena_copy(c.block, group->c[i].block, c.bytes);
        CHECK(product_holds(&p, &c, wrong, sizeof wrong) && is_as_before(&group->a[i]) &&
                  is_as_before(&group->b[i]),
              "TILEBLAS_TEST_CASE=%" PRId64 ": %s, product %" PRId64 " of %" PRId64 ", %" PRId64 " x %" PRId64
              " x %" PRId64 ", alpha %g%+gi, beta %g%+gi, A in memory %d, B %d, C %d: %s",
              number, name, i, group->size, p.m, p.n, p.k, p.alpha, p.alpha_im, p.beta, p.beta_im,
              group->a[i].memory, group->b[i].memory, group->c[i].memory, wrong);
        matrix_free(&c);
    }
}

#ifdef BATCHES_ON_SIM
/* Device memory is lost with a device, and so is what should have been computed there: only what the host reaches is looked
 * at. */
static void fail_something(int64_t number)
{
    static const char *const scripts[] = {"launch:%d=memory",   "launch:%d=unsupported", "copy:%d=memory",
                                          "allocate:%d=memory", "any:%d=lost",           "launch:%d=fault",
                                          "copy:%d=fault"};
    char script[64];
    const int most = settings.memory == TB_MEMORY_HOST ? 20 : 4; /* operations of a case */
    const int kinds = settings.memory == TB_MEMORY_HOST ? 7 : 4; /* the last ones lose the device */
    snprintf(script, sizeof script, scripts[number % kinds], (int)(1 + number / kinds % most));
    sim_set("FAIL", script);
}
#endif

static void run_case(int64_t number)
{
    static group groups[MOST_GROUPS];
    check_random random = {.state = seed ^ (uint64_t)number << 32};
    const batch_spelling *spelling =
        batch_spelling_numbered(check_between(&random, 0, batch_spelling_count() - 1));
    const tb_routine_row *row = &tb_routine_rows[spelling->routine];
    const bool strided = tb_class_rows[row->class].is_strided;
    const bool row_major = !spelling->fortran && check_between(&random, 0, 1);
    const int64_t count = strided ? 1 : check_between(&random, 0, MOST_GROUPS);
    batch_group called[MOST_GROUPS];
    const void *a[MOST_PRODUCTS + 1], *b[MOST_PRODUCTS + 1];
    void *c[MOST_PRODUCTS + 1];
    int64_t products = 0;
    for (int64_t g = 0; g < count; g++) {
        groups[g] = draw_group(&random, row->element, row_major, strided);
        called[g] = group_of_call(&random, &groups[g], a + products, b + products, c + products);
        products += groups[g].size;
    }
    if (products == 0)
        a[0] = b[0] = c[0] = NULL;
#ifdef BATCHES_ON_SIM
    if (settings.failing)
        fail_something(number);
#endif
    CHECK(batch_call(spelling, row_major, called, count, a, b, c), "%s is not exported", spelling->name);
    for (int64_t g = 0; g < count; g++) {
        check_group(number, spelling->name, &groups[g]);
        free_group(&groups[g]);
    }
}

static void run_cases(int64_t first, int64_t end)
{
    for (int64_t number = first; number < end; number++)
        if (atomic_load(&check_failures) < MOST_FAILURES)
            run_case(number);
}

/* A device that is lost stays lost for the process, so that each case has one of its own. */
#ifdef BATCHES_ON_SIM
static atomic_long *cases_that_failed; /* in all children */

static void run_in_child(void *number)
{
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL);
    run_case(*(int64_t *)number);
    atomic_fetch_add(cases_that_failed, sim_failures("any") > 0);
}

static void run_failing_cases(int64_t first, int64_t end)
{
    cases_that_failed =
        mmap(NULL, sizeof *cases_that_failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int64_t number = first; number < end && atomic_load(&check_failures) < MOST_FAILURES; number++) {
        const child_end ended = child_run(run_in_child, &number, 60);
        CHECK(ended == CHILD_RIGHT, "TILEBLAS_TEST_CASE=%" PRId64 ": %s", number, child_end_text(ended));
    }
    printf("something failed in %ld cases\n", atomic_load(cases_that_failed));
    CHECK(end - first < 100 || atomic_load(cases_that_failed) > (end - first) / 10, "hardly anything failed");
}
#else
static void run_failing_cases(int64_t first, int64_t end)
{
    (void)first, (void)end;
    SKIP("no failures on this device");
}
#endif

/* ---- What is counted --------------------------------------------------------------------------------------- */

/* A group in device memory is one launch, and one call in the statistics; one in the host's memory one call on the host. */
static void check_launches(tb_memory memory, bool even)
{
    enum { N = 48, PRODUCTS = 60 };
    const size_t bytes = sizeof(float) * N * N;
    const void *a[PRODUCTS], *b[PRODUCTS];
    void *c[PRODUCTS], *blocks[3];
    for (int role = 0; role < 3; role++)
        blocks[role] = arena_allocate(memory, bytes * PRODUCTS);
    for (int i = 0; i < PRODUCTS; i++) {
        const int at = even ? i : i * 7 % PRODUCTS; /* in another order */
        a[i] = (char *)blocks[0] + bytes * (size_t)i;
        b[i] = (char *)blocks[1] + bytes * (size_t)at;
        c[i] = (char *)blocks[2] + bytes * (size_t)at;
    }
    const batch_group group = {'N', 'T', N, N, N, N, N, N, {1, 0}, {0, 0}, {0, 0, 0}, PRODUCTS};
    tileblas_statistics statistics;
    tileblas_reset_statistics();
    const batch_spelling *spelling = batch_spelling_named("cblas_sgemm_batch");
    CHECK(batch_call(spelling, false, &group, 1, a, b, c), "not exported");
    tileblas_read_statistics(&statistics, sizeof statistics);
    const tileblas_routine_statistics *own = &statistics.routines[TB_SGEMM_BATCH];
    const tileblas_route_statistics *way = memory == TB_MEMORY_DEVICE ? &own->resident : &own->host;
    CHECK(way->calls == 1 && way->flop == 2.0 * N * N * N * PRODUCTS,
          "%llu calls and %g flop of %s in memory %d, %llu on the host", way->calls, way->flop, own->routine,
          memory, own->host.calls);
    for (int role = 0; role < 3; role++)
        arena_release(memory, blocks[role]);
}

/* What a host with batches of its own (batch_host.c) is given, and how. */
static void check_host(void)
{
    const char *name = getenv("TILEBLAS_HOST_BLAS");
    void *host = dlopen(name ? name : getenv("LD_PRELOAD"), RTLD_LAZY | RTLD_NOLOAD);
    atomic_long *calls = host ? dlsym(host, "batch_host_calls") : NULL;
    const bool is_openblas = host && dlsym(host, "openblas_get_config");
    if (!calls)
        return;
    enum { N = 10, PRODUCTS = 600 }; /* more than what is small */
    for (int64_t i = 0; i < batch_spelling_count(); i++) {
        const batch_spelling *spelling = batch_spelling_numbered(i);
        const tb_routine_row *row = &tb_routine_rows[spelling->routine];
        const bool refused =
            is_openblas && tb_class_rows[row->class].is_strided && tb_is_complex(row->element);
        const int64_t bytes = (int64_t)tb_bytes_of(row->element), elements = N * N;
        const size_t all = (size_t)(elements * bytes) * PRODUCTS;
        char *blocks[3] = {calloc(1, all), calloc(1, all), calloc(1, all)};
        const void *a[PRODUCTS], *b[PRODUCTS];
        void *c[PRODUCTS];
        for (int64_t p = 0; p < PRODUCTS; p++) {
            a[p] = blocks[0] + p * elements * bytes;
            b[p] = blocks[1] + p * elements * bytes;
            c[p] = blocks[2] + p * elements * bytes;
        }
        const batch_group group = {
            'N', 'N', N, N, N, N, N, N, {1, 0}, {0, 0}, {elements, elements, elements}, PRODUCTS};
        batch_call(spelling, false, &group, 1, a, b, c); /* the host is asked whether it computes */
        const long before = atomic_load(calls);
        batch_call(spelling, false, &group, 1, a, b, c);
        /* The program's own BLAS is asked for a name as it is. */
        if (spelling->bits == 32 && (name || dlsym(host, spelling->name)))
            CHECK(atomic_load(calls) - before == !refused, "%s: the host's own was called %ld times",
                  spelling->name, atomic_load(calls) - before);
        for (int role = 0; role < 3; role++)
            free(blocks[role]);
    }
}

/* ---- The command line -------------------------------------------------------------------------------------- */

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        const char *value = strchr(arguments[i], '=');
        value = value ? value + 1 : "";
        if (strncmp(arguments[i], "route=", 6) == 0)
            settings.route = value;
        else if (strncmp(arguments[i], "memory=", 7) == 0)
            settings.memory = case_memory_named(value);
        else if (strncmp(arguments[i], "cases=", 6) == 0)
            settings.cases = atoll(value);
        else if (strcmp(arguments[i], "failing") == 0)
            settings.failing = true;
        else
            return fprintf(stderr, "batches: what is %s?\n", arguments[i]), EXIT_FAILURE;
    }
    const bool on_host = strcmp(settings.route, "host") == 0;
    if (!on_host && !arena_has_device())
        SKIP("no device");
    seed = check_seed();
    tileblas_set_option("ROUTE", settings.route);
    if (!on_host && !settings.failing)
        tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL);
    const char *only = getenv("TILEBLAS_TEST_CASE");
    const int64_t first = only ? atoll(only) : 0, end = only ? first + 1 : settings.cases;
    (settings.failing ? run_failing_cases : run_cases)(first, end);
    if (!only && !settings.failing &&
        (settings.memory == TB_MEMORY_HOST || settings.memory == TB_MEMORY_DEVICE) &&
        strcmp(settings.route, "streamed") != 0)
        for (int even = 0; even < 2; even++)
            check_launches((tb_memory)settings.memory, even);
    if (!only && settings.memory == TB_MEMORY_HOST && on_host)
        check_host();
    return check_result();
}
