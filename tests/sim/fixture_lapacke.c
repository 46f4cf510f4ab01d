/* LAPACKE's POTRF by loops, which looks for NaN as LAPACKE does; and its solves, of one equation alone. */
#include "tests/sim/fixture_lapacke.h"

#include <math.h>
#include <stdbool.h>

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

static bool is_regular(int layout, char letter, int64_t n, int64_t lda)
{
    const bool is_triangle = letter == 'L' || letter == 'l' || letter == 'U' || letter == 'u';
    return (layout == ROW_MAJOR || layout == COLUMN_MAJOR) && is_triangle && n >= 0 && lda >= (n > 1 ? n : 1);
}

/* L's element. */
static double *at(int layout, char letter, double *a, int64_t lda, int64_t row, int64_t column)
{
    const bool lower = letter == 'L' || letter == 'l';
    return lower == (layout == COLUMN_MAJOR) ? &a[row + column * lda] : &a[column + row * lda];
}

static int64_t factor(int layout, char letter, int64_t n, double *a, int64_t lda)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            double *const here = at(layout, letter, a, lda, i, j);
            for (int64_t k = 0; k < j; k++)
                *here -= *at(layout, letter, a, lda, i, k) * *at(layout, letter, a, lda, j, k);
            if (i == j && !(*here > 0))
                return j + 1;
            *here = i == j ? sqrt(*here) : *here / *at(layout, letter, a, lda, j, j);
        }
    return 0;
}

static bool has_nan(int layout, char letter, int64_t n, double *a, int64_t lda)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            if (isnan(*at(layout, letter, a, lda, i, j)))
                return true;
    return false;
}

int64_t LAPACKE_dpotrf_work_64(int layout, char letter, int64_t n, double *a, int64_t lda)
{
    return is_regular(layout, letter, n, lda) ? factor(layout, letter, n, a, lda) : FIXTURE_IRREGULAR;
}

int64_t LAPACKE_dpotrf_64(int layout, char letter, int64_t n, double *a, int64_t lda)
{
    if (!is_regular(layout, letter, n, lda))
        return FIXTURE_IRREGULAR;
    return has_nan(layout, letter, n, a, lda) ? -4 : factor(layout, letter, n, a, lda);
}

/* ---- Solves ----------------------------------------------------------------------------------------------- */

static int64_t solve(int layout, int64_t n, int64_t nrhs, const double *a, double *b)
{
    if (layout != COLUMN_MAJOR)
        return layout == ROW_MAJOR ? FIXTURE_BY_ROWS : FIXTURE_IRREGULAR;
    if (n != 1 || nrhs != 1)
        return FIXTURE_IRREGULAR;
    b[0] /= a[0];
    return 0;
}

/* One equation needs few of the parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SOLVE(name, ...)                                                                                     \
    int64_t name(__VA_ARGS__);                                                                               \
    int64_t name(__VA_ARGS__)                                                                                \
    {                                                                                                        \
        return solve(layout, n, nrhs, a, b);                                                                 \
    }
#define SOLVE_BOTH(name, ...)                                                                                \
    SOLVE(LAPACKE_##name##_64, __VA_ARGS__)                                                                  \
    SOLVE(LAPACKE_##name##_work_64, __VA_ARGS__)
SOLVE_BOTH(dpotrs, int layout, char letter, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
           int64_t ldb)
SOLVE_BOTH(dposv, int layout, char letter, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
           int64_t ldb)
SOLVE_BOTH(dgetrs, int layout, char letter, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *pivots,
           double *b, int64_t ldb)
SOLVE_BOTH(dgesv, int layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *pivots, double *b,
           int64_t ldb)
SOLVE_BOTH(dtrtrs, int layout, char letter, char operation, char diagonal, int64_t n, int64_t nrhs, double *a,
           int64_t lda, double *b, int64_t ldb)
