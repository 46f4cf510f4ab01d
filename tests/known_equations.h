/* Equations whose solutions are known beforehand, and the matrices of a program that calls for them (known_solve.h).
 *
 * Solutions are small whole numbers, multiples of 4. Factors of LU are fourths below the diagonal and fours above it, 8 on it; those of
 * Cholesky's, and triangles, whole numbers, powers of 2 on the diagonal. So all numbers on the way are found again to the last bit, in
 * whatever order sums are taken.
 *
 * Header only.
 */
#ifndef TB_KNOWN_EQUATIONS_H
#define TB_KNOWN_EQUATIONS_H

#include "compat/spellings.h"
#include "tests/check.h"
#include "words/factor.h"
#include "words/place.h"

#include <complex.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, MEANINGLESS = 5, ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

/* A real number is one whose imaginary part is 0. */
typedef double _Complex number;

typedef struct trial {
    tb_spelling spelling;
    tb_memory of_a, of_b;
    int64_t n, nrhs;
    bool lower, unit_diagonal; /* where the routine has such a letter */
    char operation;            /* likewise */
    bool by_rows;
    int64_t singular; /* the pivot that is zero, from 1; 0: none */
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_routine routine_of(const trial *t)
{
    return tb_spelling_rows[t->spelling].routine;
}

static inline const tb_class_row *class_of(const trial *t)
{
    return tb_class_of(routine_of(t));
}

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[routine_of(t)].element;
}

static inline bool has_letter(const trial *t, char kind)
{
    return strchr(class_of(t)->letters, kind) != NULL;
}

static inline bool has_pivots(const trial *t)
{
    return class_of(t)->factors == TB_LU;
}

static inline int bits_of(const trial *t)
{
    return tb_spelling_rows[t->spelling].integer_bits == 64 ? 64 : 32;
}

static inline number times(number x, number y)
{
    return CMPLX(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

/* ---- Factors and solutions -------------------------------------------------------------------------------- */

static inline number draw(check_random *random, int64_t low, int64_t high, bool is_complex)
{
    const double re = (double)check_between(random, low, high);
    return CMPLX(re, is_complex ? (double)check_between(random, low, high) : 0);
}

/* On a triangle's diagonal: a power of 2, which has a sign or is imaginary. */
static inline number draw_pivot(check_random *random, bool is_complex)
{
    static const number powers[] = {1, -2, 4, 2 * I, -I};
    return powers[check_between(random, 0, is_complex ? 4 : 2)];
}

/* Of L and U in one matrix; of Cholesky's L; of a triangle in either half. */
static inline number factor_at(const trial *t, int64_t i, int64_t j)
{
    check_random random = {seed + (uint64_t)(i * 100003 + j * 2)};
    const bool is_complex = tb_is_complex(element_of(t)), is_zero = t->singular == j + 1;
    switch (class_of(t)->factors) {
    case TB_LU:
        if (is_zero && i >= j)
            return 0;
        return i == j ? 8 : draw(&random, -1, 1, is_complex) * (i < j ? 4 : 0.25);
    case TB_CHOLESKY:
        return i == j ? (number)check_between(&random, 1, 2) : draw(&random, -1, 1, is_complex);
    default:
        if (i == j)
            return is_zero ? 0 : draw_pivot(&random, is_complex);
        return draw(&random, -1, 1, is_complex);
    }
}

static inline number solution_at(const trial *t, int64_t i, int64_t j)
{
    check_random random = {seed * 7 + (uint64_t)(i * 100003 + j)};
    return 4 * draw(&random, -2, 2, tb_is_complex(element_of(t)));
}

/* The row, from 1, that each row is exchanged with; any of those below, but where the pivot is 0: then the first is taken. */
static inline int64_t pivot_of(const trial *t, int64_t i)
{
    check_random random = {seed * 31 + (uint64_t)i};
    return t->singular == i + 1 ? i + 1 : check_between(&random, i + 1, t->n);
}

/* n x n, column by column. */
typedef struct triangle {
    const number *of;
    bool lower, transposed, conjugated, unit_diagonal;
} triangle;

static inline number *make_square(int64_t n, int64_t columns)
{
    return calloc((size_t)(n * columns + 1), sizeof(number));
}

/* x := op(T) x, of each column. */
static inline void multiply(int64_t n, triangle by, number *x, int64_t columns)
{
    const bool lower = by.lower != by.transposed;
    number *const sums = make_square(n, 1);
    for (int64_t j = 0; j < columns; j++) {
        number *const column = x + j * n;
        for (int64_t i = 0; i < n; i++) {
            sums[i] = by.unit_diagonal ? column[i] : 0;
            for (int64_t k = lower ? 0 : i; k < (lower ? i + 1 : n); k++) {
                const number stored = by.transposed ? by.of[k + i * n] : by.of[i + k * n];
                if (k != i || !by.unit_diagonal)
                    sums[i] += times(by.conjugated ? conj(stored) : stored, column[k]);
            }
        }
        memcpy(column, sums, (size_t)n * sizeof *column);
    }
    free(sums);
}

static inline void exchange(const trial *t, number *x, int64_t columns, bool backwards)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t step = 0; step < t->n; step++) {
            const int64_t i = backwards ? t->n - 1 - step : step, other = pivot_of(t, i) - 1;
            const number kept = x[i + j * t->n];
            x[i + j * t->n] = x[other + j * t->n];
            x[other + j * t->n] = kept;
        }
}

