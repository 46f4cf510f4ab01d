/* What solves leave behind, and what they make of calls that are not as they should be: each statement in a process of its own.
 *
 *   solve_manners lapacke   there is OpenBLAS, and for LAPACKE's names of 64 bits the library of fixture_lapacke.c: FILE
 *   solve_manners alone     there is no LAPACK but ours
 */
#include "lib/device/memory.h"
#include "tests/known_solve.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"
#include "tests/sim/fixture_lapacke.h"

#include <math.h>

enum { CHILD_SECONDS = 60, SMALL = 50, LARGE = 300 };

/* The fixture's. */
static bool has_lapacke;

/* Of each class one routine: the numbers of its arguments, as Fortran counts, and its letters, of which the first is 1. */
static const struct numbers {
    tb_routine routine;
    const char *letters;
    int n, nrhs, a, lda, b, ldb;
} classes[] = {
    {TB_DPOTRS, "L", 2, 3, 4, 5, 6, 7},   {TB_DPOSV, "U", 2, 3, 4, 5, 6, 7},
    {TB_DGETRS, "N", 2, 3, 4, 5, 7, 8},   {TB_DGESV, "", 1, 2, 3, 4, 6, 7},
    {TB_DTRTRS, "LTN", 4, 5, 6, 7, 8, 9},
};

static trial trial_of(size_t class, const char *name, int64_t n, int64_t nrhs)
{
    trial t = {.spelling = tb_first_spelling(classes[class].routine),
               .n = n,
               .nrhs = nrhs,
               .lower = true,
               .operation = 'T'};
    char symbol[40];
    snprintf(symbol, sizeof symbol, name, tb_routine_rows[classes[class].routine].name);
    while (strcmp(tb_spelling_rows[t.spelling].symbol, symbol) != 0)
        t.spelling++;
    return t;
}

/* ---- Irregular arguments ---------------------------------------------------------------------------------- */

/* What handlers of errors were last told. */
static char told_name[40];
static int64_t told_number;

static void note(const char *name, size_t length, int64_t number)
{
    snprintf(told_name, sizeof told_name, "%.*s", (int)length, name);
    told_number = number;
}

void xerbla_(const char *name, const int32_t *number, size_t length);
__attribute__((visibility("default"))) void xerbla_(const char *name, const int32_t *number, size_t length)
{
    note(name, length, *number);
}

void LAPACKE_xerbla(const char *name, int64_t info);
__attribute__((visibility("default"))) void LAPACKE_xerbla(const char *name, int64_t info)
{
    note(name, strlen(name), info);
}

static void is_told(const call *given, int number, const char *what)
{
    const tb_spelling_row *row = &tb_spelling_rows[given->spelling];
    const bool is_the_hosts = has_lapacke && row->is_cblas;
    const int64_t wanted = is_the_hosts ? FIXTURE_IRREGULAR : -(number + row->is_cblas);
    char name[40];
    snprintf(name, sizeof name, "%s", tb_routine_rows[row->routine].cblas_name);
    if (!row->is_cblas)
        snprintf(name, sizeof name, "%-6s", tb_routine_rows[row->routine].reported);
    name[row->is_cblas ? sizeof name - 1 : 6] = '\0';
    note("", 0, 0);
    const int64_t info = make_call(given);
    CHECK(info == wanted, "%s, %s: info is %d, not %d", row->symbol, what, (int)info, (int)wanted);
    CHECK(is_the_hosts || (strcmp(told_name, name) == 0 && told_number == (row->is_cblas ? wanted : number)),
          "%s, %s: %s is told %s, %d", row->symbol, what, name, told_name, (int)told_number);
}

