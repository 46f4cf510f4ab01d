/* ORMQR and UNMQR, by every name and in every kind of memory, however they fail: what the program finds is its matrix times Q, and what
 * failed has left the host what it goes on with.
 *
 *   ormqr names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "lib/call/finish_factor.h"
#include "tests/known_ormqr.h"
#include "tests/sim/failing_trials.h"

/* The linker puts this in front of tb_slot_bytes: what comes back does so in many pieces. */
size_t __wrap_tb_slot_bytes(void);
size_t __wrap_tb_slot_bytes(void)
{
    return (size_t)64 << 10;
}

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

static void try_on_device(const trial *t)
{
    const long launches = sim_operations("launch");
    const bool is_empty = t->m == 0 || t->n == 0 || t->k == 0;
    char text[200];
    finished_by_host = 0;
    try(t);
    describe(t, text);
    CHECK(finished_by_host == 0 && (is_empty || sim_operations("launch") > launches), "%s: the host did it",
          text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct places {
    tb_memory a, c;
} places;

static const places everywhere[] = {
    {TB_MEMORY_HOST, TB_MEMORY_HOST},       {TB_MEMORY_PINNED, TB_MEMORY_PINNED},
    {TB_MEMORY_MANAGED, TB_MEMORY_MANAGED}, {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_HOST},     {TB_MEMORY_HOST, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_PINNED},   {TB_MEMORY_MANAGED, TB_MEMORY_DEVICE}};

/* Q's order, how many of C's columns or rows it is applied to, and reflectors. */
typedef struct size {
    int64_t order, others, k;
} size;

/* Which side, and which operation. */
enum { WAYS = 4 };

static trial trial_of(tb_spelling spelling, places places, size size, int way)
{
    const bool right = way % 2;
    return (trial){.spelling = spelling,
                   .of_a = places.a,
                   .of_c = places.c,
                   .right = right,
                   .transposed = way / 2,
                   .m = right ? size.others : size.order,
                   .n = right ? size.order : size.others,
                   .k = size.k};
}

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SORMQR); spelling < tb_first_spelling(TB_ZUNMQR + 1);
         spelling++)
        for (size_t i = 0; i < COUNT(everywhere); i++) {
            const trial t = trial_of(spelling, everywhere[i], (size){90 + (int64_t)i, 70, 60},
                                     (int)((i + (size_t)spelling) % WAYS));
            try_on_device(&t);
        }
}

static const tb_spelling spellings[] = {TB_SPELLING_sormqr_, TB_SPELLING_dormqr_, TB_SPELLING_cunmqr_,
                                        TB_SPELLING_zunmqr_};

static const size sizes[] = {{1, 1, 1},       {2, 3, 1},      {40, 1, 1},       {1, 50, 1},
                             {33, 32, 20},    {65, 64, 64},   {129, 300, 128},  {300, 40, 300},
                             {300, 200, 140}, {500, 70, 129}, {200, 1100, 140}, {150, 2100, 150},
                             {64, 64, 0},     {300, 0, 70}};

static void of_every_size(tb_spelling spelling)
{
    check_random random = {seed + (uint64_t)spelling};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int way = 0; way < WAYS; way++) {
            const trial t = trial_of(spelling, everywhere[check_between(&random, 0, COUNT(everywhere) - 1)],
                                     sizes[i], way);
            try_on_device(&t);
        }
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

/* What is answered where nothing is read. */
typedef struct irregular {
    tb_spelling spelling;
    const char *letters;
    int64_t m, n, k, lda, ldc, lwork, info;
} irregular;

static double a[64 * 64], c[64 * 64], tau[64], work[64 * 64];

static void arguments_are_read(void)
{
    static const irregular all[] = {
        {TB_SPELLING_dormqr_, "LN", 0, 0, 0, 1, 1, 1, 0},
        {TB_SPELLING_dormqr_, "LN", 8, 4, 0, 8, 8, 4, 0},
        {TB_SPELLING_dormqr_, "RN", 0, 4, 2, 4, 1, 1, 0},
        {TB_SPELLING_dormqr_, "XX", -1, -1, -1, 1, 1, 1, -1},
        {TB_SPELLING_dormqr_, "LC", -1, 0, 0, 1, 1, 1, -2},
        {TB_SPELLING_zunmqr_, "LT", 8, 4, 2, 8, 8, 4, -2},
        {TB_SPELLING_dormqr_, "Lt", -1, -1, 0, 1, 1, 1, -3},
        {TB_SPELLING_dormqr_, "rn", 8, -1, -1, 1, 1, 1, -4},
        {TB_SPELLING_dormqr_, "LN", 8, 9, -1, 1, 1, 1, -5},
        {TB_SPELLING_dormqr_, "LN", 8, 9, 9, 1, 1, 1, -5},
        {TB_SPELLING_dormqr_, "RN", 9, 8, 9, 1, 1, 1, -5},
        {TB_SPELLING_dormqr_, "LN", 8, 4, 4, 7, 7, 1, -7},
        {TB_SPELLING_dormqr_, "RN", 8, 4, 4, 3, 7, 1, -7},
        {TB_SPELLING_dormqr_, "RT", 8, 4, 4, 4, 7, 1, -10},
        {TB_SPELLING_dormqr_, "LT", 8, 4, 4, 8, 8, 3, -12},
        {TB_SPELLING_dormqr_, "RT", 8, 4, 4, 4, 8, 7, -12},
        {TB_SPELLING_dormqr_, "LT", 8, 4, 4, 8, 8, 4, 0},
        {TB_SPELLING_zunmqr_, "RC", 8, 4, 4, 4, 8, 8, 0},
        {TB_SPELLING_LAPACKE_dormqr, "LN", 8, 4, 9, 8, 8, 0, -6},
        {TB_SPELLING_LAPACKE_dormqr_work, "LN", 8, 4, 4, 8, 8, 3, -13},
        {TB_SPELLING_dormqr_, "LN", 8, 5, 4, 8, 8, -1, 0}, /* a query, of as many as C has columns */
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const irregular *x = &all[i];
        const int64_t info =
            call_with(x->spelling, (arguments){COLUMN_MAJOR, x->letters[0], x->letters[1], x->m, x->n, x->k,
                                               a, x->lda, tau, c, x->ldc, work, x->lwork});
        CHECK(info == x->info, "%s, %d: info is %d", tb_spelling_rows[x->spelling].symbol, (int)i, (int)info);
    }
    CHECK(work[0] == 5, "a query is answered with %g", work[0]);
}

