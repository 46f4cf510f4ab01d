/* Batches whose matrices lie as programs have them: one for all, backwards, windows that overlap, columns of several matrices by
 * turns, one matrix alone. C's whole memory is held against what one product after the other leaves, gaps included.
 *
 *     batch_layouts route=host|resident|streamed memory=host|device [few]        few: each layout by a fourth of the spellings
 */
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/conformance/batch_calls.h"

#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "lib/machine/start.h"

#include <string.h>

enum { M = 37, N = 29, K = 33, MEMBERS = 5, ROOM = 1 << 14, PARTS_MOST = 2 };

/* Where the first matrix begins, how far apart they are, and how far their columns are: in elements. */
typedef struct place {
    int64_t first, stride, ld;
} place;

typedef struct layout {
    const char *name;
    place places[3]; /* of A (M x K), B (K x N) and C (M x N), by columns */
    int64_t members;
    double beta;
} layout;

#define APART(rows, columns)                                                                                 \
    {                                                                                                        \
        0, (rows) * (columns), rows                                                                          \
    }
#define BACKWARDS(rows, columns)                                                                             \
    {                                                                                                        \
        (MEMBERS - 1) * (rows) * (columns), -(rows) * (columns), rows                                        \
    }
#define BY_TURNS(rows)                                                                                       \
    {                                                                                                        \
        0, rows, MEMBERS *(rows)                                                                             \
    }
#define BY_TURNS_BACKWARDS(rows)                                                                             \
    {                                                                                                        \
        (MEMBERS - 1) * (rows), -(rows), MEMBERS *(rows)                                                     \
    }
#define ONE(rows)                                                                                            \
    {                                                                                                        \
        0, 0, rows                                                                                           \
    }
#define WINDOWS(rows)                                                                                        \
    {                                                                                                        \
        0, rows, rows                                                                                        \
    }

static const layout layouts[] = {
    {"apart", {APART(M, K), APART(K, N), APART(M, N)}, MEMBERS, 1},
    {"backwards", {BACKWARDS(M, K), BACKWARDS(K, N), BACKWARDS(M, N)}, MEMBERS, 0},
    {"C backwards", {APART(M, K), APART(K, N), BACKWARDS(M, N)}, MEMBERS, 2},
    {"A backwards", {BACKWARDS(M, K), APART(K, N), APART(M, N)}, MEMBERS, 1},
    {"one A", {ONE(M), APART(K, N), APART(M, N)}, MEMBERS, 0},
    {"one A and B", {ONE(M), ONE(K), APART(M, N)}, MEMBERS, 1},
    {"windows", {WINDOWS(M), WINDOWS(K), APART(M, N)}, MEMBERS, 1},
    {"C by turns", {APART(M, K), APART(K, N), BY_TURNS(M)}, MEMBERS, 1},
    {"C by turns, overwritten", {APART(M, K), APART(K, N), BY_TURNS(M)}, MEMBERS, 0},
    {"all by turns", {BY_TURNS(M), BY_TURNS(K), BY_TURNS(M)}, MEMBERS, 1},
    {"by turns, backwards", {BY_TURNS_BACKWARDS(M), BY_TURNS(K), BY_TURNS_BACKWARDS(M)}, MEMBERS, 1},
    {"a single one", {{0, INT32_MIN, M}, {0, INT32_MAX, K}, {0, INT32_MIN, M}}, 1, 1},
    {"a single one at 0", {ONE(M), ONE(K), ONE(M)}, 1, 1},
};

static tb_memory memory = TB_MEMORY_HOST;

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* Whole numbers, that each order of summation gives the same of. */
static double number_at(int role, int64_t at)
{
    return (double)((at * (7 + role) + at / 11) % 9 - 4);
}

static void store(void *block, tb_element element, int64_t at, int part, double value)
{
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    if (tb_real_of(element) == TB_FP64)
        ((double *)block)[parts * at + part] = value;
    else
        ((float *)block)[parts * at + part] = (float)value;
}

static double load(const void *block, tb_element element, int64_t at, int part)
{
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    return tb_real_of(element) == TB_FP64 ? ((const double *)block)[parts * at + part]
                                          : (double)((const float *)block)[parts * at + part];
}

/* The numbers of A, B and C before it is written; and C as it has to be afterwards. */
static double numbers[3][ROOM], expected[ROOM];

