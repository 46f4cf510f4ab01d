/* Solves by factors, by every name and in every kind of memory, however they fail: what the program finds is the solution.
 *
 *   solve names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "dispatch/factor_choice.h"
#include "lib/call/finish_factor.h"
#include "tests/known_solve.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <sys/mman.h>

enum { CHILD_SECONDS = 60 };

/* The linker puts this in front of tb_decide_factor: where it is wanted, columns of A are finished a panel at a time. */
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

/* And this in front of tb_finish_factor: how often the host has brought to its end what a device had begun. */
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
    char text[200];
    const long launches = sim_operations("launch");
    describe(t, text);
    finished_by_host = 0;
    try(t);
    CHECK(finished_by_host == 0 && sim_operations("launch") > launches, "%s: the host did it", text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct size {
    int64_t n, nrhs;
} size;

typedef struct places {
    tb_memory a, b;
} places;

static const places everywhere[] = {
    {TB_MEMORY_HOST, TB_MEMORY_HOST},       {TB_MEMORY_PINNED, TB_MEMORY_PINNED},
    {TB_MEMORY_MANAGED, TB_MEMORY_MANAGED}, {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_HOST},     {TB_MEMORY_HOST, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_PINNED},   {TB_MEMORY_MANAGED, TB_MEMORY_DEVICE}};

/* Of each class the routine of single precision, after which come the others. */
static const tb_routine routines[] = {TB_SPOTRS, TB_SPOSV, TB_SGETRS, TB_SGESV, TB_STRTRS};

/* As often as a class has letters, or once. */
enum { WAYS = 12 };

static trial in_way(trial t, int way)
{
    t.lower = way % 2;
    t.unit_diagonal = way / 2 % 2;
    t.operation = "NTC"[way / 4];
    return t;
}

/* Letters that the routine has not are as in the first way. */
static bool is_one_of_its(const trial *t)
{
    return (!t->lower || has_letter(t, 'U')) && (!t->unit_diagonal || has_letter(t, 'D')) &&
           (t->operation == 'N' || has_letter(t, 'T'));
}

static void by_every_name(tb_routine first)
{
    for (tb_spelling spelling = tb_first_spelling(first);
         spelling < tb_first_spelling((tb_routine)(first + TB_ELEMENTS)); spelling++)
        for (size_t i = 0; i < COUNT(everywhere); i++) {
            const trial t = {.spelling = spelling,
                             .of_a = everywhere[i].a,
                             .of_b = everywhere[i].b,
                             .n = 50 + 30 * (int)(i % 2),
                             .nrhs = 20};
            const trial other = in_way(t, (int)((i * 5 + (size_t)spelling) % WAYS));
            try_on_device(&other);
        }
}

static tb_spelling fortran_of(tb_routine routine)
{
    tb_spelling spelling = tb_first_spelling(routine);
    while (tb_spelling_rows[spelling].is_cblas)
        spelling++;
    return spelling;
}

static const size sizes[] = {{1, 1},   {2, 3},    {31, 3},  {32, 1},  {33, 40},
                             {64, 64}, {65, 129}, {128, 1}, {129, 3}, {300, 40}};

static void of_every_size(tb_routine routine)
{
    check_random random = {seed + (uint64_t)routine};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int way = 0; way < WAYS; way++) {
            const places *places = &everywhere[check_between(&random, 0, COUNT(everywhere) - 1)];
            trial t = in_way((trial){.spelling = fortran_of(routine),
                                     .of_a = places->a,
                                     .of_b = places->b,
                                     .n = sizes[i].n,
                                     .nrhs = sizes[i].nrhs},
                             way);
            if (is_one_of_its(&t))
                try_on_device(&t);
        }
}

/* Nothing is solved; what factors is done. */
static void of_singular_matrices(tb_routine routine)
{
    static const int64_t orders[] = {1, 5, 64, 150};
    check_random random = {seed + (uint64_t)routine};
    for (size_t i = 0; i < COUNT(orders); i++)
        for (size_t place = 0; place < COUNT(everywhere); place++) {
            const trial t = {.spelling = fortran_of(routine),
                             .of_a = everywhere[place].a,
                             .of_b = everywhere[place].b,
                             .n = orders[i],
                             .nrhs = 3,
                             .singular = check_between(&random, 1, orders[i])};
            trial other = in_way(t, (int)(place + i) % WAYS);
            other.unit_diagonal = false;
            if (class_of(&t)->makes_factors || class_of(&t)->factors == TB_A_ITSELF)
                try(&other);
        }
}

