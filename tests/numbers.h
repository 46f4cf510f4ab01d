/* Numbers of any element, as complex ones of double precision. */
#ifndef TB_TEST_NUMBERS_H
#define TB_TEST_NUMBERS_H

#include "words/matrix.h"

#include <complex.h>
#include <math.h>

typedef double complex number;

static inline number number_at(const tb_matrix *a, int64_t i, int64_t j)
{
    const double *wide = tb_at(a, i, j);
    const float *narrow = tb_at(a, i, j);
    const bool im = tb_is_complex(a->element);
    return tb_real_of(a->element) == TB_FP64 ? CMPLX(wide[0], im ? wide[1] : 0)
                                             : CMPLX((double)narrow[0], im ? (double)narrow[1] : 0);
}

static inline void set_number(const tb_matrix *a, int64_t i, int64_t j, number x)
{
    double *wide = tb_at(a, i, j);
    float *narrow = tb_at(a, i, j);
    for (int part = 0; part < (tb_is_complex(a->element) ? 2 : 1); part++)
        if (tb_real_of(a->element) == TB_FP64)
            wide[part] = part ? cimag(x) : creal(x);
        else
            narrow[part] = (float)(part ? cimag(x) : creal(x));
}

/* The largest size; what is no number is the largest. */
static inline double largest_of(const number *x, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = cabs(x[i]) > largest || isnan(cabs(x[i])) ? cabs(x[i]) : largest;
    return largest;
}

#endif
