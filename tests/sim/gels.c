/* GELS, by every name and in every kind of memory, however it fails: what the program finds are least squares, or least solutions. A device
 * finds those of matrices in host memory that have as many rows as columns, or more.
 *
 *   gels names | sizes | failures | alone
 *
 * alone: there is no LAPACK but ours.
 */
#include "lib/call/finish_factor.h"
#include "tests/known_gels.h"
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

static void try_where_it_belongs(const trial *t)
{
    const long launches = sim_operations("launch");
    const bool belongs_there = t->of_a != TB_MEMORY_DEVICE && t->of_b != TB_MEMORY_DEVICE && !t->transposed &&
                               t->m >= t->n && t->nrhs > 0 && !is_scaled(t);
    char text[240];
    finished_by_host = 0;
    try(t);
    describe(t, text);
    CHECK(!belongs_there || (finished_by_host == 0 && sim_operations("launch") > launches),
          "%s: the host did it", text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

typedef struct places {
    tb_memory a, b;
} places;

static const places everywhere[] = {{TB_MEMORY_HOST, TB_MEMORY_HOST},
                                    {TB_MEMORY_PINNED, TB_MEMORY_PINNED},
                                    {TB_MEMORY_MANAGED, TB_MEMORY_HOST},
                                    {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
                                    {TB_MEMORY_HOST, TB_MEMORY_DEVICE}};

typedef struct size {
    int64_t m, n, nrhs;
} size;

static trial trial_of(tb_spelling spelling, places places, size size, bool transposed)
{
    return (trial){.spelling = spelling,
                   .of_a = places.a,
                   .of_b = places.b,
                   .transposed = transposed,
                   .m = size.m,
                   .n = size.n,
                   .nrhs = size.nrhs};
}

static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SGELS); spelling < tb_first_spelling(TB_ZGELS + 1);
         spelling++)
        for (size_t i = 0; i < COUNT(everywhere); i++) {
            const trial t = trial_of(spelling, everywhere[i], (size){90 + (int64_t)i, 60, 7}, false);
            try_where_it_belongs(&t);
        }
}

static const tb_spelling spellings[] = {TB_SPELLING_sgels_, TB_SPELLING_dgels_, TB_SPELLING_cgels_,
                                        TB_SPELLING_zgels_};

static const size sizes[] = {{1, 1, 1},     {2, 1, 3},     {40, 1, 1},       {1, 5, 2},
                             {33, 20, 4},   {65, 64, 70},  {20, 33, 4},      {128, 128, 2},
                             {300, 140, 5}, {129, 150, 3}, {140, 129, 1100}, {50, 20, 0}};

static void of_every_size(tb_spelling spelling)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int transposed = 0; transposed < 2; transposed++)
            for (size_t place = 0; place < COUNT(everywhere); place++) {
                trial t = trial_of(spelling, everywhere[place], sizes[i], transposed);
                const bool is_large = t.m * t.n * (t.nrhs + 1) > 500000;
                if (is_large && (place > 0 || transposed || spelling % 2))
                    continue;
                if (t.nrhs > 0)
                    try_where_it_belongs(&t);
                t.zeros = tb_smaller(t.m, t.n) / 2 + 1;
                if (t.nrhs > 0 && !is_large && tb_smaller(t.m, t.n) > 1) /* else A is zeros */
                    try_where_it_belongs(&t);
            }
}