/* B passes in more than one block of columns. */
static void of_many_columns(tb_routine routine)
{
    enum { EVERY = 3 };
    for (size_t i = 0; i < COUNT(everywhere); i += EVERY) {
        const trial t = {.spelling = fortran_of(routine),
                         .of_a = everywhere[i].a,
                         .of_b = everywhere[i].b,
                         .n = 40,
                         .nrhs = 2300};
        const trial other = in_way(t, (int)((i * 5 + (size_t)routine) % WAYS));
        try_on_device(&other);
    }
}

/* Factors are made all the same. */
static void of_no_columns(tb_routine routine)
{
    for (int singular = 0; singular < 2; singular++)
        for (size_t i = 0; i < COUNT(everywhere); i++) {
            const trial t = {.spelling = fortran_of(routine),
                             .of_a = everywhere[i].a,
                             .of_b = everywhere[i].b,
                             .n = 70,
                             .operation = 'N',
                             .singular = singular * 40};
            if (!singular || class_of(&t)->makes_factors || class_of(&t)->factors == TB_A_ITSELF)
                try(&t);
        }
}

static void in_all_sizes(void)
{
    for (size_t i = 0; i < COUNT(routines); i++)
        for (tb_element element = 0; element < TB_ELEMENTS; element++) {
            const tb_routine routine = (tb_routine)((int)routines[i] + (int)element);
            of_every_size(routine);
            of_singular_matrices(routine);
            of_no_columns(routine);
            of_many_columns(routine);
        }
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

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

/* One operation of a class, of all that there are: the last ones, which bring columns back, are looked at more closely. */
static void fail_everywhere(failing f)
{
    enum { CLOSELY = 30, CHILDREN = 12 };
    check_random random = {seed};
    char text[200];
    f.trial.script = "";
    describe(&f.trial, text);
    const child_end whole = child_run(fail_once, &f, CHILD_SECONDS);
    const long all = *operations;
    CHECK(whole == CHILD_RIGHT && all > 0, "%s, %ld operations: %s", text, all, child_end_text(whole));
    for (long operation = 1; operation <= all;
         operation += check_between(&random, 1, operation < all - CLOSELY ? 1 + 2 * all / CHILDREN : 7)) {
        char script[40];
        snprintf(script, sizeof script, "%s:%ld=%s", f.class, operation, f.failure);
        f.trial.script = script;
        const child_end end = child_run(fail_once, &f, CHILD_SECONDS);
        /* How often it is asked whether columns have come back differs from run to run. */
        CHECK(end == CHILD_RIGHT && (*failures > 0 || *operations < operation), "%s, %s: %s, %ld failures",
              text, script, child_end_text(end), *failures);
    }
}

/* Of few columns, and of some blocks of them. */
static const size failing_sizes[] = {{150, 40}, {20, 2300}};

static trial failing_trial(size_t number, size_t class, size_t size)
{
    const trial t = {
        .spelling = fortran_of((tb_routine)((int)routines[class] + (int)((number + class) % TB_ELEMENTS))),
        .n = failing_sizes[size].n,
        .nrhs = failing_sizes[size].nrhs};
    return in_way(t, (int)((number * 5 + class) % WAYS));
}

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (size_t class = 0; class < COUNT(routines); class ++)
            fail_everywhere((failing){.trial = failing_trial(i, class, (i + class) % COUNT(failing_sizes)),
                                      .class = "any",
                                      .failure = ways[i]});
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "copy", "launch"};
    static const places there[] = {{TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
                                   {TB_MEMORY_DEVICE, TB_MEMORY_HOST},
                                   {TB_MEMORY_HOST, TB_MEMORY_DEVICE}};
    for (size_t i = 0; i < COUNT(classes); i++)
        for (size_t class = i % 2; class < COUNT(routines); class += 2) {
            trial t = failing_trial(i, class, (i / 2 + class / 2) % COUNT(failing_sizes));
            t.of_a = there[(i + 2 * class) % COUNT(there)].a;
            t.of_b = there[(i + 2 * class) % COUNT(there)].b;
            fail_everywhere((failing){
                .trial = t, .class = classes[i], .failure = (i / 2 + class) % 2 ? "memory" : "unsupported"});
        }
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
    if (strcmp(program, "failures") == 0) {
        by_panels = true;
        fail_in_host_memory();
        fail_in_device_memory();
        return check_result();
    }
    force_device();
    for (size_t i = 0; i < COUNT(routines) && strcmp(program, "names") == 0; i++)
        by_every_name(routines[i]);
    if (strcmp(program, "names") != 0)
        in_all_sizes();
    return check_result();
}