/* The first of several is told. */
static void irregular_arguments_are_told(size_t class, const char *name)
{
    static double a[SMALL * SMALL], b[SMALL * SMALL];
    static int64_t pivots[SMALL];
    const struct numbers *of = &classes[class];
    const trial t = trial_of(class, name, SMALL, SMALL);
    const call regular = {.spelling = t.spelling,
                          .layout = COLUMN_MAJOR,
                          .n = SMALL,
                          .nrhs = SMALL,
                          .a = a,
                          .lda = SMALL,
                          .pivots = pivots,
                          .b = b,
                          .ldb = SMALL};
    call c = regular, other;
    snprintf(c.letters, sizeof c.letters, "%s", of->letters);
    const call good = c;
    c.ldb = SMALL - 1;
    is_told(&c, of->ldb, "ldb");
    other = c;
    other.n = other.ldb = 0;
    other.pivots = NULL;
    is_told(&other, of->ldb, "ldb of no rows");
    c.lda = SMALL - 1;
    is_told(&c, of->lda, "lda");
    c.nrhs = -1;
    is_told(&c, of->nrhs, "nrhs");
    c.n = -1;
    is_told(&c, of->n, "n");
    for (size_t i = strlen(of->letters); i-- > 0;) {
        c.letters[i] = 'X';
        is_told(&c, (int)i + 1, "a letter");
    }
    c = good;
    c.layout = ROW_MAJOR - 1;
    if (tb_spelling_rows[t.spelling].is_cblas)
        is_told(&c, 0, "layout");
    for (int i = 0; i < SMALL * SMALL; i++)
        CHECK(a[i] == 0 && b[i] == 0, "%s: an irregular call writes", tb_spelling_rows[t.spelling].symbol);
}

static void by_irregular_arguments(void *unused)
{
    (void)unused;
    force_device();
    for (size_t class = 0; class < COUNT(classes); class ++) {
        if (!has_lapacke) { /* OpenBLAS tells of some in ways of its own */
            irregular_arguments_are_told(class, "%s_");
            irregular_arguments_are_told(class, "%s_64_");
        }
        irregular_arguments_are_told(class, "LAPACKE_%s_64");
        irregular_arguments_are_told(class, "LAPACKE_%s_work_64");
    }
    CHECK(sim_operations("launch") == 0, "a device is asked");
}

/* Of no rows there is nothing to be done, and of no columns nothing to be solved. */
static void of_no_rows(void *unused)
{
    (void)unused;
    force_device();
    for (size_t class = 0; class < COUNT(classes); class ++) {
        const trial t = trial_of(class, "LAPACKE_%s_64", 0, 3), none = trial_of(class, "%s_64_", 0, 0);
        try(&t);
        try(&none);
    }
}

/* LAPACKE's turns round what is by rows. */
static void what_is_by_rows_goes_on(void *unused)
{
    static const char *const names[] = {"LAPACKE_%s_64", "LAPACKE_%s_work_64"};
    (void)unused;
    force_device();
    for (size_t i = 0; i < COUNT(names) && has_lapacke; i++)
        for (size_t class = 0; class < COUNT(classes); class ++) {
            trial t = trial_of(class, names[i], SMALL, 3);
            t.by_rows = true;
            void *a = make_a(&t), *b = make_b(&t);
            const call c = call_of(&t, a, make_pivots(&t), b);
            const int64_t info = make_call(&c);
            CHECK(info == FIXTURE_BY_ROWS, "%s: info is %d", tb_spelling_rows[t.spelling].symbol, (int)info);
        }
    CHECK(sim_operations("launch") == 0, "a device is asked");
}

/* ---- What is no number -------------------------------------------------------------------------------------- */

/* A call with NaN in A, or in B. *launches: whether a device was asked. */
static int64_t call_with_nan(const trial *t, bool in_b, int64_t row, int64_t column, bool *launches)
{
    const long before = sim_operations("launch");
    const array array = in_b ? b_of(t) : a_of(t);
    void *a = make_a(t), *b = make_b(t), *pivots = make_pivots(t);
    const call c = call_of(t, a, pivots, b);
    set_number(t, in_b ? b : a, place_in(t, &array, row, column), (double)NAN);
    const int64_t info = make_call(&c);
    *launches = sim_operations("launch") > before;
    free(pivots);
    free(b);
    free(a);
    return info;
}

/* LAPACKE's functions look for what is no number, though not those with _work behind them. */
static void lapacke_looks_for_nan(size_t class, bool is_work)
{
    const trial t = trial_of(class, is_work ? "LAPACKE_%s_work_64" : "LAPACKE_%s_64", SMALL, 3);
    const char *symbol = tb_spelling_rows[t.spelling].symbol;
    for (int in_b = 0; in_b < 2; in_b++) {
        bool launches;
        const int64_t info = call_with_nan(&t, in_b, SMALL - 1, in_b ? 2 : 7, &launches),
                      wanted =
                          has_lapacke ? FIXTURE_IRREGULAR : -1 - (in_b ? classes[class].b : classes[class].a);
        CHECK(launches == is_work && (is_work || info == wanted), "%s, NaN in %s: info is %d%s", symbol,
              in_b ? "B" : "A", (int)info, launches ? ", by a device" : "");
    }
}

