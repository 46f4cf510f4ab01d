/* POTRF's panel on the host (block.h), by the real launch function. L is drawn, the block is the triangle of L L', and L has to come
 * back. Where entries of L are small integers all sums, quotients and roots are exact, and so is the comparison; elsewhere an entry of
 * L L' errs by what the theory of the factorization allows. All else keeps its bits, and is NaN, so that it shows where it is read: the
 * other triangle, what lies between columns and around the block, and the block itself where it has no factor.
 */
#include "kernels/panels/launch_panel.h"
#include "kernels/panels/panel.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"

#include <float.h>
#include <math.h>

enum { MOST = TB_POTRF_ORDER, FURTHER = 40, LARGEST = 9, ROUNDED = 12, SET_ALREADY = -1010 };

static const int64_t orders[] = {1, 2, 31, 63, MOST};

static int launches;

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    launches++;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol)) {
        CHECK(blocks == 1, "%lld blocks", (long long)blocks);
        emulated_run(kernel, blocks, 1, threads, shared_bytes, argument);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    return TB_OK;
}

static tb_status launch(const tb_factor *block, int64_t position, int64_t *info)
{
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};
    return tb_launch_panel(&launcher, block, position, info);
}

/* ---- A block ------------------------------------------------------------------------------------------------ */

typedef struct block {
    tb_factor factor;
    memory memory;
    double l[MOST + 1][MOST + 1]; /* L; the rest is 0 */
    char what[128];
} block;

/* Where the lower triangle's number of that row and column is, whichever is stored. */
static double *at(const block *x, int64_t row, int64_t column)
{
    const tb_matrix *a = &x->factor.a;
    return (double *)a->data + (x->factor.stored == TB_LOWER ? row + column * a->ld : column + row * a->ld);
}

/* Sums of at most so many small integers, or so many roundings. */
static double product_of(const block *x, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t k = 0; k <= column; k++)
        sum += x->l[row][k] * x->l[column][k];
    return sum;
}

/* Memory for the block, which ends where none may be touched, and L L' there. */
static void make(block *x, tb_triangle stored, int64_t order, int64_t ld, bool integers, check_random *random)
{
    *x = (block){.factor = tb_potrf(TB_DPOTRF, stored, order, NULL, ld, NULL)};
    snprintf(x->what, sizeof x->what, "order %lld, ld %lld, %s, %s", (long long)order, (long long)ld,
             stored == TB_LOWER ? "lower" : "upper", integers ? "integers" : "any numbers");
    x->memory = guarded((size_t)(ld * (order - 1) + order) * sizeof(double));
    x->factor.a.data = x->memory.start;
    for (int64_t i = 0; i < order; i++)
        for (int64_t j = 0; j <= i; j++)
            x->l[i][j] = integers ? (double)check_between(random, i == j ? 1 : -LARGEST, LARGEST)
                         : i == j ? 1 + fabs((double)check_uniform(random))
                                  : (double)check_uniform(random);
    for (int64_t i = 0; i < order; i++)
        for (int64_t j = 0; j <= i; j++)
            *at(x, i, j) = product_of(x, i, j);
}

static size_t bytes_of(const block *x)
{
    return (size_t)(guard_of(&x->memory) - x->memory.pages);
}

/* The triangle's numbers are put back; whether then all is as before. */
static bool kept_the_rest(const block *x, const char *before)
{
    for (int64_t i = 0; i < x->factor.n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double *const here = at(x, i, j);
            memcpy(here, before + ((char *)here - x->memory.pages), sizeof *here);
        }
    return memcmp(before, x->memory.pages, bytes_of(x)) == 0;
}

/* Launches it; what else is in device memory beside the info keeps its value, too. Returns the info. */
static int64_t factor(const block *x, int64_t position, int64_t info)
{
    int64_t infos[] = {SET_ALREADY - 1, info, SET_ALREADY - 2};
    const int before = launches;
    CHECK(launch(&x->factor, position, &infos[1]) == TB_OK && launches == before + 1, "%s: not one launch",
          x->what);
    CHECK(infos[0] == SET_ALREADY - 1 && infos[2] == SET_ALREADY - 2, "%s: written beside the info", x->what);
    return infos[1];
}

/* ---- Factors ------------------------------------------------------------------------------------------------ */

/* What an entry of L L' may err by if each of its products, sums and quotients is rounded, and the root: Higham, Accuracy and
 * Stability of Numerical Algorithms, theorem 10.3, with |L| |L'| as it was drawn and twice as it is found. */
