/* POTRF, by every name and in every kind of memory, however it fails: what the program finds is the factor, and what is
 * not of the triangle is as it was.
 *
 *   cholesky names | failures | alone
 *
 * Factors are of small whole numbers, and so are all numbers on the way to them: they are found again to the last bit,
 * in whatever order sums are taken. alone: there is no LAPACK but ours.
 */
#include "dispatch/factor_choice.h"
#include "lib/call/finish_factor.h"
#include "tests/known_factor.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <sys/mman.h>

enum { CHILD_SECONDS = 60 };

/* The linker puts this in front of tb_decide_factor: where it is wanted, columns are finished a panel at a time. */
enum { PANEL = 64 };
static bool by_panels;
tb_plan __real_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);
tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts);

tb_plan __wrap_tb_decide_factor(const tb_factor *factor, const tb_facts *facts)
{
    tb_plan plan = __real_tb_decide_factor(factor, facts);
    if (by_panels && plan.block > PANEL)
        plan.block = PANEL;
    return plan;
}

/* And this in front of tb_finish_factor: how often the host has brought to its end what a device had begun, and how many columns the
 * device had finished. */
static int finished_by_host;
static int64_t finished_before;
void __real_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);
void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host);

void __wrap_tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                             const tb_host *host)
{
    finished_by_host++;
    finished_before = done;
    __real_tb_finish_factor(factor, done, solved, info, host);
}

/* What a device begins it brings to its end itself, also after a matrix that has no factor. */
static void try_on_device(const trial *t)
{
    finished_by_host = 0;
    try(t);
    CHECK(finished_by_host == 0, "%s, n = %d, %s: the host did it", tb_spelling_rows[t->spelling].symbol,
          (int)t->n, tb_memory_text(t->memory));
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

static const int64_t orders[] = {1, 2, 127, 128, 129, 200, 700};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SPOTRF); spelling < tb_first_spelling(TB_ZPOTRF + 1);
         spelling++)
        for (int way = 0; way < 4; way++) {
            const trial t = {.spelling = spelling,
                             .memory = memories[way],
                             .n = way == 0 ? 150 : 70,
                             .lower = way % 2 == 0,
                             .by_rows = way / 2 && tb_spelling_rows[spelling].is_cblas};
            const long launches = sim_operations("launch");
            try_on_device(&t);
            CHECK(sim_operations("launch") > launches, "%s: no device was used",
                  tb_spelling_rows[spelling].symbol);
        }
}

static const tb_spelling spellings[] = {TB_SPELLING_spotrf_, TB_SPELLING_dpotrf_, TB_SPELLING_cpotrf_,
                                        TB_SPELLING_zpotrf_};

/* Of large ones it is enough that one routine has them. */
static void of_every_order(tb_spelling spelling)
{
    enum { LARGE = 700 };
    for (size_t i = 0; i < COUNT(orders) && (orders[i] < LARGE || spelling == TB_SPELLING_dpotrf_); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++)
            for (int lower = 0; lower < 2; lower++) {
                trial t = {.spelling = spelling, .memory = memories[memory], .n = orders[i], .lower = lower};
                try_on_device(&t);
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
    tables_of(&f.trial);
    const child_end whole = child_run(fail_once, &f, CHILD_SECONDS);
    const long all = *operations;
    CHECK(whole == CHILD_RIGHT && all > 0, "%ld operations: %s", all, child_end_text(whole));
    for (long operation = 1; operation <= all;
         operation += check_between(&random, 1, operation > 10 && operation < all - CLOSELY ? 80 : 5)) {
        char script[40];
        snprintf(script, sizeof script, "%s:%ld=%s", f.class, operation, f.failure);
        f.trial.script = script;
        const child_end end = child_run(fail_once, &f, CHILD_SECONDS);
        /* How often it is asked whether columns have come back differs from run to run. */
        CHECK(end == CHILD_RIGHT && (*failures > 0 || *operations < operation), "%s: %s, %ld failures",
              script, child_end_text(end), *failures);
    }
}

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (int lower = 0; lower < 2; lower++)
            fail_everywhere(
                (failing){.trial = {.spelling = spellings[(i + 3 * (size_t)lower) % COUNT(spellings)],
                                    .n = 200,
                                    .lower = lower},
                          .class = "any",
                          .failure = ways[i]});
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "copy", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++)
        for (int way = 0; way < 2; way++)
            fail_everywhere(
                (failing){.trial = {.spelling = spellings[(i + 3 * (size_t)way) % COUNT(spellings)],
                                    .n = 200,
                                    .lower = way,
                                    .memory = TB_MEMORY_DEVICE},
                          .class = classes[i],
                          .failure = (way + (int)i) % 2 ? "memory" : "unsupported"});
}

/* What a device has finished before a pivot that is not positive is not done again. */
static void fail_at_pivots(void *unused)
{
    static const int64_t pivots[] = {1, PANEL, PANEL + 1, 2 * PANEL, 2 * PANEL + 1, 200};
    (void)unused;
    force_device();
    for (size_t i = 0; i < COUNT(pivots); i++)
        for (int lower = 0; lower < 2; lower++) {
            const trial t = {.spelling = spellings[i % COUNT(spellings)],
                             .n = 200,
                             .lower = lower,
                             .memory = TB_MEMORY_DEVICE,
                             .singular = pivots[i]};
            const int64_t expected = (pivots[i] - 1) / PANEL * PANEL;
            finished_by_host = 0;
            try(&t);
            CHECK(finished_by_host == 1 && finished_before == expected,
                  "pivot %d: the host goes on %d times, from column %d", (int)pivots[i], finished_by_host,
                  (int)finished_before);
        }
}

/* Nor what it has finished before a step that it refuses. */
static void fail_at_steps(void *unused)
{
    enum { FIRST = 3, LAST = 8 };
    int64_t most = 0;
    (void)unused;
    force_device();
    for (int step = FIRST; step <= LAST; step++) {
        const trial t = {
            .spelling = TB_SPELLING_dpotrf_, .n = 200, .lower = true, .memory = TB_MEMORY_DEVICE};
        char script[40];
        snprintf(script, sizeof script, "launch:%d=unsupported", step);
        sim_set("FAIL", script);
        finished_by_host = 0;
        try(&t);
        CHECK(finished_by_host == 1 && finished_before % PANEL == 0 && finished_before >= most,
              "launch %d: the host goes on %d times, from column %d", step, finished_by_host,
              (int)finished_before);
        most = finished_before;
    }
    CHECK(most > 0, "the device has never finished columns");
}

int main(int count, char **arguments)
{
    const char *program = count > 1 ? arguments[1] : "names";
    seed = check_seed();
    operations =
        mmap(NULL, 2 * sizeof *operations, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failures = operations + 1;
    if (strcmp(program, "alone") != 0)
        dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (strcmp(program, "names") == 0) {
        force_device();
        by_every_name();
        for (size_t i = 0; i < COUNT(spellings); i++)
            of_every_order(spellings[i]);
    } else if (strcmp(program, "alone") == 0) {
        for (size_t i = 0; i < COUNT(spellings); i++)
            of_every_order(spellings[i]);
    } else {
        by_panels = true;
        fail_in_host_memory();
        fail_in_device_memory();
        CHECK(child_run(fail_at_pivots, NULL, CHILD_SECONDS) == CHILD_RIGHT, "pivots");
        CHECK(child_run(fail_at_steps, NULL, CHILD_SECONDS) == CHILD_RIGHT, "steps");
    }
    return check_result();
}
