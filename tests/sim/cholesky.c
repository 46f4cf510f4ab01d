/* POTRF, by every name and in every kind of memory, however it fails: what the program finds is the factor, and what is
 * not of the triangle is as it was.
 *
 *   cholesky names | failures | alone
 *
 * Factors are of small whole numbers, and so are all numbers on the way to them: they are found again to the last bit,
 * in whatever order sums are taken. alone: there is no LAPACK but ours.
 */
#include "compat/spellings.h"
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"
#include "dispatch/factor_choice.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { PADDING = 3, UNTOUCHED = -7777, CHILD_SECONDS = 60, COLUMN_MAJOR = 102, ROW_MAJOR = 101 };

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t n;
    bool lower, by_rows;
    int64_t singular; /* the pivot that is zero, from 1; 0: none */
    const char *script;
} trial;

static uint64_t seed;

/* An element of the factor L: its diagonal is 1 or 2, and what is below -1, 0 or 1. */
static double factor_at(int64_t i, int64_t j)
{
    check_random random = {seed + (uint64_t)(i * 100003 + j)};
    return (double)(i == j ? check_between(&random, 1, 2) : check_between(&random, -1, 1));
}

/* The factor of this order, and the matrix; kept for the trials that follow, and for children. */
typedef struct tables {
    int64_t n;
    double *l, *a;
} tables;

static const tables *tables_of(int64_t n)
{
    static tables kept;
    if (kept.n == n)
        return &kept;
    free(kept.l);
    free(kept.a);
    kept = (tables){n, calloc((size_t)(n * n), sizeof(double)), calloc((size_t)(n * n), sizeof(double))};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            kept.l[i + j * n] = factor_at(i, j);
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = k; j < n; j++)
            for (int64_t i = j; i < n; i++)
                kept.a[i + j * n] += kept.l[i + k * n] * kept.l[j + k * n];
    return &kept;
}

/* Where L's element lies, by columns or by rows, in either triangle. */
static int64_t place_of(const trial *t, int64_t i, int64_t j)
{
    const int64_t ld = t->n + PADDING;
    return t->lower == t->by_rows ? i * ld + j : i + j * ld;
}

static double *make_matrix(const trial *t)
{
    const double *l = tables_of(t->n)->l;
    const int64_t count = (t->n + PADDING) * t->n;
    double *a = malloc(sizeof *a * (size_t)count);
    for (int64_t i = 0; i < count; i++)
        a[i] = UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j; i < t->n; i++)
            a[place_of(t, i, j)] = tables_of(t->n)->a[i + j * t->n];
    if (t->singular > 0) {
        const int64_t p = t->singular - 1;
        a[place_of(t, p, p)] -= l[p + p * t->n] * l[p + p * t->n];
    }
    return a;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static int64_t call(const trial *t, double *a)
{
    const tb_spelling_row *row = &tb_spelling_rows[t->spelling];
    const int64_t n = t->n, ld = t->n + PADDING;
    union {
        void *address;
        int32_t (*lapacke)(int, char, int64_t, double *, int64_t);
        int64_t (*lapacke_64)(int, char, int64_t, double *, int64_t);
        void (*fortran)(const char *, const int64_t *, double *, const int64_t *, int64_t *, size_t);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    const char letter = t->lower ? 'L' : 'u';
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&letter, &n, a, &ld, &info, 1);
    else if (row->integer_bits == 64)
        info = function.lapacke_64(t->by_rows ? ROW_MAJOR : COLUMN_MAJOR, letter, n, a, ld);
    else
        info = function.lapacke(t->by_rows ? ROW_MAJOR : COLUMN_MAJOR, letter, n, a, ld);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

static void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, n = %d, %s, %s%s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->n,
             t->lower ? "lower" : "upper", tb_memory_text(t->memory), t->by_rows ? ", by rows" : "",
             t->script ? ", " : "", t->script ? t->script : "");
}

static void check_matrix(const trial *t, const double *l, const double *a, const char *text)
{
    int64_t wrong = 0, touched = 0;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j; i < t->n; i++)
            wrong += t->singular == 0 && a[place_of(t, i, j)] != l[i + j * t->n];
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j + 1; i < t->n; i++)
            touched += a[place_of(t, j, i)] != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < PADDING; i++)
            touched += a[t->n + i + j * (t->n + PADDING)] != UNTOUCHED;
    CHECK(wrong == 0 && touched == 0,
          "%s: %d elements are wrong, %d were touched that are not the triangle's", text, (int)wrong,
          (int)touched);
}

