/* GELQF, and ORGLQ and UNGLQ, by every name and in every kind of memory, however they fail: what the program finds is L and reflectors, or Q,
 * and what failed has left the matrix as it was for the host.
 *
 *   lq names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "lib/call/finish_factor.h"
#include "tests/known_lq.h"
#include "tests/sim/failing_trials.h"

/* The linker puts this in front of tb_slot_bytes: what comes back does so in many pieces. */
size_t __wrap_tb_slot_bytes(void);
size_t __wrap_tb_slot_bytes(void)
{
    return (size_t)64 << 10;
}

/* The linker puts this in front of tb_finish_factor: how often the host has done what a device had begun. */
static int finished_by_host;
void __real_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);
void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);

void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host)
{
    finished_by_host++;
    __real_tb_finish_factor(factor, done, solved, info, host);
}

static void try_on_device(const trial *t)
{
    const long launches = sim_operations("launch");
    char text[200];
    finished_by_host = 0;
    try(t);
    describe(t, text);
    CHECK(order_of(t) == 0 || (finished_by_host == 0 && sim_operations("launch") > launches),
          "%s: the host did it", text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct size {
    int64_t m, n, k;
} size;

static const size to_be_factored[] = {{.m = 1, .n = 1},     {.m = 2, .n = 2},     {.m = 1, .n = 40},
                                      {.m = 40, .n = 1},    {.m = 31, .n = 31},   {.m = 33, .n = 33},
                                      {.m = 64, .n = 65},   {.m = 65, .n = 64},   {.m = 70, .n = 200},
                                      {.m = 200, .n = 70},  {.m = 129, .n = 129}, {.m = 300, .n = 300},
                                      {.m = 1300, .n = 140}};
static const size to_be_q[] = {{1, 1, 1},       {1, 2, 1},       {1, 40, 1},      {32, 33, 20},
                               {64, 65, 64},    {129, 129, 128}, {300, 300, 300}, {200, 300, 140},
                               {130, 500, 129}, {64, 64, 0},     {1100, 1300, 40}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static trial trial_of(tb_spelling spelling, tb_memory memory, size size)
{
    return (trial){.spelling = spelling, .memory = memory, .m = size.m, .n = size.n, .k = size.k};
}

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SGELQF); spelling < tb_first_spelling(TB_ZUNGLQ + 1);
         spelling++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = trial_of(spelling, memories[memory], (size){70, 90 + (int64_t)memory, 60});
            try_on_device(&t);
        }
}

static const tb_spelling factoring[] = {TB_SPELLING_sgelqf_, TB_SPELLING_dgelqf_, TB_SPELLING_cgelqf_,
                                        TB_SPELLING_zgelqf_},
                         making_q[] = {TB_SPELLING_sorglq_, TB_SPELLING_dorglq_, TB_SPELLING_cunglq_,
                                       TB_SPELLING_zunglq_};

static void of_every_size(tb_spelling spelling, const size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
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
        {TB_SPELLING_dgelqf_, 0, 4, 0, 1, 1, 0},         {TB_SPELLING_dgelqf_, -1, 4, 0, 1, 1, -1},
        {TB_SPELLING_dgelqf_, 8, -1, 0, 8, 8, -2},       {TB_SPELLING_dgelqf_, 8, 4, 0, 7, 8, -4},
        {TB_SPELLING_dgelqf_, 8, 4, 0, 8, 7, -7},        {TB_SPELLING_LAPACKE_dgelqf_work, 8, 4, 0, 8, 7, -8},
        {TB_SPELLING_dorglq_, 0, 0, 0, 1, 1, 0},         {TB_SPELLING_dorglq_, -1, 0, 0, 1, 1, -1},
        {TB_SPELLING_dorglq_, 8, -1, 0, 8, 8, -2},       {TB_SPELLING_dorglq_, 9, 8, 0, 9, 9, -2},
        {TB_SPELLING_dorglq_, 4, 8, -1, 8, 8, -3},       {TB_SPELLING_dorglq_, 4, 8, 5, 8, 8, -3},
        {TB_SPELLING_dorglq_, 4, 8, 4, 3, 8, -5},        {TB_SPELLING_dorglq_, 4, 8, 4, 4, 3, -8},
        {TB_SPELLING_LAPACKE_dorglq, 4, 8, 5, 4, 0, -4}, {TB_SPELLING_LAPACKE_dorglq_work, 4, 8, 4, 4, 3, -9},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const irregular *x = &all[i];
        const int64_t info = call_with(
            x->spelling, (arguments){COLUMN_MAJOR, x->m, x->n, x->k, a, x->ld, tau, work, x->lwork});
        CHECK(info == x->info, "%s, %d: info is %d", tb_spelling_rows[x->spelling].symbol, (int)i, (int)info);
    }
}

