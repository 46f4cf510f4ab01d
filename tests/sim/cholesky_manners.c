/* What POTRF leaves behind, and what it makes of calls that are not as they should be: each statement in a process of its own.
 *
 *   cholesky_manners lapacke   there is OpenBLAS, and for LAPACKE's names of 64 bits the library of fixture_lapacke.c: FILE
 *   cholesky_manners alone     there is no LAPACK but ours
 */
#include "lib/call/finish_factor.h"
#include "lib/device/memory.h"
#include "tests/known_factor.h"
#include "tests/sim/children.h"
#include "tests/sim/fixture_lapacke.h"
#include "tests/sim/device_sim.h"
#include "words/factor.h"

#include <math.h>

enum { CHILD_SECONDS = 60, SMALL = 70, LARGE = 700 };

/* The fixture's. */
static bool has_lapacke;

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/* The linker puts this in front of tb_keep_buffer: no work in flight may still use what is given. */
void __real_tb_keep_buffer(tb_buffer *buffer);
void __wrap_tb_keep_buffer(tb_buffer *buffer);
static atomic_int given, given_in_flight;

void __wrap_tb_keep_buffer(tb_buffer *buffer)
{
    given++;
    given_in_flight += sim_in_flight() > 0;
    __real_tb_keep_buffer(buffer);
}

static void nothing_is_given_back_that_is_in_use(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = LARGE, .lower = true};
    force_device();
    sim_set("DELAY", "300");
    tileblas_set_option("KERNEL", "dgemm_crt_sm90"); /* which takes a workspace */
    try(&t);
    CHECK(given > 0 && given_in_flight == 0, "%d buffers of %d are given back while they are in use",
          given_in_flight, given);
}

/* And these in front of tb_take_buffer and tb_finish_factor: buffers that are taken, and what the host brings to its end. */
tb_status __real_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer);
tb_status __wrap_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer);
void __real_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);
void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);
static atomic_int taken, finished_by_host;

tb_status __wrap_tb_take_buffer(int device, size_t bytes, tb_buffer *buffer)
{
    const tb_status status = __real_tb_take_buffer(device, bytes, buffer);
    taken += status == TB_OK;
    return status;
}

void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host)
{
    finished_by_host++;
    __real_tb_finish_factor(factor, done, solved, info, host);
}

/* The pipeline's slots too, by a call that is the first to take any of them. */
static void all_that_is_taken_is_given_back(void *unused)
{
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = LARGE, .lower = true},
                small = {.spelling = TB_SPELLING_dpotrf_, .n = SMALL, .memory = TB_MEMORY_DEVICE};
    force_device();
    tileblas_set_option("KERNEL", "dgemm_crt_sm90");
    try(&small); /* the device is up */
    taken = given = 0;
    try(&t);
    CHECK(taken > 2 && given == taken, "%d buffers are taken, and %d given back", taken, given);
}

/* A slot has been read by the link before it is filled again. */
static void by_way_of_few_small_slots(void *unused)
{
    (void)unused;
    force_device();
    tileblas_set_option("PINNED_MEMORY", "1");
    sim_set("DELAY", "300");
    for (int lower = 0; lower < 2; lower++) {
        const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = LARGE, .lower = lower};
        finished_by_host = 0;
        try(&t);
        CHECK(finished_by_host == 0, "the host did it");
    }
}

/* Where what products before one hold is what is missing, it is given back, and the one is done in parts as ever. */
static void within_the_memory_that_is_allowed(void *unused)
{
    enum { LEAST = 7, MOST = 9 };
    (void)unused;
    force_device();
    tileblas_set_option("KERNEL", "dgemm_crt_sm90");
    for (int limit = LEAST; limit <= MOST; limit++)
        for (int lower = 0; lower < 2; lower++) {
            const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = LARGE, .lower = lower};
            char text[12];
            snprintf(text, sizeof text, "%d", limit);
            tileblas_set_option("DEVICE_MEMORY", text);
            const long launches = sim_operations("launch");
            finished_by_host = 0;
            try(&t);
            CHECK(finished_by_host == 0 && sim_operations("launch") > launches, "%d MiB: the host did it",
                  limit);
        }
}

