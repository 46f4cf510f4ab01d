/* POTRF on a device, in every kind of memory: factors of whole numbers to the last bit, matrices that have none, and others against
 * the bound of their rounding. There is no LAPACK but ours.
 */
#include "tests/known_factor.h"

#include <float.h>
#include <math.h>

static const int64_t orders[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 200, 511, 512, 513, 700, 1100};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static void try_on_device(const trial *t)
{
    char plan[200];
    try(t);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "n = %d: %s", (int)t->n,
          plan);
}

static void whole_numbers(void)
{
    check_random random = {seed};
    for (size_t i = 0; i < COUNT(orders); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++)
            for (int lower = 0; lower < 2; lower++) {
                trial t = {.spelling = TB_SPELLING_dpotrf_,
                           .memory = memories[memory],
                           .n = orders[i],
                           .lower = lower};
                try_on_device(&t);
                t.singular = check_between(&random, 1, t.n);
                try_on_device(&t);
            }
}

/* ---- Numbers that are rounded ----------------------------------------------------------------------------- */

static double *draw_definite(const trial *t, check_random *random)
{
    const int64_t n = t->n;
    double *a = calloc((size_t)((n + PADDING) * n), sizeof *a);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            a[place_of(t, i, j)] =
                (double)check_between(random, -1000, 1000) / 1001 + (i == j ? 2 * sqrt((double)n) : 0);
    return a;
}

/* Of A - L L^T, the most of some rows: each element against (n + 1) u times the sum of the magnitudes of what is multiplied
 * (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3). */
static double residual_of(const trial *t, const double *a, const double *l)
{
    enum { ROWS_CHECKED = 37 };
    double most = 0;
    for (int64_t i = t->n - 1; i >= 0; i -= 1 + t->n / ROWS_CHECKED)
        for (int64_t j = 0; j <= i; j++) {
            long double sum = a[place_of(t, i, j)], magnitudes = 0;
            for (int64_t k = 0; k <= j; k++) {
                const long double term = (long double)l[place_of(t, i, k)] * l[place_of(t, j, k)];
                sum -= term;
                magnitudes += fabsl(term);
            }
            const double off =
                (double)(fabsl(sum) / magnitudes / (DBL_EPSILON / 2) / (long double)(t->n + 1));
            most = off <= most ? most : off; /* NaN is the most there is */
        }
    return most;
}

static void rounded_numbers(void)
{
    check_random random = {seed};
    static const int64_t large[] = {300, 1000, 1537, 3000};
    for (size_t i = 0; i < COUNT(large); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = {.spelling = TB_SPELLING_dpotrf_,
                             .memory = memories[memory],
                             .n = large[i],
                             .lower = (i + memory) % 2 == 0};
            const size_t bytes = sizeof(double) * (size_t)((t.n + PADDING) * t.n);
            double *a = draw_definite(&t, &random), *l = malloc(bytes),
                   *there = arena_allocate(t.memory, bytes);
            arena_copy(there, a, bytes);
            const int64_t info = call(&t, there);
            arena_copy(l, there, bytes);
            const double residual = residual_of(&t, a, l);
            CHECK(info == 0 && residual <= 1, "n = %d, %s: info %d, off by %g of the bound", (int)t.n,
                  tb_memory_text(t.memory), (int)info, residual);
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
    whole_numbers();
    rounded_numbers();
    return check_result();
}
