/* ORGQR and UNGQR, by every name and in every kind of memory, however they fail: what the program finds is Q, and what failed has left the
 * reflectors as they were for the host.
 *
 *   q names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "tests/known_q.h"
#include "tests/sim/failing_trials.h"

/* The linker puts this in front of tb_slot_bytes: what comes back does so in many pieces. */
size_t __wrap_tb_slot_bytes(void);
size_t __wrap_tb_slot_bytes(void)
{
    return (size_t)64 << 10;
}

static void try_on_device(const trial *t)
{
    const long launches = sim_operations("launch");
    char text[200];
    try(t);
    describe(t, text);
    CHECK(t->k == 0 || sim_operations("launch") > launches, "%s: the host did it", text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct size {
    int64_t m, n, k;
} size;

static const size sizes[] = {{1, 1, 1},       {2, 2, 1},        {40, 1, 1},      {33, 32, 20},
                             {65, 64, 64},    {129, 129, 128},  {300, 300, 300}, {300, 200, 140},
                             {500, 130, 129}, {1300, 1100, 40}, {64, 64, 0}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static trial trial_of(tb_spelling spelling, tb_memory memory, size size)
{
    return (trial){.spelling = spelling, .memory = memory, .m = size.m, .n = size.n, .k = size.k};
}

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SORGQR); spelling < tb_first_spelling(TB_ZUNGQR + 1);
         spelling++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = trial_of(spelling, memories[memory], (size){90 + (int64_t)memory, 70, 60});
            try_on_device(&t);
        }
}

static const tb_spelling spellings[] = {TB_SPELLING_sorgqr_, TB_SPELLING_dorgqr_, TB_SPELLING_cungqr_,
                                        TB_SPELLING_zungqr_};

static void of_every_size(tb_spelling spelling)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = trial_of(spelling, memories[memory], sizes[i]);
            try_on_device(&t);
        }
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

/* What is answered where nothing is read. */
typedef struct irregular {
    tb_spelling spelling;
    int64_t m, n, k, ld, lwork, info;
} irregular;

static void arguments_are_read(void)
{
    static double a[64 * 64], tau[64], work[64];
    static const irregular all[] = {
        {TB_SPELLING_dorgqr_, 0, 0, 0, 1, 1, 0},
        {TB_SPELLING_dorgqr_, -1, 0, 0, 1, 1, -1},
        {TB_SPELLING_dorgqr_, 8, -1, 0, 8, 8, -2},
        {TB_SPELLING_dorgqr_, 8, 9, 0, 8, 9, -2},
        {TB_SPELLING_dorgqr_, 8, 4, -1, 8, 8, -3},
        {TB_SPELLING_dorgqr_, 8, 4, 5, 8, 8, -3},
        {TB_SPELLING_dorgqr_, 8, 4, 4, 7, 8, -5},
        {TB_SPELLING_dorgqr_, 8, 4, 4, 8, 3, -8},
        {TB_SPELLING_dorgqr_, 8, 8, 4, 8, -1, 0},
        {TB_SPELLING_LAPACKE_dorgqr, 8, 4, 5, 8, 0, -4},
        {TB_SPELLING_LAPACKE_dorgqr_work, 8, 4, 4, 8, 3, -9},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const irregular *x = &all[i];
        const int64_t info = call_with(
            x->spelling, (arguments){COLUMN_MAJOR, x->m, x->n, x->k, a, x->ld, tau, work, x->lwork});
        CHECK(info == x->info, "%s, %d: info is %d", tb_spelling_rows[x->spelling].symbol, (int)i, (int)info);
    }
    CHECK(work[0] >= 8, "a query is answered with %g", work[0]);
}

/* LAPACKE's, and not its _work function; in tau, and in A, in this order. */
static void what_is_no_number_is_told(void)
{
    static double a[64 * 64], tau[64], work[64];
    double *const places[] = {&tau[3], &a[10]};
    static const int64_t infos[] = {-7, -5};
    const arguments x = {COLUMN_MAJOR, 8, 4, 4, a, 8, tau, work, 64};
    for (size_t i = 0; i < COUNT(places); i++) {
        *places[i] = (double)NAN;
        const int64_t info = call_with(TB_SPELLING_LAPACKE_dorgqr, x);
        CHECK(info == infos[i], "info is %d", (int)info);
    }
    CHECK(call_with(TB_SPELLING_LAPACKE_dorgqr_work, x) == 0, "_work looks");
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++) {
        trial t = trial_of(spellings[i], TB_MEMORY_HOST, (size){300, 200, 150});
        fail_everywhere((failing){.trial = t, .class = "any", .failure = ways[i]});
    }
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++) {
        trial t = trial_of(spellings[i], TB_MEMORY_DEVICE, (size){200, 150, 140});
        fail_everywhere(
            (failing){.trial = t, .class = classes[i], .failure = i % 2 ? "memory" : "unsupported"});
    }
}

int main(int count, char **arguments)
{
    const char *program = count > 1 ? arguments[1] : "names";
    const bool is_alone = strcmp(program, "alone") == 0;
    seed = check_seed();
    begin_failing();
    if (!is_alone)
        dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    force_device();
    if (strcmp(program, "names") == 0)
        by_every_name();
    if (is_alone) {
        arguments_are_read();
        what_is_no_number_is_told();
    }
    for (size_t i = 0; i < COUNT(spellings) && strcmp(program, "sizes") == 0; i++)
        of_every_size(spellings[i]);
    for (size_t i = 0; i < COUNT(spellings) && is_alone; i++)
        try_on_device(&(trial){.spelling = spellings[i], .m = 170, .n = 150, .k = 140});
    for (size_t i = 0; i < COUNT(spellings) && is_alone; i++) {
        tileblas_set_option("ROUTE", "host");
        try(&(trial){.spelling = spellings[i], .m = 170, .n = 150, .k = 140});
    }
    if (strcmp(program, "failures") == 0) {
        fail_in_host_memory();
        fail_in_device_memory();
    }
    return check_result();
}