/* What a call takes of a device is kept for the next one, which takes no more. */
static void nothing_is_left_behind(void *unused)
{
    enum { CALLS = 8 };
    (void)unused;
    const trial t = {.spelling = TB_SPELLING_dpotrf_, .n = LARGE, .lower = true};
    force_device();
    tileblas_set_option("KERNEL", "dgemm_crt_sm90");
    try(&t);
    const sim_usage before = sim_get_usage();
    for (int i = 0; i < CALLS; i++)
        try(&t);
    const sim_usage now = sim_get_usage();
    CHECK(now.device_blocks <= before.device_blocks && now.streams <= before.streams,
          "%ld blocks and %ld streams, not %ld and %ld", now.device_blocks, now.streams, before.device_blocks,
          before.streams);
}

/* ---- Irregular arguments ---------------------------------------------------------------------------------- */

/* They are counted as Fortran does, without LAPACKE's layout. */
static void irregular_arguments_are_told(tb_spelling spelling)
{
    static const struct {
        int layout;
        char letter;
        int n, ld, number;
    } rows[] = {
        {COLUMN_MAJOR, 'X', SMALL, SMALL, 1},
        {COLUMN_MAJOR, 'L', -1, SMALL, 2},
        {COLUMN_MAJOR, 'L', SMALL, SMALL - 1, 4},
        {ROW_MAJOR, 'u', SMALL, 0, 4},
        {COLUMN_MAJOR, 'U', 1, 0, 4},
        {COLUMN_MAJOR, 'u', 0, 0, 4},
        {ROW_MAJOR, 'X', -1, 0, 1},
        {COLUMN_MAJOR, 'l', -1, 0, 2},
        {ROW_MAJOR - 1, 'X', -1, 0, 0},
    };
    static double a[SMALL * SMALL];
    const bool counts_layout = tb_spelling_rows[spelling].is_cblas;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].number == 0 && !counts_layout)
            continue;
        const int64_t info = call_with(spelling, rows[i].layout, rows[i].letter, rows[i].n, a, rows[i].ld),
                      wanted = has_lapacke ? FIXTURE_IRREGULAR : -(rows[i].number + counts_layout);
        CHECK(info == wanted, "%s, row %d: info is %d, not %d", tb_spelling_rows[spelling].symbol, (int)i,
              (int)info, (int)wanted);
    }
    for (int i = 0; i < SMALL * SMALL; i++)
        CHECK(a[i] == 0, "%s: an irregular call writes", tb_spelling_rows[spelling].symbol);
    const int64_t info = call_with(spelling, COLUMN_MAJOR, 'L', 0, a, 1);
    CHECK(info == 0, "%s, of no rows: info is %d", tb_spelling_rows[spelling].symbol, (int)info);
}

static void by_irregular_arguments(void *unused)
{
    (void)unused;
    force_device();
    if (!has_lapacke)
        irregular_arguments_are_told(TB_SPELLING_dpotrf_64_);
    irregular_arguments_are_told(TB_SPELLING_LAPACKE_dpotrf_64);
    irregular_arguments_are_told(TB_SPELLING_LAPACKE_dpotrf_work_64);
}

/* ---- What is no number, or not finite ------------------------------------------------------------------------ */

/* A factorization with that number there. *launches: whether a device was asked. */
static int64_t call_with_number(const trial *t, int64_t row, int64_t column, double value, bool *launches)
{
    const long before = sim_operations("launch");
    void *a = make_matrix(t);
    put(t, a, row, column, value);
    const int64_t info = call(t, a);
    *launches = sim_operations("launch") > before;
    free(a);
    return info;
}

/* LAPACKE's functions look for what is no number, though not those with _work behind them; for nothing else. */
static void lapacke_looks_for_nan(const trial *t, bool is_work)
{
    static const int64_t places[][2] = {{0, 0}, {40, 13}, {SMALL - 1, 0}, {SMALL - 1, SMALL - 1}};
    char text[200];
    bool launches;
    describe(t, text);
    for (size_t i = 0; i < COUNT(places); i++) {
        const int64_t row = places[i][0], column = places[i][1], pivot = row + 1;
        const int64_t info = call_with_number(t, row, column, (double)NAN, &launches);
        CHECK(info == (is_work ? pivot : -4) && launches == is_work, "%s, NaN at (%d, %d): info is %d%s",
              text, (int)row, (int)column, (int)info, launches ? ", by a device" : "");
        const int64_t other = call_with_number(t, row, column, (double)-INFINITY, &launches);
        CHECK(other == pivot && launches, "%s, an infinity at (%d, %d): info is %d", text, (int)row,
              (int)column, (int)other);
    }
}

