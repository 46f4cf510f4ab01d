/* POTRI, GETRI, TRTRI and LAUUM, by every name and in every kind of memory, however they fail: what the program finds is the inverse, or the
 * triangle's square, and what failed has left A as it was for the host.
 *
 *   inverse names | sizes | failures | others | alone
 *
 * others: what is not the routine's other threads write meanwhile. alone: there is no LAPACK but ours.
 */
#include "lib/streaming/passing.h"
#include "tests/known_inverse.h"
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
    CHECK(t->zero || sim_operations("launch") > launches, "%s: the host did it", text);
}

/* ---- Programs --------------------------------------------------------------------------------------------- */

static const int64_t sizes[] = {1, 2, 31, 32, 33, 64, 127, 128, 129, 200, 300, 1100};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

/* LAPACKE turns round itself what is row-major and has pivots. */
static void by_every_name(void)
{
    for (tb_spelling spelling = tb_first_spelling(TB_SPOTRI); spelling < tb_first_spelling(TB_ZLAUUM + 1);
         spelling++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            trial t = {.spelling = spelling, .memory = memories[memory], .n = 90, .upper = memory % 2 == 1};
            t.unit = class_of(&t) == TB_CLASS_TRTRI && memory >= 2;
            t.row_major = tb_spelling_rows[spelling].is_cblas && !has_pivots(&t) && memory < 2;
            try_on_device(&t);
        }
}

static const tb_spelling spellings[] = {
    TB_SPELLING_spotri_, TB_SPELLING_dpotri_, TB_SPELLING_cpotri_, TB_SPELLING_zpotri_,
    TB_SPELLING_sgetri_, TB_SPELLING_dgetri_, TB_SPELLING_cgetri_, TB_SPELLING_zgetri_,
    TB_SPELLING_strtri_, TB_SPELLING_dtrtri_, TB_SPELLING_ctrtri_, TB_SPELLING_ztrtri_,
    TB_SPELLING_slauum_, TB_SPELLING_dlauum_, TB_SPELLING_clauum_, TB_SPELLING_zlauum_};

/* Large ones in one kind of memory each. */
static void of_every_size(tb_spelling spelling)
{
    enum { LARGE = 300 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            trial t = {
                .spelling = spelling, .memory = memories[memory], .n = sizes[i], .upper = (i + memory) % 2};
            if (t.n > LARGE &&
                (memory != (size_t)spelling % COUNT(memories) || tb_is_complex(element_of(&t))))
                continue;
            t.unit = class_of(&t) == TB_CLASS_TRTRI && i % 3 == 1;
            try_on_device(&t);
            t.zero = class_of(&t) == TB_CLASS_LAUUM || t.unit ? 0 : 1 + (t.n - 1) * (int64_t)(memory % 2);
            if (t.zero)
                try_on_device(&t);
        }
}

/* ---- Beside others ---------------------------------------------------------------------------------------- */

enum { WRITTEN = 4711 };

/* What is written before columns come back: all that is not the routine's. */
static const trial *beside;
static bool finishing_fails;
static tb_matrix written;

static void write_others(void)
{
    for (int64_t j = 0; j < written.columns; j++)
        for (int64_t i = 0; i < written.rows; i++)
            if (!is_its_own(beside, i, j))
                set_number(&written, i, j, WRITTEN);
}

/* The linker puts this in front of tb_finish_columns. */
tb_status __real_tb_finish_columns(tb_passing *passing, int64_t columns);
tb_status __wrap_tb_finish_columns(tb_passing *passing, int64_t columns);

tb_status __wrap_tb_finish_columns(tb_passing *passing, int64_t columns)
{
    if (beside)
        write_others();
    const tb_status status = __real_tb_finish_columns(passing, columns);
    return beside && finishing_fails ? TB_UNSUPPORTED : status;
}

/* Of some sizes the last column of a triangle without its diagonal comes back, or passes, by itself. */
static void beside_others(trial t, bool fails)
{
    char text[200];
    void *const a = make_matrix(&t);
    int64_t lost = 0;
    describe(&t, text);
    written = matrix_of(&t, a);
    beside = &t;
    finishing_fails = fails;
    const int64_t info = call_with(t.spelling, (arguments){.letter = t.upper ? 'U' : 'L',
                                                           .diagonal = t.unit ? 'U' : 'N',
                                                           .n = t.n,
                                                           .a = a,
                                                           .ld = written.ld});
    beside = NULL;
    for (int64_t j = 0; j < t.n; j++)
        for (int64_t i = 0; i < written.rows; i++)
            lost += !is_its_own(&t, i, j) && number_at(&written, i, j) != WRITTEN;
    CHECK(info == 0 && lost == 0, "%s: info is %d, %d numbers of others' are lost", text, (int)info,
          (int)lost);
    free(a);
}