/* What is not of the triangle may be anything, and so may a diagonal of ones, which is not read. */
static void nothing_else_is_looked_at(size_t class)
{
    trial t = trial_of(class, "LAPACKE_%s_64", SMALL, 3);
    const char *symbol = tb_spelling_rows[t.spelling].symbol;
    bool launches;
    int64_t info;
    if (has_letter(&t, 'U')) {
        info = call_with_nan(&t, false, 7, SMALL - 1, &launches);
        CHECK(info == 0 && launches, "%s, NaN beside the triangle: info is %d", symbol, (int)info);
    }
    t.unit_diagonal = true;
    for (int lower = 0; lower < 2 && has_letter(&t, 'D'); lower++) {
        t.lower = lower;
        info = call_with_nan(&t, false, 7, 7, &launches);
        CHECK(info == 0 && launches, "%s, NaN on a unit diagonal: info is %d", symbol, (int)info);
    }
}

static void of_what_is_no_number(void *unused)
{
    (void)unused;
    force_device();
    for (size_t class = 0; class < COUNT(classes); class ++) {
        lapacke_looks_for_nan(class, false);
        lapacke_looks_for_nan(class, true);
        nothing_else_is_looked_at(class);
    }
}

/* ---- Memory and devices ----------------------------------------------------------------------------------- */

/* The linker puts these in front: no work in flight may still use what is given. */
void __real_tb_keep_buffer(tb_buffer *buffer);
void __wrap_tb_keep_buffer(tb_buffer *buffer);
tb_status __real_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer);
tb_status __wrap_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer);
static atomic_int taken, given, given_in_flight;

void __wrap_tb_keep_buffer(tb_buffer *buffer)
{
    enum { MICROSECONDS = 20 }; /* what has just passed is counted for a moment still */
    given++;
    if (sim_in_flight() > 0)
        usleep(MICROSECONDS);
    given_in_flight += sim_in_flight() > 0;
    __real_tb_keep_buffer(buffer);
}

tb_status __wrap_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer)
{
    const tb_status status = __real_tb_take_buffer(device, bytes, buffer);
    taken += status == TB_OK;
    return status;
}

/* Nor are helpers kept that have been called for copies. */
void __real_tb_copy_call_helpers(size_t bytes, int links);
void __wrap_tb_copy_call_helpers(size_t bytes, int links);
void __real_tb_copy_dismiss_helpers(void);
void __wrap_tb_copy_dismiss_helpers(void);
static atomic_int helpers_called;
static size_t called_for_bytes;

void __wrap_tb_copy_call_helpers(size_t bytes, int links)
{
    helpers_called++;
    called_for_bytes = bytes;
    __real_tb_copy_call_helpers(bytes, links);
}

void __wrap_tb_copy_dismiss_helpers(void)
{
    helpers_called--;
    __real_tb_copy_dismiss_helpers();
}

static void what_is_taken_is_given_back(void *unused)
{
    enum { FIRST = 4, CALLS = 9 };
    sim_usage before = {0}, now;
    (void)unused;
    force_device();
    tileblas_set_option("KERNEL", "dgemm_crt_sm90"); /* which takes a workspace */
    sim_set("DELAY", "200");
    for (size_t class = 0; class < COUNT(classes); class ++)
        for (int i = 0; i < CALLS; i++) {
            trial t = trial_of(class, "%s_", LARGE, i % 3 == 0 ? 1100 : 40);
            t.of_a = i % 2 ? TB_MEMORY_DEVICE : TB_MEMORY_HOST;
            t.of_b = i / 2 % 2 ? TB_MEMORY_DEVICE : TB_MEMORY_HOST;
            t.singular =
                i % 4 == 3 && classes[class].routine != TB_DPOTRS && classes[class].routine != TB_DGETRS
                    ? LARGE / 2
                    : 0;
            taken = given = 0;
            try(&t);
            CHECK(given_in_flight == 0, "%s: %d buffers are given back while they are in use",
                  tb_spelling_rows[t.spelling].symbol, given_in_flight);
            CHECK(helpers_called == 0, "%s: %d calls of helpers are left",
                  tb_spelling_rows[t.spelling].symbol, helpers_called);
            CHECK(i > 0 || called_for_bytes > b_of(&t).bytes, "%s: helpers are called for %zu bytes",
                  tb_spelling_rows[t.spelling].symbol, called_for_bytes);
            CHECK(given == taken || i == 0, "%s: %d buffers are taken, and %d given back",
                  tb_spelling_rows[t.spelling].symbol, taken, given);
            now = sim_get_usage();
            if (i <= FIRST)
                before = now;
            CHECK(now.device_blocks <= before.device_blocks && now.streams <= before.streams,
                  "%s: %ld blocks and %ld streams, not %ld and %ld", tb_spelling_rows[t.spelling].symbol,
                  now.device_blocks, now.streams, before.device_blocks, before.streams);
        }
}

