/* Matrices of any element as loops take them, with gaps between columns, and reflectors; and how QR and Q are judged. Header only.
 */
#ifndef TB_REFLECTED_H
#define TB_REFLECTED_H

#include "lib/call/portable_qr.h"
#include "tests/check.h"
#include "words/factor.h"
#include "words/integers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 0x5a };

typedef struct number {
    double re, im;
} number;

static inline number get(const tb_matrix *a, int64_t i, int64_t j)
{
    const double *wide = tb_at(a, i, j);
    const float *narrow = tb_at(a, i, j);
    const bool im = tb_is_complex(a->element);
    return tb_real_of(a->element) == TB_FP64 ? (number){wide[0], im ? wide[1] : 0}
                                             : (number){(double)narrow[0], im ? (double)narrow[1] : 0};
}

static inline void put(const tb_matrix *a, int64_t i, int64_t j, number x)
{
    double *wide = tb_at(a, i, j);
    float *narrow = tb_at(a, i, j);
    for (int part = 0; part < (tb_is_complex(a->element) ? 2 : 1); part++)
        if (tb_real_of(a->element) == TB_FP64)
            wide[part] = part ? x.im : x.re;
        else
            narrow[part] = (float)(part ? x.im : x.re);
}

/* sum += x y, or x' y */
static inline void add(number *sum, number x, number y, bool conjugated)
{
    const double im = conjugated ? -x.im : x.im;
    sum->re += x.re * y.re - im * y.im;
    sum->im += x.re * y.im + im * y.re;
}

static inline size_t bytes_of(const tb_matrix *a)
{
    return (size_t)(a->ld * a->columns) * tb_bytes_of(a->element);
}

static inline tb_matrix make_matrix(tb_element element, int64_t rows, int64_t columns, int64_t ld)
{
    tb_matrix a = {.rows = rows, .columns = columns, .ld = ld, .element = element};
    a.data = malloc(bytes_of(&a) + 1);
    memset(a.data, GAP, bytes_of(&a));
    return a;
}

static inline tb_matrix copy_of(const tb_matrix *a)
{
    tb_matrix copy = *a;
    copy.data = malloc(bytes_of(a) + 1);
    memcpy(copy.data, a->data, bytes_of(a));
    return copy;
}

static inline void fill(const tb_matrix *a, check_random *random)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            put(a, i, j, (number){(double)check_uniform(random), (double)check_uniform(random)});
}

static inline number v_at(const tb_matrix *factors, int64_t i, int64_t j)
{
    return i == j ? (number){1, 0} : get(factors, i, j);
}

/* A column, of m numbers, by H of column j. */
static inline void reflect(const tb_matrix *factors, int64_t j, number tau, number *column)
{
    number sum = {0, 0}, by = {0, 0};
    for (int64_t i = j; i < factors->rows; i++)
        add(&sum, v_at(factors, i, j), column[i], true);
    add(&by, tau, sum, false);
    by = (number){-by.re, -by.im};
    for (int64_t i = j; i < factors->rows; i++)
        add(&column[i], v_at(factors, i, j), by, false);
}

/* ---- What is found ------------------------------------------------------------------------------------------ */

/* What lies between columns is as it was. */
static inline bool has_gaps(const tb_matrix *a)
{
    bool gaps = true;
    for (int64_t j = 0; j < a->columns; j++)
        for (const char *gap = tb_at(a, a->rows, j); gap < (const char *)tb_at(a, 0, j + 1); gap++)
            gaps = gaps && *gap == GAP;
    return gaps;
}

static inline void check_unitary(const tb_matrix *factors, const tb_matrix *tau, double allowed)
{
    const int64_t order = tb_smaller(factors->rows, factors->columns);
    for (int64_t j = 0; j < order; j++) {
        const number own = get(tau, j, 0);
        double squares = 0;
        for (int64_t i = j; i < factors->rows; i++) {
            const number v = v_at(factors, i, j);
            squares += v.re * v.re + v.im * v.im;
        }
        const double off = fabs((own.re * own.re + own.im * own.im) * squares - 2 * own.re);
        CHECK(off <= allowed && get(factors, j, j).im == 0, "reflector %d is off by %g, allowed %g", (int)j,
              off, allowed);
    }
}

/* Q R is A, and what lies between columns is as it was. */
static inline void check_factors(const tb_matrix *factors, const tb_matrix *before, const tb_matrix *tau,
                                 const char *what)
{
    const int64_t m = factors->rows, n = factors->columns, order = tb_smaller(m, n);
    const double allowed = 30 * (double)(order + 10) * tb_element_rows[factors->element].roundoff;
    number *const column = malloc((size_t)m * sizeof *column);
    double worst = 0;
    check_unitary(factors, tau, allowed);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            column[i] = i <= j ? get(factors, i, j) : (number){0, 0};
        for (int64_t k = order - 1; k >= 0; k--)
            reflect(factors, k, get(tau, k, 0), column);
        double off = 0, size = 1;
        for (int64_t i = 0; i < m; i++) {
            const number x = get(before, i, j);
            off = fmax(off, hypot(column[i].re - x.re, column[i].im - x.im));
            size = fmax(size, hypot(x.re, x.im));
        }
        worst = fmax(worst, off / size);
    }
    const bool gaps = has_gaps(factors);
    CHECK(worst <= allowed && gaps, "%s, %d x %d of element %d: off by %g, allowed %g%s", what, (int)m,
          (int)n, (int)factors->element, worst, allowed, gaps ? "" : "; gaps were written");
    free(column);
}

/* ---- Q -------------------------------------------------------------------------------------------------------- */

/* Holds it against H1 H2 ..., which is Q. */
static inline void check_q(const tb_matrix *found, const tb_matrix *factors, const tb_matrix *tau,
                           const char *what)
{
    const int64_t m = found->rows, n = found->columns, order = tau->rows;
    const double allowed = 10 * (double)(order + 10) * tb_element_rows[found->element].roundoff;
    number *const column = malloc((size_t)m * sizeof *column);
    double worst = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            column[i] = (number){i == j, 0};
        for (int64_t k = tb_smaller(j + 1, order) - 1; k >= 0; k--)
            reflect(factors, k, get(tau, k, 0), column);
        for (int64_t i = 0; i < m; i++) {
            const number x = get(found, i, j);
            const double off = hypot(column[i].re - x.re, column[i].im - x.im);
            worst = off > worst || isnan(off) ? off : worst;
        }
    }
    const bool gaps = has_gaps(found);
    CHECK(worst <= allowed && gaps, "%s, %d x %d of %d reflectors, element %d: off by %g, allowed %g%s", what,
          (int)m, (int)n, (int)order, (int)found->element, worst, allowed, gaps ? "" : "; gaps were written");
    free(column);
}

/* Those of numbers; one of a column of zeros, and one that has a v and no tau. All that is not theirs is no number. */
static inline void make_reflectors(const tb_matrix *a, const tb_matrix *tau, check_random *random)
{
    const int64_t order = tau->rows;
    tb_factor factored = tb_geqrf((tb_routine)((int)TB_SGEQRF + (int)a->element), a->rows, order, a->data,
                                  a->ld, tau->data, NULL);
    fill(a, random);
    for (int64_t i = 0; i < a->rows && order > 2; i++)
        put(a, i, order / 2, (number){0, 0});
    if (order > 0)
        tb_reflect_by_loops(&factored);
    if (order > 4)
        put(tau, order / 3, 0, (number){0, 0});
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < (j < order ? j + 1 : a->rows); i++)
            put(a, i, j, (number){(double)NAN, (double)NAN});
}

#endif