/* Only real parts differ from zero. */
static void multiply_one(const layout *layout, int64_t member, double *c)
{
    const place *of = layout->places;
    const int64_t a = of[0].first + member * of[0].stride, b = of[1].first + member * of[1].stride,
                  first = of[2].first + member * of[2].stride;
    for (int64_t column = 0; column < N; column++)
        for (int64_t row = 0; row < M; row++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += numbers[0][a + row + k * of[0].ld] * numbers[1][b + k + column * of[1].ld];
            double *element = &c[first + row + column * of[2].ld];
            *element = sum + (layout->beta == 0 ? 0 : layout->beta * *element);
        }
}

static void expect_result_of(const layout *layout)
{
    memcpy(expected, numbers[2], sizeof expected);
    for (int64_t member = 0; member < layout->members; member++)
        multiply_one(layout, member, expected);
}

/* ---- One call ---------------------------------------------------------------------------------------------- */

static void check_result_of(const batch_spelling *spelling, bool row_major, const layout *layout,
                            const void *c)
{
    const tb_element element = tb_routine_rows[spelling->routine].element;
    int64_t wrong = 0, first = -1;
    for (int64_t at = 0; at < ROOM; at++)
        if (load(c, element, at, 0) != expected[at]) {
            wrong++;
            first = first < 0 ? at : first;
        }
    CHECK(wrong == 0, "%s%s, %s: %" PRId64 " elements are wrong, the first at %" PRId64 ": %g, not %g",
          spelling->name, row_major ? " by rows" : "", layout->name, wrong, first,
          first < 0 ? 0 : load(c, element, first, 0), first < 0 ? 0 : expected[first]);
}

/* Stored by rows it is the transposed product, whose A is B. */
static void run(const batch_spelling *spelling, bool row_major, const layout *layout)
{
    const tb_element element = tb_routine_rows[spelling->routine].element;
    const size_t bytes = tb_bytes_of(element), all = ROOM * bytes;
    void *blocks[3], *own = calloc(1, all), *lists[3][MEMBERS];
    for (int role = 0; role < 3; role++) {
        for (int64_t at = 0; at < ROOM; at++)
            store(own, element, at, 0, numbers[role][at]);
        blocks[role] = arena_allocate(memory, all);
        arena_copy(blocks[role], own, all);
        for (int64_t member = 0; member < layout->members; member++)
            lists[role][member] =
                (char *)blocks[role] +
                (layout->places[role].first + member * layout->places[role].stride) * (int64_t)bytes;
    }
    const int left = row_major ? 1 : 0, right = 1 - left;
    const batch_group group = {
        .transpose_a = 'N',
        .transpose_b = 'N',
        .m = row_major ? N : M,
        .n = row_major ? M : N,
        .k = K,
        .lda = layout->places[left].ld,
        .ldb = layout->places[right].ld,
        .ldc = layout->places[2].ld,
        .alpha = {1, 0},
        .beta = {layout->beta, 0},
        .strides = {layout->places[left].stride, layout->places[right].stride, layout->places[2].stride},
        .size = layout->members};
    CHECK(batch_call(spelling, row_major, &group, 1, (const void *const *)lists[left],
                     (const void *const *)lists[right], lists[2]),
          "%s is not exported", spelling->name);
    arena_copy(own, blocks[2], all);
    check_result_of(spelling, row_major, layout, own);
    for (int role = 0; role < 3; role++)
        arena_release(memory, blocks[role]);
    free(own);
}

int main(int count, char **arguments)
{
    int apart = 1;
    for (int i = 1; i < count; i++)
        if (strncmp(arguments[i], "route=", 6) == 0)
            tileblas_set_option("ROUTE", arguments[i] + 6);
        else if (strcmp(arguments[i], "memory=device") == 0)
            memory = TB_MEMORY_DEVICE;
        else if (strcmp(arguments[i], "few") == 0)
            apart = 4;
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL);
    for (int role = 0; role < 3; role++)
        for (int64_t at = 0; at < ROOM; at++)
            numbers[role][at] = number_at(role, at);
    for (int l = 0; l < (int)(sizeof layouts / sizeof *layouts); l++) {
        expect_result_of(&layouts[l]);
        for (int64_t i = l % apart; i < batch_spelling_count(); i += apart)
            for (int row_major = 0; row_major < (batch_spelling_numbered(i)->fortran ? 1 : 2); row_major++)
                run(batch_spelling_numbered(i), row_major, &layouts[l]);
    }
    return check_result();
}