static void beside_others_of_every_kind(void)
{
    static const tb_spelling triangles[] = {TB_SPELLING_dtrtri_, TB_SPELLING_ctrtri_, TB_SPELLING_spotri_,
                                            TB_SPELLING_zlauum_};
    for (size_t i = 0; i < COUNT(triangles); i++)
        for (int way = 0; way < 4; way++) {
            trial t = {.spelling = triangles[i], .n = 300, .upper = way % 2, .unit = way / 2};
            t.unit = t.unit && class_of(&t) == TB_CLASS_TRTRI;
            beside_others(t, false);
            beside_others(t, true);
            t.n = 1;
            beside_others(t, false);
        }
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

/* What is answered where nothing is read. */
typedef struct irregular {
    tb_spelling spelling;
    char letter, diagonal;
    int64_t n, ld, lwork, info;
} irregular;

static void arguments_are_read(void)
{
    static double a[64 * 64], work[64];
    static int64_t pivots[64];
    static const irregular all[] = {
        {TB_SPELLING_dpotri_, 'L', 'N', 0, 1, 0, 0},
        {TB_SPELLING_dpotri_, 'X', 'N', 8, 8, 0, -1},
        {TB_SPELLING_dpotri_, 'L', 'N', -1, 8, 0, -2},
        {TB_SPELLING_dlauum_, 'U', 'N', 8, 7, 0, -4},
        {TB_SPELLING_dtrtri_, 'X', 'N', 8, 8, 0, -1},
        {TB_SPELLING_dtrtri_, 'U', 'X', 8, 8, 0, -2},
        {TB_SPELLING_dtrtri_, 'U', 'U', -1, 8, 0, -3},
        {TB_SPELLING_dtrtri_, 'L', 'N', 8, 7, 0, -5},
        {TB_SPELLING_dtrtri_, 'L', 'N', 0, 1, 0, 0},
        {TB_SPELLING_dgetri_, 'L', 'N', 0, 1, 1, 0},
        {TB_SPELLING_dgetri_, 'L', 'N', -1, 8, 8, -1},
        {TB_SPELLING_dgetri_, 'L', 'N', 8, 7, 8, -3},
        {TB_SPELLING_dgetri_, 'L', 'N', 8, 8, 7, -6},
        {TB_SPELLING_dgetri_, 'L', 'N', 8, 8, -1, 0},
        {TB_SPELLING_LAPACKE_dtrtri, 'U', 'X', 8, 8, 0, -3},
        {TB_SPELLING_LAPACKE_dgetri_work, 'L', 'N', 8, 7, 8, -4},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const irregular *x = &all[i];
        const int64_t info = call_with(x->spelling, (arguments){COLUMN_MAJOR, x->letter, x->diagonal, x->n, a,
                                                                x->ld, pivots, work, x->lwork});
        CHECK(info == x->info, "%s, %d: info is %d", tb_spelling_rows[x->spelling].symbol, (int)i, (int)info);
    }
    CHECK(work[0] >= 8, "a query is answered with %g", work[0]);
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

static void fail_in_host_memory(void)
{
    static const char *const ways[] = {"memory", "lost", "fault", "unsupported"};
    for (size_t i = 0; i < COUNT(spellings); i += 5 - i / 10)
        for (size_t way = i % 2; way < COUNT(ways); way += 2)
            fail_everywhere(
                (failing){.trial = {.spelling = spellings[i], .n = 400 - 20 * (int64_t)i, .upper = i % 2},
                          .class = "any",
                          .failure = ways[way]});
}

/* What a device has that is lost, or is never there, nobody has any more. */
static void fail_in_device_memory(void)
{
    static const char *const classes[] = {"allocate", "stream", "launch"};
    for (size_t i = 0; i < COUNT(classes); i++)
        fail_everywhere(
            (failing){.trial = {.spelling = spellings[5 * i + 1], .n = 150, .memory = TB_MEMORY_DEVICE},
                      .class = classes[i],
                      .failure = i % 2 ? "memory" : "unsupported"});
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
    for (size_t i = 0; i < COUNT(spellings) && strcmp(program, "sizes") == 0; i++)
        of_every_size(spellings[i]);
    for (size_t i = 0; i < COUNT(spellings) && is_alone; i++)
        try_on_device(&(trial){.spelling = spellings[i], .n = 150});
    for (size_t i = 0; i < COUNT(spellings) && is_alone; i++) {
        trial t = {.spelling = spellings[i], .n = 150, .upper = i % 2};
        tileblas_set_option("ROUTE", "host");
        t.unit = class_of(&t) == TB_CLASS_TRTRI && i / 2 % 2;
        try(&t);
    }
    if (strcmp(program, "others") == 0)
        beside_others_of_every_kind();
    if (strcmp(program, "failures") == 0) {
        fail_in_host_memory();
        fail_in_device_memory();
    }
    return check_result();
}