static double allowed(const double found[MOST][MOST], const block *x, int64_t row, int64_t column)
{
    const double roundings = (double)(column + 2) * DBL_EPSILON / 2;
    double drawn = 0, there = 0;
    for (int64_t k = 0; k <= column; k++) {
        drawn += fabs(x->l[row][k] * x->l[column][k]);
        there += fabs(found[row][k] * found[column][k]);
    }
    return roundings * (drawn + 2 * there);
}

static void check_factor(const block *x, const char *before, bool integers)
{
    double found[MOST][MOST];
    for (int64_t i = 0; i < x->factor.n; i++)
        for (int64_t j = 0; j <= i; j++)
            found[i][j] = *at(x, i, j);
    bool good = true;
    for (int64_t i = 0; i < x->factor.n && good; i++)
        for (int64_t j = 0; j <= i && good; j++) {
            long double off = *(const double *)(before + ((char *)at(x, i, j) - x->memory.pages));
            for (int64_t k = 0; k <= j; k++)
                off -= (long double)found[i][k] * found[j][k];
            good = CHECK(!integers || found[i][j] == x->l[i][j], "%s: L(%lld, %lld) is %g, not %g", x->what,
                         (long long)i, (long long)j, found[i][j], x->l[i][j]) &&
                   CHECK(fabsl(off) <= allowed(found, x, i, j) && found[j][j] > 0,
                         "%s: L L' is off by %Lg at (%lld, %lld)", x->what, off, (long long)i, (long long)j);
        }
}

static void one_factor(tb_triangle stored, int64_t order, int64_t ld, bool integers, check_random *random)
{
    static block x;
    make(&x, stored, order, ld, integers, random);
    char *const before = malloc(bytes_of(&x));
    memcpy(before, x.memory.pages, bytes_of(&x));
    const int64_t info = factor(&x, check_between(random, 0, 1000), 0);
    CHECK(info == 0, "%s: info is %lld", x.what, (long long)info);
    check_factor(&x, before, integers);
    CHECK(kept_the_rest(&x, before), "%s: written outside of the triangle", x.what);
    free(before);
    release(&x.memory);
}

/* The last pivot may be infinite: it is positive, and LAPACK's own routine goes on, too. */
static void an_infinite_pivot_is_one(tb_triangle stored, check_random *random)
{
    static block x;
    make(&x, stored, 31, 33, true, random);
    *at(&x, 30, 30) = INFINITY;
    CHECK(factor(&x, 0, 0) == 0 && *at(&x, 30, 30) == (double)INFINITY && *at(&x, 29, 29) == x.l[29][29],
          "%s: an infinite pivot became %g", x.what, *at(&x, 30, 30));
    release(&x.memory);
}

/* L of order 2 at that number of the memory. */
static void one_of_two(memory *memory, int64_t first, tb_triangle stored, int64_t ld, const char *what)
{
    block x = {.factor = tb_potrf(TB_DPOTRF, stored, 2, (double *)memory->start + first, ld, NULL)};
    snprintf(x.what, sizeof x.what, "%s, %s", what, stored == TB_LOWER ? "lower" : "upper");
    *at(&x, 0, 0) = 9;
    *at(&x, 1, 0) = 6;
    *at(&x, 1, 1) = 20;
    CHECK(factor(&x, 0, 0) == 0 && *at(&x, 0, 0) == 3 && *at(&x, 1, 0) == 2 && *at(&x, 1, 1) == 4,
          "%s: %g, %g and %g", x.what, *at(&x, 0, 0), *at(&x, 1, 0), *at(&x, 1, 1));
}

/* More elements apart than 32 bits count: of all that memory a few pages are touched. */
static void columns_may_lie_far_apart(tb_triangle stored)
{
    const int64_t ld = (INT64_C(1) << 31) + 8;
    memory memory = untouched((size_t)(ld + 2) * sizeof(double));
    one_of_two(&memory, 0, stored, ld, "columns far apart");
    release(&memory);
}

/* Another thread of the program may be writing there: what is written back, even as it was, would be lost for that. Here it is the page
 * between those of the triangle. */
static void the_other_triangle_is_not_touched(tb_triangle stored)
{
    const int64_t numbers = GUARD_BYTES / (int64_t)sizeof(double);
    memory memory = untouched(3 * GUARD_BYTES);
    mprotect(memory.start + GUARD_BYTES, GUARD_BYTES, PROT_NONE);
    one_of_two(&memory, numbers - (stored == TB_LOWER ? 2 : 1), stored, numbers + 1, "the other triangle");
    release(&memory);
}

