/* GEQRF, by every name and in every kind of memory, however it fails: what the program finds is the factors and the reflectors.
 *
 *   qr names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "lib/call/finish_factor.h"
#include "tests/known_qr.h"
#include "tests/sim/failing_trials.h"

/* The linker puts this in front of tb_finish_factor: how often the host has brought to its end what a device had begun. */
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

/* What a device begins it brings to its end itself. */
static void try_on_device(const trial *t)
{
    const long launches = sim_operations("launch");
    finished_by_host = 0;
    try(t);
    CHECK(finished_by_host == 0 && sim_operations("launch") > launches, "%s, %d x %d, %s: the host did it",
          tb_spelling_rows[t->spelling].symbol, (int)t->m, (int)t->n, tb_memory_text(t->memory));
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct size {
    int64_t m, n;
} size;

static const size sizes[] = {{1, 1},   {2, 2},   {1, 40},   {40, 1},   {31, 31},   {32, 32},   {33, 33},
                             {65, 64}, {64, 65}, {200, 70}, {70, 200}, {129, 129}, {300, 300}, {140, 1300}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SGEQRF); spelling < tb_first_spelling(TB_ZGEQRF + 1);
         spelling++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = {
                .spelling = spelling, .memory = memories[memory], .m = 90, .n = 70 + 40 * (int)(memory % 2)};
            try_on_device(&t);
        }
}

static const tb_spelling spellings[] = {TB_SPELLING_sgeqrf_, TB_SPELLING_dgeqrf_, TB_SPELLING_cgeqrf_,
                                        TB_SPELLING_zgeqrf_};

static void of_every_size(tb_spelling spelling)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = {
                .spelling = spelling, .memory = memories[memory], .m = sizes[i].m, .n = sizes[i].n};
            try_on_device(&t);
        }
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

/* How much work there should be: the host says so, or else that is least. Nothing is read. */
static void ask(tb_spelling spelling, bool alone)
{
    double work[2] = {0, 0}, unread = 5;
    const trial t = {.spelling = spelling};
    const tb_matrix answer = {work, 1, 1, 1, element_of(&t)};
    const int64_t info =
        call_with(spelling, (arguments){COLUMN_MAJOR, 700, 600, &unread, 700, &unread, work, -1});
    const double found = creal(number_at(&answer, 0, 0));
    CHECK(info == 0 && (alone ? found == 600 : found >= 600) && unread == 5, "%s: info is %d, work %g",
          tb_spelling_rows[spelling].symbol, (int)info, found);
}

static void too_little_work(void)
{
    static double a[64 * 64], tau[64], work[64];
    const int64_t of_fortran =
                      call_with(TB_SPELLING_dgeqrf_, (arguments){COLUMN_MAJOR, 64, 64, a, 64, tau, work, 63}),
                  of_work = call_with(TB_SPELLING_LAPACKE_dgeqrf_work,
                                      (arguments){COLUMN_MAJOR, 64, 64, a, 64, tau, work, 63});
    CHECK(of_fortran == -7 && of_work == -8, "info is %d and %d", (int)of_fortran, (int)of_work);
}

static void arguments_are_read(bool alone)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SGEQRF); spelling < tb_first_spelling(TB_ZGEQRF + 1);
         spelling++)
        if (tb_spelling_rows[spelling].is_work || !tb_spelling_rows[spelling].is_cblas)
            ask(spelling, alone);
    if (alone)
        too_little_work();
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++)
        fail_everywhere((failing){.trial = {.spelling = spellings[i], .m = 150 - 20 * (int64_t)i, .n = 160},
                                  .class = "any",
                                  .failure = ways[i]});
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "copy", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++)
        fail_everywhere((failing){.trial = {.spelling = spellings[i],
                                            .m = 120,
                                            .n = 100 + 20 * (int64_t)i,
                                            .memory = TB_MEMORY_DEVICE},
                                  .class = classes[i],
                                  .failure = i % 2 ? "memory" : "unsupported"});
}

int main(int count, char **arguments)
{
    const char *program = count > 1 ? arguments[1] : "names";
    seed = check_seed();
    begin_failing();
    if (strcmp(program, "alone") != 0)
        dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    force_device();
    if (strcmp(program, "names") == 0)
        by_every_name();
    if (strcmp(program, "names") == 0 || strcmp(program, "alone") == 0)
        arguments_are_read(strcmp(program, "alone") == 0);
    for (size_t i = 0; i < COUNT(spellings) && strcmp(program, "sizes") == 0; i++)
        of_every_size(spellings[i]);
    for (size_t i = 0; i < COUNT(spellings) && strcmp(program, "alone") == 0; i++)
        try_on_device(&(trial){.spelling = spellings[i], .m = 150, .n = 140});
    if (strcmp(program, "failures") == 0) {
        fail_in_host_memory();
        fail_in_device_memory();
    }
    return check_result();
}
