/* POTRF's panels on the host (block.h), by the real launch function. L is drawn, and rows below it; the block is the triangle of L L' with
 * these rows of it, and L has to come back. Where entries of L are small integers, and powers of two on its diagonal, all sums, quotients and roots are exact, and so is the
 * comparison; elsewhere an entry of L L' errs by what the theory of the factorization allows. All else keeps its bits, and is NaN, so that
 * it shows where it is read: the other triangle, what lies between columns and around the block, and the block itself where it has no
 * factor. The imaginary part of a complex matrix's diagonal may be anything, and becomes 0.
 */
#include "kernels/panels/launch_panel.h"
#include "kernels/panels/panel.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"
#include "words/integers.h"

#include <complex.h>
#include <float.h>
#include <math.h>

enum { MOST = TB_POTRF_ORDER, BELOW = 150, FURTHER = 40, LARGEST = 9, ROUNDED = 8, SET_ALREADY = -1010 };

static const int64_t orders[] = {1, 2, 15, 16, 17, 64, 113, MOST},
                     below[] = {70, 1, 32, 64, 65, 33, 1, BELOW - 1};

/* A real number is one whose imaginary part is 0. */
typedef double _Complex number;

static int launches;
static int64_t blocks_wanted;

/* Blocks run one after the other, or all at a time. */
static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    launches++;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol)) {
        CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%d bytes of shared memory", shared_bytes);
        CHECK(blocks == blocks_wanted, "%lld blocks, not %lld", (long long)blocks, (long long)blocks_wanted);
        emulated_run(kernel, blocks, launches % 2 ? 1 : (int)blocks, threads, shared_bytes, argument);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    return TB_OK;
}

/* What a launch writes down ends where none may be touched; flags are 0 before and after, and what is behind them is none of the numbers. */
static tb_status launch(const tb_factor *block, int64_t position, int64_t *info)
{
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};
    const bool alone = block->m == block->n;
    static const tb_potrf_flags none;
    const size_t bytes = tb_panel_workspace(block->routine, MOST, launcher.target);
    memory letters = guarded(bytes > 0 ? bytes : sizeof none);
    memcpy(letters.start, &none, sizeof none);
    const tb_status status = tb_launch_panel(&launcher, block, position, info, alone ? NULL : letters.start);
    CHECK(memcmp(letters.start, &none, sizeof none) == 0, "flags are left set");
    release(&letters);
    return status;
}

/* ---- A block ------------------------------------------------------------------------------------------------ */

typedef struct block {
    tb_factor factor;
    memory memory;
    int64_t order, rows;              /* rows: with those below the triangle */
    number l[MOST + BELOW][MOST + 1]; /* L; the rest is 0 */
    char what[128];
} block;

static bool is_complex(const block *x)
{
    return tb_is_complex(x->factor.a.element);
}

/* Where the lower triangle's number of that row and column is, whichever is stored. */
static void *at(const block *x, int64_t row, int64_t column)
{
    return x->factor.stored == TB_LOWER ? tb_at(&x->factor.a, row, column) : tb_at(&x->factor.a, column, row);
}

/* The number, from where it is or from a copy of that. */
static number number_in(const block *x, const void *there)
{
    const bool is_double = tb_real_of(x->factor.a.element) == TB_FP64;
    const float *narrow = there;
    const double *wide = there, re = is_double ? wide[0] : (double)narrow[0],
                 im = !is_complex(x) ? 0
                      : is_double    ? wide[1]
                                     : (double)narrow[1];
    return CMPLX(re, x->factor.stored == TB_LOWER ? im : -im);
}

static number get(const block *x, int64_t row, int64_t column)
{
    return number_in(x, at(x, row, column));
}

static void put(const block *x, int64_t row, int64_t column, number value)
{
    const double parts[] = {creal(value), x->factor.stored == TB_LOWER ? cimag(value) : -cimag(value)};
    for (int part = 0; part <= is_complex(x); part++)
        if (tb_real_of(x->factor.a.element) == TB_FP64)
            ((double *)at(x, row, column))[part] = parts[part];
        else
            ((float *)at(x, row, column))[part] = (float)parts[part];
}

