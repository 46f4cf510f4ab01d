/* POTRF on a device, in every kind of memory: factors of whole numbers to the last bit, matrices that have none, and others against
 * the bound of their rounding. There is no LAPACK but ours.
 */
#include "tests/known_factor.h"

#include <math.h>

static const int64_t orders[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 200, 511, 512, 513, 700, 1100};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling spellings[] = {TB_SPELLING_spotrf_, TB_SPELLING_dpotrf_, TB_SPELLING_cpotrf_,
                                        TB_SPELLING_zpotrf_};

static void try_on_device(const trial *t)
{
    char plan[200];
    try(t);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "n = %d: %s", (int)t->n,
          plan);
}

static void whole_numbers(tb_spelling spelling)
{
    check_random random = {seed};
    for (size_t i = 0; i < COUNT(orders); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++)
            for (int lower = 0; lower < 2; lower++) {
                trial t = {.spelling = spelling, .memory = memories[memory], .n = orders[i], .lower = lower};
                try_on_device(&t);
                t.singular = check_between(&random, 1, t.n);
                try_on_device(&t);
            }
}

/* ---- Numbers that are rounded ----------------------------------------------------------------------------- */

static void *draw_definite(const trial *t, check_random *random)
{
    const int64_t n = t->n;
    const bool is_complex = tb_is_complex(element_of(t));
    void *a = calloc(1, bytes_of(t));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            const double re = (double)check_between(random, -1000, 1000) / 1001,
                         im = is_complex ? (double)check_between(random, -1000, 1000) / 1001 : 0;
            put(t, a, i, j, i == j ? re + (is_complex ? 4 : 2) * sqrt((double)n) : CMPLX(re, im));
        }
    return a;
}

static long double size_of(number a, number b)
{
    return (fabsl(creal(a)) + fabsl(cimag(a))) * (fabsl(creal(b)) + fabsl(cimag(b)));
}

/* Of A - L L', the most of some elements: each element against (n + 1) u times the sum of the magnitudes of what is multiplied
 * (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3); of complex numbers, whose parts are sums of twice as many
 * products, twice that. */
static double residual_of(const trial *t, const void *a, const void *l)
{
    enum { ROWS_CHECKED = 37, COLUMNS_CHECKED = 31 };
    const tb_element element = element_of(t);
    const double roundings =
        (tb_is_complex(element) ? 2 : 1) * tb_element_rows[element].roundoff * (double)(t->n + 1);
    double most = 0;
    for (int64_t i = t->n - 1; i >= 0; i -= 1 + t->n / ROWS_CHECKED)
        for (int64_t j = i; j >= 0; j -= 1 + i / COLUMNS_CHECKED) {
            long double _Complex sum = get(t, a, i, j);
            long double magnitudes = 0;
            for (int64_t k = 0; k <= j; k++) {
                const number left = get(t, l, i, k), right = get(t, l, j, k);
                sum -= (long double _Complex)left * conj(right);
                magnitudes += size_of(left, right);
            }
            const double off = (double)(cabsl(sum) / magnitudes / roundings);
            most = off <= most ? most : off; /* NaN is the most there is */
        }
    return most;
}

static void rounded_numbers(tb_spelling spelling)
{
    check_random random = {seed};
    static const int64_t large[] = {300, 1000, 1537, 3000};
    for (size_t i = 0; i < COUNT(large); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = {.spelling = spelling,
                             .memory = memories[memory],
                             .n = large[i],
                             .lower = (i + memory) % 2 == 0};
            const size_t bytes = bytes_of(&t);
            void *a = draw_definite(&t, &random), *l = malloc(bytes),
                 *there = arena_allocate(t.memory, bytes);
            arena_copy(there, a, bytes);
            const int64_t info = call(&t, there);
            arena_copy(l, there, bytes);
            const double residual = residual_of(&t, a, l);
            CHECK(info == 0 && residual <= 1, "%s, n = %d, %s: info %d, off by %g of the bound",
                  tb_spelling_rows[spelling].symbol, (int)t.n, tb_memory_text(t.memory), (int)info, residual);
            arena_release(t.memory, there);
            free(l);
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
        whole_numbers(spellings[i]);
        rounded_numbers(spellings[i]);
    }
    return check_result();
}