/* ---- Blocks that have none ---------------------------------------------------------------------------------- */

/* Launches a block that is to stay as it is. Returns the info. */
static int64_t left_alone(const block *x, int64_t position, int64_t info)
{
    char *const before = malloc(bytes_of(x));
    memcpy(before, x->memory.pages, bytes_of(x));
    const int64_t found = factor(x, position, info);
    CHECK(memcmp(before, x->memory.pages, bytes_of(x)) == 0, "%s: not as it was", x->what);
    free(before);
    return found;
}

/* The pivot of that column is this number when it is its turn. */
static void a_pivot_is_not_positive(block *x, int64_t column, double pivot, int64_t position)
{
    double *const there = at(x, column, column), before = *there;
    *there = before - x->l[column][column] * x->l[column][column] + pivot;
    const int64_t info = left_alone(x, position, 0);
    CHECK(info == position + column + 1, "%s: pivot %g at column %lld, position %lld: info is %lld", x->what,
          pivot, (long long)column, (long long)position, (long long)info);
    CHECK(left_alone(x, position, SET_ALREADY) == SET_ALREADY, "%s: a second failure counts", x->what);
    *there = before;
}

/* A number below the diagonal that is none is first seen in its row's pivot. */
static void a_number_is_none(block *x, int64_t row, int64_t column)
{
    double *const there = at(x, row, column), before = *there;
    *there = (double)NAN;
    const int64_t info = left_alone(x, 0, 0);
    CHECK(info == row + 1, "%s: NaN at (%lld, %lld): info is %lld", x->what, (long long)row,
          (long long)column, (long long)info);
    *there = before;
}

static void a_block_without_factor_stays(tb_triangle stored, int64_t order, check_random *random)
{
    static const double pivots[] = {0, -1, (double)NAN, (double)-INFINITY};
    static const int64_t positions[] = {0, 1, 192, INT64_C(1) << 40};
    static block x;
    make(&x, stored, order, order + 5, true, random);
    const int64_t columns[] = {0, order / 2, order - 1};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t j = 0; j < sizeof pivots / sizeof *pivots; j++) {
            a_pivot_is_not_positive(&x, columns[i], pivots[j], CHECK_PICK(random, positions));
            if (columns[i] > 0)
                a_number_is_none(&x, columns[i], check_between(random, 0, columns[i] - 1));
        }
    CHECK(left_alone(&x, 64, 7) == 7 && left_alone(&x, 64, SET_ALREADY) == SET_ALREADY,
          "%s: factored, or info set anew, though it was set", x.what);
    release(&x.memory);
}

/* What no panel does is refused before anything is launched. */
static void others_are_refused(tb_triangle stored, check_random *random)
{
    static block x;
    int64_t info = 0;
    make(&x, stored, MOST + 1, MOST + 1, true, random);
    const int before = launches;
    CHECK(tb_panel_order(TB_DPOTRF) == MOST && launch(&x.factor, 0, &info) == TB_UNSUPPORTED,
          "order %d is not refused", MOST + 1);
    x.factor.n = 1;
    for (int routine = 0; routine < TB_ROUTINES; routine++) {
        x.factor.routine = (tb_routine)routine;
        if (routine != TB_DPOTRF)
            CHECK(tb_panel_order(x.factor.routine) == 0 && launch(&x.factor, 0, &info) == TB_UNSUPPORTED,
                  "%s has panels", tb_routine_rows[routine].name);
    }
    CHECK(launches == before && info == 0, "what is refused is launched");
    release(&x.memory);
}

int main(void)
{
    check_random random = {check_seed()};
    for (int stored = 0; stored < 2; stored++) {
        const tb_triangle triangle = stored ? TB_UPPER : TB_LOWER;
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            emulated_seed(check_next(&random));
            one_factor(triangle, orders[i], orders[i], true, &random);
            one_factor(triangle, orders[i], orders[i] + check_between(&random, 1, FURTHER), true, &random);
            a_block_without_factor_stays(triangle, orders[i], &random);
        }
        for (int i = 0; i < ROUNDED; i++) {
            emulated_seed(check_next(&random));
            const int64_t order = check_between(&random, 1, MOST);
            one_factor(triangle, order, order + check_between(&random, 0, FURTHER), i % 2, &random);
        }
        an_infinite_pivot_is_one(triangle, &random);
        columns_may_lie_far_apart(triangle);
        the_other_triangle_is_not_touched(triangle);
        others_are_refused(triangle, &random);
    }
    return check_result();
}