/* What LAPACK scales first. */
static void of_every_magnitude(tb_spelling spelling)
{
    const bool is_wide = tb_real_of(tb_routine_rows[tb_spelling_rows[spelling].routine].element) == TB_FP64;
    const double least = is_wide ? 1e-299 : 1e-33, most = is_wide ? 1e296 : 1e34;
    const struct {
        double a, b;
    } pairs[] = {{least, 1}, {least, least}, {1, least}, {most, 1}, {most, most}, {1, most}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            trial t = trial_of(spelling, everywhere[0], (size){40, 30, 2}, transposed);
            t.size_a = pairs[i].a;
            t.size_b = pairs[i].b;
            try_where_it_belongs(&t);
        }
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

typedef struct irregular {
    tb_spelling spelling;
    char operation;
    int64_t m, n, nrhs, lda, ldb, lwork, info;
} irregular;

static double a[64 * 64], b[64 * 64], work[64 * 64];

static void arguments_are_read(void)
{
    static const irregular all[] = {
        {TB_SPELLING_dgels_, 'N', 0, 0, 0, 1, 1, 1, 0},
        {TB_SPELLING_dgels_, 'X', -1, 0, 0, 1, 1, 1, -1},
        {TB_SPELLING_dgels_, 'C', -1, 0, 0, 1, 1, 1, -1},
        {TB_SPELLING_zgels_, 'T', -1, 0, 0, 1, 1, 1, -1},
        {TB_SPELLING_dgels_, 't', -1, -1, 0, 1, 1, 1, -2},
        {TB_SPELLING_dgels_, 'n', 1, -1, -1, 1, 1, 1, -3},
        {TB_SPELLING_dgels_, 'N', 4, 4, -1, 1, 1, 1, -4},
        {TB_SPELLING_dgels_, 'N', 4, 3, 1, 3, 3, 1, -6},
        {TB_SPELLING_dgels_, 'N', 4, 5, 1, 4, 4, 1, -8},
        {TB_SPELLING_dgels_, 'N', 5, 4, 6, 5, 5, 9, -10},
        {TB_SPELLING_LAPACKE_dgels, 'N', 4, 5, 1, 4, 4, 0, -9},
        {TB_SPELLING_LAPACKE_dgels_work, 'N', 5, 4, 6, 5, 5, 9, -11},
        {TB_SPELLING_dgels_, 'N', 5, 4, 6, 5, 5, -1, 0}, /* a query */
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const irregular *x = &all[i];
        const int64_t info =
            call_with(x->spelling, (arguments){COLUMN_MAJOR, x->operation, x->m, x->n, x->nrhs, a, x->lda, b,
                                               x->ldb, work, x->lwork});
        CHECK(info == x->info, "%s, %d: info is %d", tb_spelling_rows[x->spelling].symbol, (int)i, (int)info);
    }
    CHECK(work[0] == 10, "a query is answered with %g", work[0]);
}

/* Of nothing, and of zeros: zeros, of as many rows as either has. */
static void nothing_has_zeros(void)
{
    static const size empty[] = {{0, 5, 3}, {5, 0, 3}, {6, 5, 3}, {5, 6, 3}};
    for (size_t i = 0; i < COUNT(empty); i++) {
        const arguments x = {COLUMN_MAJOR, 'N', empty[i].m, empty[i].n, 3, a, 6, b, 7, work, 64};
        memset(a, 0, sizeof a);
        for (int k = 0; k < 21; k++)
            b[k] = 5;
        const int64_t info = call_with(TB_SPELLING_dgels_, x);
        const int64_t rows = tb_larger(x.m, x.n);
        bool right = info == 0;
        for (int k = 0; k < 21; k++)
            right = right && b[k] == (k % 7 < rows ? 0 : 5);
        CHECK(right, "%d x %d: info is %d, or B is not zeros", (int)x.m, (int)x.n, (int)info);
    }
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    static const size failing_sizes[] = {{200, 150, 40}, {140, 130, 300}};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (int zeros = 0; zeros < 2; zeros++) {
            trial t = trial_of(spellings[(i + (size_t)zeros) % COUNT(spellings)], everywhere[0],
                               failing_sizes[(i / 2 + (size_t)zeros) % COUNT(failing_sizes)], false);
            t.zeros = zeros * 70;
            fail_everywhere((failing){t, "any", ways[i], false});
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
        return check_result();
    }
    force_device();
    if (strcmp(program, "names") == 0)
        by_every_name();
    else
        for (size_t i = 0; i < COUNT(spellings); i++) {
            of_every_size(spellings[i]);
            of_every_magnitude(spellings[i]);
        }
    if (is_alone) {
        arguments_are_read();
        nothing_has_zeros();
    }
    return check_result();
}
