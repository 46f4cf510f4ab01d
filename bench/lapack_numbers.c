#include "bench/lapack_numbers.h"

#include "bench/expect.h"
#include "bench/routine.h"

lapack_number lapack_read_number(tb_element element, const void *matrix, size_t i)
{
    const float *floats = matrix;
    const double *doubles = matrix;
    switch (element) {
    case TB_FP32:
        return (double)floats[i];
    case TB_FP64:
        return doubles[i];
    case TB_COMPLEX_FP32:
        return CMPLX((double)floats[2 * i], (double)floats[2 * i + 1]);
    default:
        return CMPLX(doubles[2 * i], doubles[2 * i + 1]);
    }
}

void lapack_write_number(tb_element element, void *matrix, size_t i, lapack_number value)
{
    const size_t stride = tb_is_complex(element) ? 2 : 1;
    const double parts[] = {creal(value), cimag(value)};
    for (size_t part = 0; part < stride; part++)
        if (tb_real_of(element) == TB_FP32)
            ((float *)matrix)[stride * i + part] = (float)parts[part];
        else
            ((double *)matrix)[stride * i + part] = parts[part];
}

lapack_check lapack_begin_check(size_t columns, size_t rows)
{
    lapack_number *vectors = calloc(columns + 3 * rows, sizeof *vectors);
    bench_expect(vectors != NULL, "no memory is left");
    bench_fill_random(TB_COMPLEX_FP64, vectors, columns);
    return (lapack_check){.columns = columns,
                          .rows = rows,
                          .x = vectors,
                          .halfway = vectors + columns,
                          .expected = vectors + columns + rows,
                          .found = vectors + columns + 2 * rows};
}

double lapack_end_check(const lapack_check *check, tb_element element, double norm)
{
    double difference = 0, largest = 0;
    for (size_t i = 0; i < check->rows; i++) {
        const double apart = lapack_size_of(check->found[i] - check->expected[i]);
        difference = isnan(apart) ? INFINITY : fmax(difference, apart);
    }
    for (size_t i = 0; i < check->columns; i++)
        largest = fmax(largest, lapack_size_of(check->x[i]));
    free(check->x);
    const double bound = (double)check->rows * norm * largest * tb_element_rows[element].roundoff,
                 residual = difference / bound;
    return isnan(residual) ? INFINITY : residual;
}

double lapack_multiply(const lapack_stored *a, const lapack_number *x, lapack_number *y)
{
    double largest = 0, *sums = calloc(a->m, sizeof *sums);
    bench_expect(sums != NULL, "no memory is left");
    for (size_t j = 0; j < a->n; j++)
        for (size_t i = 0; i < a->m; i++) {
            const lapack_number value = lapack_at(a, i, j);
            y[i] += lapack_product(value, x[j]);
            sums[i] += lapack_size_of(value);
        }
    for (size_t i = 0; i < a->m; i++)
        largest = fmax(largest, sums[i]);
    free(sums);
    return largest;
}

void lapack_multiply_adjoint(const lapack_stored *a, const lapack_number *x, lapack_number *y)
{
    for (size_t j = 0; j < a->n; j++)
        for (size_t i = 0; i < a->m; i++)
            y[j] += lapack_product(conj(lapack_at(a, i, j)), x[i]);
}

void lapack_multiply_upper(const lapack_stored *a, const lapack_number *x, lapack_number *y)
{
    for (size_t j = 0; j < a->n; j++)
        for (size_t i = 0; i <= j && i < a->m; i++)
            y[i] += lapack_product(lapack_at(a, i, j), x[j]);
}