/* What is not of the triangle may be anything. */
static void nothing_else_is_looked_at(const trial *t)
{
    char text[200];
    double *a = make_matrix(t);
    const int64_t count = (t->n + PADDING) * t->n;
    describe(t, text);
    for (int64_t i = 0; i < count; i++)
        a[i] = a[i] == UNTOUCHED ? (double)NAN : a[i];
    CHECK(call(t, a) == 0, "%s: NaN that is not of the triangle is told of", text);
    for (int64_t i = 0; i < count; i++)
        a[i] = isnan(a[i]) ? UNTOUCHED : a[i];
    check_matrix(t, a, text);
    free(a);
}

static void of_what_is_no_number(void *unused)
{
    (void)unused;
    static const tb_spelling spellings[] = {TB_SPELLING_LAPACKE_dpotrf_64,
                                            TB_SPELLING_LAPACKE_dpotrf_work_64};
    force_device();
    for (int is_work = 0; is_work < 2; is_work++)
        for (int way = 0; way < 4; way++) {
            const trial t = {
                .spelling = spellings[is_work], .n = SMALL, .lower = way % 2, .by_rows = way / 2};
            lapacke_looks_for_nan(&t, is_work);
            nothing_else_is_looked_at(&t);
        }
}

/* What becomes of an infinity is for the host's routine to say, also where a device has begun. LAPACKE's refuses what the device leaves,
 * in which there is NaN by then. */
static void of_an_infinity(void *unused)
{
    static const tb_spelling spellings[] = {TB_SPELLING_dpotrf_, TB_SPELLING_LAPACKE_dpotrf_64,
                                            TB_SPELLING_LAPACKE_dpotrf_work_64};
    int64_t infos[2][COUNT(spellings)];
    (void)unused;
    for (int way = 0; way < 2; way++) {
        if (way == 0)
            tileblas_set_option("ROUTE", "host");
        else
            force_device();
        for (size_t i = 0; i < COUNT(spellings); i++) {
            const trial t = {.spelling = spellings[i], .n = LARGE, .lower = true};
            bool launches;
            infos[way][i] = call_with_number(&t, 600, 0, (double)INFINITY, &launches);
            CHECK(launches == way && infos[way][i] == infos[0][i], "%s: info is %d on the host, now %d",
                  tb_spelling_rows[spellings[i]].symbol, (int)infos[0][i], (int)infos[way][i]);
        }
    }
    CHECK(infos[0][1] == 601, "LAPACKE's info is %d", (int)infos[0][1]);
}

/* ---- Devices ------------------------------------------------------------------------------------------------ */

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
    void *a = make_matrix(&t);
    const size_t bytes = bytes_of(&t);
    void *there = sim_allocate(TB_MEMORY_DEVICE, 0, bytes);
    sim_copy(there, a, bytes);
    force_device();
    sim_set("FAIL", "launch:3=lost");
    const int64_t info = call(&t, there);
    CHECK(info == TB_INFO_UNDONE, "info is %d", (int)info);
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
    STATEMENT(nothing_is_given_back_that_is_in_use),
    STATEMENT(all_that_is_taken_is_given_back),
    STATEMENT(nothing_is_left_behind),
    STATEMENT(by_way_of_few_small_slots),
    STATEMENT(within_the_memory_that_is_allowed),
    STATEMENT(by_irregular_arguments),
    STATEMENT(of_what_is_no_number),
    STATEMENT(of_an_infinity),
    STATEMENT(of_no_rows),
    STATEMENT(beyond_the_memory_that_is_allowed),
    STATEMENT(while_the_program_uses_another_device),
    STATEMENT(what_nobody_can_factor),
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
