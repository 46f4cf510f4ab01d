/* Matrices of any element as loops take them, with gaps between columns, and reflectors. Header only.
 */
#ifndef TB_REFLECTED_H
#define TB_REFLECTED_H

#include "tests/check.h"
#include "words/matrix.h"

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

#endif
