/* GETRF on a device, in every kind of memory: factors of fourths and fours to the last bit, and others against the bound of their rounding.
 * There is no LAPACK but ours.
 */
#include "tests/known_lu.h"

#include <complex.h>
#include <math.h>

typedef struct size {
    int64_t m, n;
} size;

static const size sizes[] = {{1, 1},     {33, 33},   {64, 64},   {31, 200},  {200, 31},
                             {257, 257}, {512, 300}, {300, 512}, {700, 700}, {5000, 40}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling spellings[] = {TB_SPELLING_sgetrf_, TB_SPELLING_dgetrf_, TB_SPELLING_cgetrf_,
                                        TB_SPELLING_zgetrf_};

static void was_on_device(const trial *t)
{
    char plan[200];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%d x %d: %s", (int)t->m,
          (int)t->n, plan);
}

static void known_factors(tb_spelling spelling)
{
    check_random random = {seed};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            trial t = {.spelling = spelling, .memory = memories[memory], .m = sizes[i].m, .n = sizes[i].n};
            t.singular = memory % 2 ? check_between(&random, 1, order_of(&t)) : 0;
            try(&t);
            was_on_device(&t);
        }
}

/* ---- Numbers that are rounded ----------------------------------------------------------------------------- */

typedef double _Complex number;

static number get(const trial *t, const void *a, int64_t i, int64_t j)
{
    return CMPLX(number_at(t, a, i, j, 0), parts_of(t) == 2 ? number_at(t, a, i, j, 1) : 0);
}

static void *draw(const trial *t, check_random *random)
{
    void *a = calloc(1, bytes_of(t));
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++)
            for (int64_t part = 0; part < parts_of(t); part++)
                set_number(t, a, i, j, part, (double)check_between(random, -1000, 1000) / 1001);
    return a;
}

static double size_of(number a, number b)
{
    return (fabs(creal(a)) + fabs(cimag(a))) * (fabs(creal(b)) + fabs(cimag(b)));
}

/* Of P' A - L U, the most of some elements, each against k u times the sum of the magnitudes of what is multiplied, k its products (Higham,
 * Accuracy and Stability of Numerical Algorithms, theorem 9.3); of complex numbers twice that. */
static double residual_of(const trial *t, const void *a, const void *lu)
{
    enum { ROWS_CHECKED = 37, COLUMNS_CHECKED = 31 };
    const tb_element element = element_of(t);
    const double roundoff = (tb_is_complex(element) ? 2 : 1) * tb_element_rows[element].roundoff;
    double most = 0;
    for (int64_t i = t->m - 1; i >= 0; i -= 1 + t->m / ROWS_CHECKED)
        for (int64_t j = t->n - 1; j >= 0; j -= 1 + t->n / COLUMNS_CHECKED) {
            const int64_t least = i < j ? i : j, products = least < order_of(t) ? least + 1 : order_of(t);
            long double _Complex sum = get(t, a, i, j);
            double magnitudes = 0;
            for (int64_t k = 0; k < products; k++) {
                const number l = i == k ? 1 : get(t, lu, i, k), u = get(t, lu, k, j);
                sum -= (long double _Complex)l * u;
                magnitudes += size_of(l, u);
            }
            const double off = (double)cabsl(sum) / magnitudes / roundoff / (double)(products + 1);
            most = off <= most ? most : off; /* NaN is the most there is */
        }
    return most;
}

/* The matrix as the pivots leave it. False where one is no row, or a number of L is larger than 1 by more than rounding. */
static bool is_pivoted(const trial *t, void *a, const int32_t *pivots, const void *lu)
{
    bool is_right = true;
    for (int64_t i = 0; i < order_of(t) && is_right; i++) {
        is_right = pivots[i] > i && pivots[i] <= t->m;
        if (is_right)
            exchange(t, a, i, pivots[i] - 1);
    }
    for (int64_t j = 0; j < order_of(t); j++)
        for (int64_t i = j + 1; i < t->m; i++)
            is_right = is_right && cabs(get(t, lu, i, j)) <= (parts_of(t) == 2 ? 1.415 : 1.000001);
    return is_right;
}

static void rounded_numbers(tb_spelling spelling)
{
    check_random random = {seed};
    static const size large[] = {{300, 300},  {1000, 1000}, {1537, 700},
                                 {700, 1537}, {3000, 3000}, {30000, 64}};
    for (size_t i = 0; i < COUNT(large); i++) {
        const trial t = {.spelling = spelling, .memory = memories[i % 4], .m = large[i].m, .n = large[i].n};
        const size_t bytes = bytes_of(&t);
        int32_t *pivots = calloc((size_t)order_of(&t), sizeof *pivots);
        void *a = draw(&t, &random), *lu = malloc(bytes), *there = arena_allocate(t.memory, bytes);
        arena_copy(there, a, bytes);
        const int64_t info = call_with(spelling, COLUMN_MAJOR, t.m, t.n, there, ld_of(&t), pivots);
        was_on_device(&t);
        arena_copy(lu, there, bytes);
        CHECK(is_pivoted(&t, a, pivots, lu), "%s, %d x %d: the pivots are wrong",
              tb_spelling_rows[spelling].symbol, (int)t.m, (int)t.n);
        const double residual = residual_of(&t, a, lu);
        CHECK(info == 0 && residual <= 1, "%s, %d x %d, %s: info %d, off by %g of the bound",
              tb_spelling_rows[spelling].symbol, (int)t.m, (int)t.n, tb_memory_text(t.memory), (int)info,
              residual);
        arena_release(t.memory, there);
        free(pivots);
        free(lu);
        free(a);
    }
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    seed = check_seed();
    force_device();
    for (size_t i = 0; i < COUNT(spellings); i++) {
        known_factors(spellings[i]);
        rounded_numbers(spellings[i]);
    }
    return check_result();
}