/* The factors, and the matrix; kept for the trials that follow, and for children. */
typedef struct tables {
    trial made_for;
    number *factors, *product;
} tables;

static inline bool has_same_tables(const trial *x, const trial *y)
{
    return class_of(x)->factors == class_of(y)->factors && x->n == y->n && x->singular == y->singular &&
           tb_is_complex(element_of(x)) == tb_is_complex(element_of(y));
}

/* The lower triangle of L L', in which a pivot may be missing. */
static inline void square_cholesky(const trial *t, const number *l, number *product)
{
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i <= j; i++)
            product[i + j * t->n] = conj(l[j + i * t->n]);
    multiply(t->n, (triangle){.of = l, .lower = true}, product, t->n);
    if (t->singular > 0) {
        const int64_t at = (t->singular - 1) * (t->n + 1);
        product[at] -= times(l[at], l[at]);
    }
}

static inline void multiply_lu(const trial *t, const number *factors, number *product)
{
    for (int64_t j = 0; j < t->n; j++)
        memcpy(product + j * t->n, factors + j * t->n, (size_t)(j + 1) * sizeof *product);
    multiply(t->n, (triangle){.of = factors, .lower = true, .unit_diagonal = true}, product, t->n);
    exchange(t, product, t->n, true);
}

static inline const tables *tables_of(const trial *t)
{
    static tables kept;
    if (kept.factors && has_same_tables(&kept.made_for, t))
        return &kept;
    free(kept.factors);
    free(kept.product);
    kept = (tables){*t, make_square(t->n, t->n), make_square(t->n, t->n)};
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->n; i++)
            kept.factors[i + j * t->n] = factor_at(t, i, j);
    if (class_of(t)->factors == TB_CHOLESKY)
        square_cholesky(t, kept.factors, kept.product);
    else if (class_of(t)->factors == TB_LU)
        multiply_lu(t, kept.factors, kept.product);
    return &kept;
}

/* op(A) x, from the right to the left. */
static inline void multiply_solution(const trial *t, number *x)
{
    const number *factors = tables_of(t)->factors;
    const bool conjugated = has_letter(t, 'T') && t->operation == 'C',
               transposed = has_letter(t, 'T') && t->operation != 'N';
    triangle l = {factors, true, transposed, conjugated, true},
             u = {factors, false, transposed, conjugated, false};
    switch (class_of(t)->factors) {
    case TB_LU:
        if (transposed)
            exchange(t, x, t->nrhs, false);
        multiply(t->n, transposed ? l : u, x, t->nrhs);
        multiply(t->n, transposed ? u : l, x, t->nrhs);
        if (!transposed)
            exchange(t, x, t->nrhs, true);
        break;
    case TB_CHOLESKY:
        multiply(t->n, (triangle){factors, true, true, true, false}, x, t->nrhs);
        multiply(t->n, (triangle){factors, true, false, false, false}, x, t->nrhs);
        break;
    default:
        multiply(t->n, (triangle){factors, t->lower, transposed, conjugated, t->unit_diagonal}, x, t->nrhs);
    }
}

/* ---- What the program has in its memory ------------------------------------------------------------------- */

typedef struct array {
    int64_t rows, columns;
    int64_t ld, count; /* elements */
    size_t bytes;
} array;

static inline array array_of(const trial *t, int64_t columns)
{
    const int64_t ld = (t->by_rows ? columns : t->n) + PADDING, count = ld * (t->by_rows ? t->n : columns);
    return (array){t->n, columns, ld, count, (size_t)count * tb_bytes_of(element_of(t))};
}