/* LAPACKE's, and not its _work function; in A, in C, and in tau, in this order. */
static void what_is_no_number_is_told(void)
{
    double *const places[] = {&tau[3], &c[9], &a[10]};
    static const int64_t infos[] = {-9, -10, -7};
    const arguments x = {COLUMN_MAJOR, 'L', 'N', 8, 4, 4, a, 8, tau, c, 8, work, 64};
    for (size_t i = 0; i < COUNT(places); i++) {
        *places[i] = (double)NAN;
        const int64_t info = call_with(TB_SPELLING_LAPACKE_dormqr, x);
        CHECK(info == infos[i], "info is %d", (int)info);
    }
    CHECK(call_with(TB_SPELLING_LAPACKE_dormqr_work, x) == 0, "_work looks");
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

/* Of few columns or rows, and of some blocks of them. */
static const size failing_sizes[] = {{200, 100, 150}, {132, 1100, 130}};

/* Of two trials of a number one is on each side, and one by each operation. */
static trial failing_trial(size_t number, int second, places places)
{
    const int way = (int)(number % 2) ^ (second ? WAYS - 1 : 0);
    const size_t i = number + (size_t)second;
    return trial_of(spellings[i % COUNT(spellings)], places,
                    failing_sizes[(number / 2 + (size_t)second) % COUNT(failing_sizes)], way);
}

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (int second = 0; second < 2; second++)
            fail_everywhere((failing){failing_trial(i, second, everywhere[0]), "any", ways[i], false});
}

/* What a device has that is lost, or is never there, nobody has any more; so it is with what is written to it half, and has Q on its right. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"copy", "allocate", "stream", "launch"};
    static const places there[] = {{TB_MEMORY_DEVICE, TB_MEMORY_HOST},
                                   {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
                                   {TB_MEMORY_HOST, TB_MEMORY_DEVICE}};
    for (size_t i = 0; i < COUNT(classes); i++)
        for (int second = 0; second < 2; second++) {
            const bool copies = i == 0;
            const size_t place = copies ? (second ? 0 : 1) : i + (size_t)second;
            fail_everywhere((failing){failing_trial(i, second, there[place % COUNT(there)]), classes[i],
                                      (i + (size_t)second) % 2 ? "memory" : "unsupported", false});
        }
}

/* What Q stands to the right of is written piece after piece, of which later ones fail. */
static void fail_between_pieces(void)
{
    static const places there = {TB_MEMORY_DEVICE, TB_MEMORY_HOST};
    const trial t = trial_of(TB_SPELLING_zunmqr_, there, failing_sizes[1], 1);
    fail_everywhere((failing){t, "copy", "unsupported", true});
}

/* ---- Alone ------------------------------------------------------------------------------------------------ */

static void alone(void)
{
    arguments_are_read();
    what_is_no_number_is_told();
    for (int on_host = 0; on_host < 2; on_host++) {
        if (on_host)
            tileblas_set_option("ROUTE", "host");
        for (size_t i = 0; i < COUNT(spellings); i++)
            for (int way = 0; way < WAYS; way++) {
                const trial t = trial_of(spellings[i], everywhere[0], (size){170, 60, 140}, way);
                (on_host ? try : try_on_device)(&t);
            }
    }
}

int main(int count, char **values)
{
    const char *program = count > 1 ? values[1] : "names";
    const bool is_alone = strcmp(program, "alone") == 0;
    seed = check_seed();
    begin_failing();
    if (!is_alone)
        dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (strcmp(program, "failures") == 0) {
        fail_in_host_memory();
        fail_in_device_memory();
        fail_between_pieces();
        return check_result();
    }
    force_device();
    if (is_alone)
        alone();
    if (strcmp(program, "names") == 0)
        by_every_name();
    for (size_t i = 0; i < COUNT(spellings) && strcmp(program, "sizes") == 0; i++)
        of_every_size(spellings[i]);
    return check_result();
}