/* Sums of at most so many small integers, or so many roundings. */
static number product_of(const block *x, int64_t row, int64_t column)
{
    number sum = 0;
    for (int64_t k = 0; k <= column; k++)
        sum += x->l[row][k] * conj(x->l[column][k]);
    return sum;
}

/* L is small beside its diagonal where numbers are rounded, so that rounding leaves all pivots positive. */
static double draw_part(bool integers, check_random *random)
{
    return integers ? (double)check_between(random, -LARGEST, LARGEST) : (double)check_uniform(random) / 8;
}

static number draw(const block *x, bool integers, bool on_diagonal, check_random *random)
{
    if (on_diagonal && integers)
        return (double)(1 << check_between(random, 0, 3));
    if (on_diagonal)
        return 1 + fabs((double)check_uniform(random));
    const double re = draw_part(integers, random), im = draw_part(integers, random);
    return CMPLX(re, is_complex(x) ? im : 0);
}

/* The last column of L that a row has. */
static int64_t last_of(const block *x, int64_t row)
{
    return tb_smaller(row, x->order - 1);
}

/* Memory for the block, which ends where none may be touched, and L L' there. */
static void make(block *x, tb_routine routine, tb_triangle stored, int64_t order, int64_t below,
                 int64_t further, bool integers, check_random *random)
{
    enum { MEANINGLESS = 77 };
    const int64_t rows = order + below, m = stored == TB_LOWER ? rows : order,
                  n = stored == TB_LOWER ? order : rows, ld = m + further,
                  rows_of_block =
                      tb_is_complex(tb_routine_rows[routine].element) ? TB_POTRF_ROWS_COMPLEX : TB_POTRF_ROWS;
    *x = (block){.factor = tb_potrf(routine, stored, order, NULL, ld, NULL), .order = order, .rows = rows};
    x->factor.m = x->factor.a.rows = m;
    x->factor.n = x->factor.a.columns = n;
    blocks_wanted = 1 + tb_ceil_div(below, rows_of_block);
    snprintf(x->what, sizeof x->what, "%s, order %lld, %lld below, ld %lld, %s, %s",
             tb_routine_rows[routine].name, (long long)order, (long long)below, (long long)ld,
             stored == TB_LOWER ? "lower" : "upper", integers ? "integers" : "any numbers");
    x->memory = guarded((size_t)(ld * (n - 1) + m) * tb_bytes_of(x->factor.a.element));
    x->factor.a.data = x->memory.start;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j <= last_of(x, i); j++)
            x->l[i][j] = draw(x, integers, i == j, random);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j <= last_of(x, i); j++)
            put(x, i, j, i == j ? CMPLX(creal(product_of(x, i, j)), MEANINGLESS) : product_of(x, i, j));
}

static size_t bytes_of(const block *x)
{
    return (size_t)(guard_of(&x->memory) - x->memory.pages);
}

/* The triangle's numbers are put back; whether then all is as before. */
static bool kept_the_rest(const block *x, const char *before)
{
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j <= last_of(x, i); j++) {
            char *const here = at(x, i, j);
            memcpy(here, before + (here - x->memory.pages), tb_bytes_of(x->factor.a.element));
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

static double size_of(number a, number b)
{
    return (fabs(creal(a)) + fabs(cimag(a))) * (fabs(creal(b)) + fabs(cimag(b)));
}

/* What an entry of L L' may err by if each of its products, sums and quotients is rounded, and the root: Higham, Accuracy and
 * Stability of Numerical Algorithms, theorem 10.3, with |L| |L'| as it was drawn and twice as it is found. A quotient is rounded twice,
 * for the root's reciprocal too; of complex numbers each part is a sum of twice as many products. */
static double allowed(const number found[MOST + BELOW][MOST], const block *x, int64_t row, int64_t column)
{
    const double roundings =
        (double)((is_complex(x) ? 2 : 1) * (column + 2) + 1) * tb_element_rows[x->factor.a.element].roundoff;
    double drawn = 0, there = 0;
    for (int64_t k = 0; k <= column; k++) {
        drawn += size_of(x->l[row][k], x->l[column][k]);
        there += size_of(found[row][k], found[column][k]);
    }
    return roundings * (drawn + 2 * there);
}

static void check_factor(const block *x, const char *before, bool integers)
{
    static number found[MOST + BELOW][MOST];
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j <= last_of(x, i); j++)
            found[i][j] = get(x, i, j);
    bool good = true;
    for (int64_t i = 0; i < x->rows && good; i++)
        for (int64_t j = 0; j <= last_of(x, i) && good; j++) {
            long double _Complex off = number_in(x, before + ((char *)at(x, i, j) - x->memory.pages));
            if (i == j)
                off = creall(off);
            for (int64_t k = 0; k <= j; k++)
                off -= (long double _Complex)found[i][k] * conj(found[j][k]);
            good = CHECK(!integers || found[i][j] == x->l[i][j],
                         "%s: L(%lld, %lld) is %g + %g i, not %g + %g i", x->what, (long long)i, (long long)j,
                         creal(found[i][j]), cimag(found[i][j]), creal(x->l[i][j]), cimag(x->l[i][j])) &&
                   CHECK(cabsl(off) <= allowed(found, x, i, j) && creal(found[j][j]) > 0 &&
                             cimag(found[j][j]) == 0,
                         "%s: L L' is off by %Lg at (%lld, %lld)", x->what, cabsl(off), (long long)i,
                         (long long)j);
        }
}