/* Either matrix for itself would be allowed. OpenBLAS would have products of ours. */
static void beyond_the_memory_that_is_allowed(void *unused)
{
    (void)unused;
    if (has_lapacke)
        return;
    force_device();
    tileblas_set_option("DEVICE_MEMORY", "1");
    for (size_t class = 0; class < COUNT(classes); class ++) {
        const trial t = trial_of(class, "%s_", 280, 280), less = trial_of(class, "%s_", 280, 20);
        try(&t);
        CHECK(sim_operations("launch") == 0, "%s: more than is allowed", tb_spelling_rows[t.spelling].symbol);
        try(&less);
        CHECK(sim_operations("launch") > 0, "%s: the host did it", tb_spelling_rows[t.spelling].symbol);
        sim_set("FAIL", ""); /* counts anew */
    }
}

/* Nobody can solve for what a lost device has, or by it: info says so. */
static void what_nobody_can_solve(void *argument)
{
    const trial *t = argument;
    char text[200];
    void *a = make_a(t), *b = make_b(t), *pivots = make_pivots(t);
    void *a_there = place_there(t->of_a, a, a_of(t).bytes), *b_there = place_there(t->of_b, b, b_of(t).bytes);
    const call c = call_of(t, a_there, pivots, b_there);
    describe(t, text);
    force_device();
    sim_set("FAIL", "launch:1=lost");
    const int64_t info = make_call(&c);
    CHECK(info == TB_INFO_UNDONE, "%s: info is %d", text, (int)info);
}

static void of_lost_devices(void *unused)
{
    (void)unused;
    for (size_t class = 0; class < COUNT(classes); class ++)
        for (int way = 1; way < 4; way++) {
            trial t = trial_of(class, "%s_", LARGE, 40);
            t.of_a = way % 2 ? TB_MEMORY_DEVICE : TB_MEMORY_HOST;
            t.of_b = way / 2 ? TB_MEMORY_DEVICE : TB_MEMORY_HOST;
            const child_end end = child_run(what_nobody_can_solve, &t, CHILD_SECONDS);
            CHECK(end == CHILD_RIGHT, "way %d: %s", way, child_end_text(end));
        }
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

#define STATEMENT(name)                                                                                      \
    {                                                                                                        \
        name, #name                                                                                          \
    }
static const struct {
    void (*run)(void *);
    const char *name;
} statements[] = {
    STATEMENT(by_irregular_arguments),
    STATEMENT(of_no_rows),
    STATEMENT(what_is_by_rows_goes_on),
    STATEMENT(of_what_is_no_number),
    STATEMENT(what_is_taken_is_given_back),
    STATEMENT(beyond_the_memory_that_is_allowed),
    STATEMENT(of_lost_devices),
};

static void load_lapack(const char *fixture)
{
    dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    has_lapacke = dlopen(fixture, RTLD_NOW | RTLD_GLOBAL) != NULL;
    CHECK(has_lapacke, "%s", dlerror());
}

int main(int count, char **arguments)
{
    seed = check_seed();
    if (count > 2 && strcmp(arguments[1], "lapacke") == 0)
        load_lapack(arguments[2]);
    for (size_t i = 0; i < COUNT(statements); i++) {
        const child_end end = child_run(statements[i].run, NULL, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: %s", statements[i].name, child_end_text(end));
    }
    return check_result();
}