static inline array a_of(const trial *t)
{
    return array_of(t, t->n);
}

static inline array b_of(const trial *t)
{
    return array_of(t, t->nrhs);
}

static inline number number_at(const trial *t, const void *data, int64_t place)
{
    const int64_t parts = tb_is_complex(element_of(t)) ? 2 : 1;
    const float *narrow = (const float *)data + parts * place;
    const double *wide = (const double *)data + parts * place;
    if (tb_real_of(element_of(t)) == TB_FP64)
        return CMPLX(wide[0], parts == 2 ? wide[1] : 0);
    return CMPLX(narrow[0], parts == 2 ? narrow[1] : 0);
}

static inline void set_number(const trial *t, void *data, int64_t place, number value)
{
    const int64_t parts = tb_is_complex(element_of(t)) ? 2 : 1;
    for (int64_t part = 0; part < parts; part++) {
        const double of_it = part == 0 ? creal(value) : cimag(value);
        if (tb_real_of(element_of(t)) == TB_FP64)
            ((double *)data)[parts * place + part] = of_it;
        else
            ((float *)data)[parts * place + part] = (float)of_it;
    }
}

typedef number (*number_in)(const trial *t, int64_t i, int64_t j);

static inline bool is_stored(const trial *t, int64_t i, int64_t j)
{
    return !has_letter(t, 'U') || (t->lower ? i >= j : i <= j);
}

/* L's number, or what belongs to it in the upper triangle. */
static inline number hermitian(const trial *t, const number *of, int64_t i, int64_t j)
{
    return i >= j ? of[i + j * t->n] : conj(of[j + i * t->n]);
}

static inline number factors_in_a(const trial *t, int64_t i, int64_t j)
{
    const number *factors = tables_of(t)->factors;
    if (class_of(t)->factors == TB_CHOLESKY)
        return hermitian(t, factors, i, j);
    if (i == j && t->unit_diagonal && has_letter(t, 'D'))
        return i % 2 ? MEANINGLESS : 0;
    return factors[i + j * t->n];
}

/* What is given: the imaginary part of a Hermitian matrix's diagonal may be anything. */
static inline number given_in_a(const trial *t, int64_t i, int64_t j)
{
    const number *product = tables_of(t)->product;
    if (!class_of(t)->makes_factors)
        return factors_in_a(t, i, j);
    if (class_of(t)->factors == TB_LU)
        return product[i + j * t->n];
    return hermitian(t, product, i, j) + (i == j ? CMPLX(0, MEANINGLESS) : 0);
}

static inline int64_t place_in(const trial *t, const array *array, int64_t i, int64_t j)
{
    return t->by_rows ? i * array->ld + j : i + j * array->ld;
}

static inline void *make_array(const trial *t, const array *array)
{
    void *data = malloc(array->bytes + 1);
    for (int64_t i = 0; i < array->count; i++)
        set_number(t, data, i, UNTOUCHED);
    return data;
}

static inline void *make_a(const trial *t)
{
    const array array = a_of(t);
    void *data = make_array(t, &array);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->n; i++)
            if (is_stored(t, i, j))
                set_number(t, data, place_in(t, &array, i, j), given_in_a(t, i, j));
    return data;
}

static inline void *make_b(const trial *t)
{
    const array array = b_of(t);
    void *data = make_array(t, &array);
    number *const x = make_square(t->n, t->nrhs);
    for (int64_t j = 0; j < t->nrhs; j++)
        for (int64_t i = 0; i < t->n; i++)
            x[i + j * t->n] = solution_at(t, i, j);
    multiply_solution(t, x);
    for (int64_t j = 0; j < t->nrhs; j++)
        for (int64_t i = 0; i < t->n; i++)
            set_number(t, data, place_in(t, &array, i, j), x[i + j * t->n]);
    free(x);
    return data;
}

/* With one behind them that is nobody's. */
static inline int64_t *make_pivots(const trial *t)
{
    int64_t *pivots = malloc((size_t)(t->n + 1) * sizeof *pivots);
    for (int64_t i = 0; i <= t->n; i++)
        tb_set_pivot((tb_pivots){pivots, bits_of(t)}, i,
                     i == t->n || class_of(t)->makes_factors ? UNTOUCHED : pivot_of(t, i));
    return pivots;
}

#endif