/* How much work there should be: the host says so, or else as many numbers as there are rows. Nothing is read. */
static void queries_are_answered(bool alone)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SGELQF); spelling < tb_first_spelling(TB_ZUNGLQ + 1);
         spelling++) {
        double work[2] = {0, 0}, unread = 5;
        const trial t = {.spelling = spelling};
        const tb_matrix answer = {work, 1, 1, 1, element_of(&t)};
        if (tb_spelling_rows[spelling].is_cblas && !tb_spelling_rows[spelling].is_work)
            continue;
        const int64_t info =
            call_with(spelling, (arguments){COLUMN_MAJOR, 500, 600, 400, &unread, 500, &unread, work, -1});
        const double found = creal(number_at(&answer, 0, 0));
        CHECK(info == 0 && (alone ? found == 500 : found >= 500) && unread == 5, "%s: info is %d, work %g",
              tb_spelling_rows[spelling].symbol, (int)info, found);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/* Two matrices, and what lies beside them, in MiB. Without a LAPACK whoever takes the host's way launches nothing. */
static void memory_is_counted(tb_spelling spelling)
{
    const trial t = {.spelling = spelling, .m = 400, .n = 420, .k = 400}; /* 1.3 MiB of doubles */
    force_device();
    const long launches = sim_operations("launch");
    tileblas_set_option("DEVICE_MEMORY", "2");
    try(&t);
    CHECK(sim_operations("launch") == launches, "%s: more memory is taken than is allowed",
          tb_spelling_rows[spelling].symbol);
    tileblas_set_option("DEVICE_MEMORY", "64");
    try_on_device(&t);
    tileblas_set_option("DEVICE_MEMORY", "0");
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

/* Of complex numbers of single precision the matrix has no pages of its own: OpenBLAS 0.3.21 reads some bytes behind its end (cgemv_n of
 * old processors, which new ones are taken for). */
static void fail_in_host_memory(const tb_spelling *spellings)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++) {
        const trial t = trial_of(spellings[i], TB_MEMORY_HOST, (size){110, 130 + (int64_t)i, 100});
        fail_everywhere((failing){.trial = t, .class = "any", .failure = ways[i]});
    }
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(const tb_spelling *spellings)
{
    static const char *const classes[] = {"allocate", "stream", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++) {
        const trial t = trial_of(spellings[i], TB_MEMORY_DEVICE, (size){120, 130, 110});
        fail_everywhere(
            (failing){.trial = t, .class = classes[i], .failure = i % 2 ? "memory" : "unsupported"});
    }
}

static void without_lapack(tb_spelling spelling)
{
    const trial t = {.spelling = spelling, .m = 150, .n = 170, .k = 140};
    force_device();
    try_on_device(&t);
    tileblas_set_option("ROUTE", "host");
    try(&t);
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
    if (is_alone)
        arguments_are_read();
    if (is_alone || strcmp(program, "names") == 0)
        queries_are_answered(is_alone);
    for (size_t i = 0; i < COUNT(factoring) && strcmp(program, "sizes") == 0; i++) {
        of_every_size(factoring[i], to_be_factored, COUNT(to_be_factored));
        of_every_size(making_q[i], to_be_q, COUNT(to_be_q));
    }
    for (size_t i = 0; i < COUNT(factoring) && is_alone; i++) {
        without_lapack(factoring[i]);
        without_lapack(making_q[i]);
    }
    if (is_alone) { /* when the device is up */
        memory_is_counted(TB_SPELLING_dgelqf_);
        memory_is_counted(TB_SPELLING_dorglq_);
    }
    if (strcmp(program, "failures") == 0) {
        fail_in_host_memory(factoring);
        fail_in_host_memory(making_q);
        fail_in_device_memory(factoring);
        fail_in_device_memory(making_q);
    }
    return check_result();
}
