#include "lib/call/scaling.h"

#include <float.h>
#include <math.h>
#include <string.h>

tb_scaled_range tb_scaled_range_of(tb_element element)
{
    const double small =
        tb_real_of(element) == TB_FP64 ? DBL_MIN / DBL_EPSILON : (double)FLT_MIN / FLT_EPSILON;
    return (tb_scaled_range){small, 1 / small};
}

/* By their bits: numbers without their signs are in the order of these, and no comparison raises an exception of the caller's. */
static double largest_double(const char *numbers, size_t count, double before)
{
    uint64_t largest, bits;
    memcpy(&largest, &before, sizeof largest);
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
        bits &= INT64_MAX;
        largest = bits > largest ? bits : largest;
    }
    memcpy(&before, &largest, sizeof largest);
    return before;
}

static float largest_float(const char *numbers, size_t count, float before)
{
    uint32_t largest, bits;
    memcpy(&largest, &before, sizeof largest);
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    memcpy(&before, &largest, sizeof largest);
    return before;
}

bool tb_is_within_range(const tb_matrix *matrix, bool may_be_zero)
{
    const tb_element real = tb_real_of(matrix->element);
    const tb_scaled_range range = tb_scaled_range_of(matrix->element);
    const size_t parts = (size_t)matrix->rows * (tb_is_complex(matrix->element) ? 2 : 1);
    double wide = 0;
    float narrow = 0;
    for (int64_t j = 0; j < matrix->columns; j++)
        if (real == TB_FP64)
            wide = largest_double(tb_at(matrix, 0, j), parts, wide);
        else
            narrow = largest_float(tb_at(matrix, 0, j), parts, narrow);
    const double largest = real == TB_FP64 ? wide : (double)narrow;
    /* A complex number is up to half as large again as its parts. */
    return (largest == 0 && may_be_zero) ||
           (isgreaterequal(largest, range.small) && islessequal(largest, range.large / 2));
}