static void try(const trial *t)
{
    char text[200];
    double *a = make_matrix(t), *there = a;
    const size_t bytes = sizeof *a * (size_t)((t->n + PADDING) * t->n);
    describe(t, text);
    if (t->memory != TB_MEMORY_HOST) {
        there = sim_allocate(t->memory, 0, bytes);
        sim_copy(there, a, bytes);
    }
    const int64_t info = call(t, there);
    if (there != a) {
        sim_copy(a, there, bytes);
        sim_release(there);
    }
    CHECK(info == t->singular, "%s: info is %d, not %d", text, (int)info, (int)t->singular);
    check_matrix(t, tables_of(t->n)->l, a, text);
    free(a);
}

/* The linker puts this in front of tb_decide_factor: where it is wanted, columns are finished a panel at a time. */
static bool by_panels;
tb_plan __real_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);
tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);

tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts)
{
    enum { PANEL = 64 };
    tb_plan plan = __real_tb_decide_factor(factor, facts);
    if (by_panels && plan.block > PANEL)
        plan.block = PANEL;
    return plan;
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

static const int64_t orders[] = {1, 2, 63, 64, 65, 200, 700};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_DPOTRF); spelling < tb_first_spelling(TB_DPOTRF + 1);
         spelling++)
        for (int way = 0; way < 4; way++) {
            const trial t = {.spelling = spelling,
                             .memory = memories[way],
                             .n = way == 0 ? 150 : 70,
                             .lower = way % 2 == 0,
                             .by_rows = way / 2 && tb_spelling_rows[spelling].is_cblas};
            const long launches = sim_operations("launch");
            try(&t);
            CHECK(sim_operations("launch") > launches, "%s: no device was used",
                  tb_spelling_rows[spelling].symbol);
        }
}

static void of_every_order(tb_spelling spelling)
{
    for (size_t i = 0; i < COUNT(orders); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++)
            for (int lower = 0; lower < 2; lower++) {
                trial t = {.spelling = spelling, .memory = memories[memory], .n = orders[i], .lower = lower};
                try(&t);
                t.singular = 1 + (int64_t)(seed % (uint64_t)t.n);
                if (memories[memory] != TB_MEMORY_PINNED)
                    try(&t);
            }
}

/* Shared with the child: operations of the class that fail, and failures. */
static long *operations, *failures;

typedef struct failing {
    trial trial;
    const char *class, *failure;
} failing;

static void fail_once(void *argument)
{
    const failing *f = argument;
    force_device();
    sim_set("FAIL", f->trial.script);
    try(&f->trial);
    *operations = sim_operations(f->class);
    *failures = sim_failures("any");
}

/* One operation of a class, of all that there are: most bring a column, and the last ones are looked at more closely. */
static void fail_everywhere(failing f)
{
    enum { CLOSELY = 90 };
    check_random random = {seed};
    f.trial.script = "";
    tables_of(f.trial.n);
    const child_end whole = child_run(fail_once, &f, CHILD_SECONDS);
    const long all = *operations;
    CHECK(whole == CHILD_RIGHT && all > 0, "%ld operations: %s", all, child_end_text(whole));
    for (long operation = 1; operation <= all;
         operation += check_between(&random, 1, operation > 10 && operation < all - CLOSELY ? 80 : 5)) {
        char script[40];
        snprintf(script, sizeof script, "%s:%ld=%s", f.class, operation, f.failure);
        f.trial.script = script;
        const child_end end = child_run(fail_once, &f, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT && *failures > 0, "%s: %s, %ld failures", script, child_end_text(end),
              *failures);
    }
}

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (int lower = 0; lower < 2; lower++)
            fail_everywhere((failing){.trial = {.spelling = TB_SPELLING_dpotrf_, .n = 200, .lower = lower},
                                      .class = "any",
                                      .failure = ways[i]});
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "copy", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++)
        for (int way = 0; way < 2; way++)
            fail_everywhere((failing){.trial = {.spelling = TB_SPELLING_dpotrf_,
                                                .n = 200,
                                                .lower = way,
                                                .memory = TB_MEMORY_DEVICE},
                                      .class = classes[i],
                                      .failure = (way + (int)i) % 2 ? "memory" : "unsupported"});
}