static void one_factor(tb_routine routine, tb_triangle stored, int64_t order, int64_t below, int64_t further,
                       bool integers, check_random *random)
{
    static block x;
    make(&x, routine, stored, order, below, further, integers, random);
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
static void an_infinite_pivot_is_one(tb_routine routine, tb_triangle stored, check_random *random)
{
    static block x;
    make(&x, routine, stored, 31, 0, 2, true, random);
    put(&x, 30, 30, (double)INFINITY);
    CHECK(factor(&x, 0, 0) == 0 && creal(get(&x, 30, 30)) == (double)INFINITY &&
              get(&x, 29, 29) == x.l[29][29],
          "%s: an infinite pivot became %g", x.what, creal(get(&x, 30, 30)));
    release(&x.memory);
}

/* L of order 2 at that place of the memory. */
static void one_of_two(tb_routine routine, char *data, tb_triangle stored, int64_t ld, const char *what)
{
    block x = {.factor = tb_potrf(routine, stored, 2, data, ld, NULL), .order = 2, .rows = 2};
    blocks_wanted = 1;
    const double im = is_complex(&x) ? 1 : 0;
    snprintf(x.what, sizeof x.what, "%s, %s, %s", tb_routine_rows[routine].name, what,
             stored == TB_LOWER ? "lower" : "upper");
    put(&x, 0, 0, 4);
    put(&x, 1, 0, CMPLX(6, 2 * im));
    put(&x, 1, 1, 25 + im);
    CHECK(factor(&x, 0, 0) == 0 && get(&x, 0, 0) == 2 && get(&x, 1, 0) == CMPLX(3, im) && get(&x, 1, 1) == 4,
          "%s: %g, %g and %g", x.what, creal(get(&x, 0, 0)), creal(get(&x, 1, 0)), creal(get(&x, 1, 1)));
}

/* More elements apart than 32 bits count: of all that memory a few pages are touched. */
static void columns_may_lie_far_apart(tb_routine routine, tb_triangle stored)
{
    const int64_t ld = (INT64_C(1) << 31) + 8;
    memory memory = untouched((size_t)(ld + 2) * tb_bytes_of(tb_routine_rows[routine].element));
    one_of_two(routine, memory.start, stored, ld, "columns far apart");
    release(&memory);
}

/* A complex number begins where a real one may. */
static void numbers_may_lie_unevenly(tb_routine routine, tb_triangle stored)
{
    memory memory = untouched(GUARD_BYTES);
    one_of_two(routine, (char *)memory.start + tb_bytes_of(tb_real_of(tb_routine_rows[routine].element)),
               stored, 3, "unevenly");
    release(&memory);
}

/* Another thread of the program may be writing there: what is written back, even as it was, would be lost for that. Here it is the page
 * between those of the triangle. */
static void the_other_triangle_is_not_touched(tb_routine routine, tb_triangle stored)
{
    const size_t bytes = tb_bytes_of(tb_routine_rows[routine].element), numbers = GUARD_BYTES / bytes;
    memory memory = untouched(3 * GUARD_BYTES);
    char *const start = memory.start;
    mprotect(start + GUARD_BYTES, GUARD_BYTES, PROT_NONE);
    one_of_two(routine, start + (numbers - (stored == TB_LOWER ? 2 : 1)) * bytes, stored,
               (int64_t)numbers + 1, "the other triangle");
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
    const number before = get(x, column, column);
    put(x, column, column, before - x->l[column][column] * x->l[column][column] + pivot);
    const int64_t info = left_alone(x, position, 0);
    CHECK(info == position + column + 1, "%s: pivot %g at column %lld, position %lld: info is %lld", x->what,
          pivot, (long long)column, (long long)position, (long long)info);
    CHECK(left_alone(x, position, SET_ALREADY) == SET_ALREADY, "%s: a second failure counts", x->what);
    put(x, column, column, before);
}

/* A number below the diagonal that is none is first seen in its row's pivot. */
static void a_number_is_none(block *x, int64_t row, int64_t column)
{
    const number before = get(x, row, column);
    put(x, row, column, is_complex(x) ? CMPLX(1, (double)NAN) : (double)NAN);
    const int64_t info = left_alone(x, 0, 0);
    CHECK(info == row + 1, "%s: NaN at (%lld, %lld): info is %lld", x->what, (long long)row,
          (long long)column, (long long)info);
    put(x, row, column, before);
}

static void a_block_without_factor_stays(tb_routine routine, tb_triangle stored, int64_t order, int64_t below,
                                         check_random *random)
{
    static const double pivots[] = {0, -1, (double)NAN, (double)-INFINITY};
    static const int64_t positions[] = {0, 1, 192, INT64_C(1) << 40};
    static block x;
    make(&x, routine, stored, order, below, 5, true, random);
    const int64_t columns[] = {0, order / 2, order - 1, check_between(random, 0, order - 1)};
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
static void others_are_refused(tb_routine routine, tb_triangle stored, check_random *random)
{
    static block x;
    int64_t info = 0;
    make(&x, routine, stored, MOST + 1, 0, 0, true, random);
    const int before = launches;
    CHECK(tb_panel_order(routine) == MOST && launch(&x.factor, 0, &info) == TB_UNSUPPORTED,
          "order %d is not refused", MOST + 1);
    x.factor.n = 1;
    for (int other = 0; other < TB_ROUTINES; other++) {
        x.factor.routine = (tb_routine)other;
        const tb_routine_class class = tb_routine_rows[other].class;
        const bool has_others = class == TB_CLASS_GETRF || class == TB_CLASS_GEQRF; /* with pivots, or tau */
        if (class != TB_CLASS_POTRF)
            CHECK((tb_panel_order(x.factor.routine) > 0) == has_others &&
                      launch(&x.factor, 0, &info) == TB_UNSUPPORTED,
                  "%s has panels", tb_routine_rows[other].name);
    }
    CHECK(launches == before && info == 0, "what is refused is launched");
    release(&x.memory);
}

static void try_routine(tb_routine routine, tb_triangle stored, check_random *random)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const int64_t order = orders[i];
        emulated_seed(check_next(random));
        one_factor(routine, stored, order, 0, 0, true, random);
        one_factor(routine, stored, order, 0, check_between(random, 1, FURTHER), true, random);
        one_factor(routine, stored, order, below[i], i % 2, true, random);
        a_block_without_factor_stays(routine, stored, order, i % 2 ? 0 : below[i], random);
    }
    for (int i = 0; i < ROUNDED; i++) {
        emulated_seed(check_next(random));
        const int64_t order = check_between(random, 1, MOST);
        one_factor(routine, stored, order, i % 4 < 2 ? 0 : check_between(random, 1, BELOW - 1),
                   check_between(random, 0, FURTHER), i % 2, random);
    }
    an_infinite_pivot_is_one(routine, stored, random);
    columns_may_lie_far_apart(routine, stored);
    numbers_may_lie_unevenly(routine, stored);
    the_other_triangle_is_not_touched(routine, stored);
    others_are_refused(routine, stored, random);
}

int main(void)
{
    static const tb_routine routines[] = {TB_SPOTRF, TB_DPOTRF, TB_CPOTRF, TB_ZPOTRF};
    check_random random = {check_seed()};
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        try_routine(routines[i], TB_LOWER, &random);
        try_routine(routines[i], TB_UPPER, &random);
    }
    return check_result();
}