/* What a call takes of a device is kept for the next one, which takes no more. */
static void nothing_is_left_behind(void)
{
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = 700, .lower = true};
    tileblas_set_option("KERNEL", "dgemm_crt_sm90"); /* which takes a workspace */
    try(&t);
    const sim_usage before = sim_get_usage();
    try(&t);
    const sim_usage now = sim_get_usage();
    CHECK(now.device_blocks <= before.device_blocks && now.streams <= before.streams,
          "%ld blocks and %ld streams, not %ld and %ld", now.device_blocks, now.streams, before.device_blocks,
          before.streams);
}

/* ---- Manners ---------------------------------------------------------------------------------------------- */

static void of_no_rows(void *unused)
{
    (void)unused;
    int64_t info = 7;
    const int64_t none = 0, one = 1;
    force_device();
    double *there = sim_allocate(TB_MEMORY_DEVICE, 0, sizeof *there);
    ((void (*)(const char *, const int64_t *, double *, const int64_t *, int64_t *, size_t))dlsym(
        RTLD_DEFAULT, "dpotrf_64_"))("L", &none, there, &one, &info, 1);
    CHECK(info == 0, "of no rows: info is %d", (int)info);
}

static void beyond_the_memory_that_is_allowed(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = 400, .lower = true};
    force_device();
    tileblas_set_option("DEVICE_MEMORY", "1");
    try(&t);
    CHECK(sim_operations("launch") == 0, "%ld launches for more than is allowed", sim_operations("launch"));
}

static void while_the_program_uses_another_device(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = 150, .lower = true};
    sim_set("DEVICES", "2");
    force_device();
    tileblas_set_stream(sim_create_stream(1));
    try(&t);
}

/* Nobody can factor what a lost device has: info says so. */
static void what_nobody_can_factor(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_LAPACKE_dpotrf_work, .n = 200, .lower = true};
    double *a = make_matrix(&t);
    const size_t bytes = sizeof *a * (size_t)((t.n + PADDING) * t.n);
    double *there = sim_allocate(TB_MEMORY_DEVICE, 0, bytes);
    sim_copy(there, a, bytes);
    force_device();
    sim_set("FAIL", "any:40=lost");
    const int64_t info = call(&t, there);
    CHECK(info == TB_INFO_UNDONE, "info is %d", (int)info);
}

/* What becomes of an infinity is for the host's routine to say, also where a device has begun. */
static void of_an_infinity(void *unused)
{
    (void)unused;
    int64_t infos[2];
    for (int way = 0; way < 2; way++) {
        const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = 700, .lower = true};
        double *a = make_matrix(&t);
        a[place_of(&t, 600, 0)] = INFINITY;
        if (way == 1)
            force_device();
        infos[way] = call(&t, a);
        free(a);
    }
    CHECK(infos[0] == infos[1], "info is %d on the host, and %d by a device", (int)infos[0], (int)infos[1]);
}

static void in_all_manners(void)
{
    static void (*const manners[])(void *) = {of_no_rows, beyond_the_memory_that_is_allowed,
                                              while_the_program_uses_another_device, what_nobody_can_factor,
                                              of_an_infinity};
    for (size_t i = 0; i < COUNT(manners); i++) {
        const child_end end = child_run(manners[i], NULL, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "manner %d: %s", (int)i, child_end_text(end));
    }
}

int main(int count, char **arguments)
{
    const char *program = count > 1 ? arguments[1] : "names";
    seed = check_seed();
    operations =
        mmap(NULL, 2 * sizeof *operations, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failures = operations + 1;
    dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (strcmp(program, "names") == 0) {
        in_all_manners();
        force_device();
        by_every_name();
        of_every_order(TB_SPELLING_dpotrf_);
        nothing_is_left_behind();
    } else if (strcmp(program, "alone") == 0) {
        of_every_order(TB_SPELLING_dpotrf_);
    } else {
        by_panels = true;
        fail_in_host_memory();
        fail_in_device_memory();
    }
    return check_result();
}
