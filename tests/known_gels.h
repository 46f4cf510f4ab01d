/* GELS by every name and in every kind of memory: what the program finds are least squares, or least solutions, and the factors; and what is
 * not of the matrices is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_GELS_H
#define TB_KNOWN_GELS_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/numbers.h"
#include "words/factor.h"
#include "words/integers.h"

#include <dlfcn.h>
#include <float.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, COLUMN_MAJOR = 102 };

typedef struct trial {
    tb_spelling spelling;
    tb_memory of_a, of_b;
    bool transposed;
    int64_t m, n, nrhs;
    int64_t zeros;         /* the column, from 1, of the tall matrix that is all zeros; 0: none */
    double size_a, size_b; /* what numbers are multiplied with; 0 counts as 1 */
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[tb_spelling_rows[t->spelling].routine].element;
}

static inline tb_matrix padded(const trial *t, void *data, int64_t rows, int64_t columns)
{
    return (tb_matrix){data, rows + PADDING, columns, rows + PADDING, element_of(t)};
}

static inline tb_matrix a_of(const trial *t, void *data)
{
    return padded(t, data, t->m, t->n);
}

static inline tb_matrix b_of(const trial *t, void *data)
{
    return padded(t, data, tb_larger(t->m, t->n), t->nrhs);
}

/* The tall one of A and its adjoint. */
static inline bool is_tall(const trial *t)
{
    return t->m >= t->n;
}

static inline int64_t rows_of(const trial *t)
{
    return tb_larger(t->m, t->n);
}

static inline int64_t order_of(const trial *t)
{
    return tb_smaller(t->m, t->n);
}

/* As they would be if nothing were multiplied with anything. */
static inline double size_in(double size)
{
    return size == 0 ? 1 : size;
}

static inline number tall_at(const trial *t, const tb_matrix *a, int64_t i, int64_t j)
{
    return (is_tall(t) ? number_at(a, i, j) : conj(number_at(a, j, i))) / size_in(t->size_a);
}

static inline number given_at(const trial *t, const tb_matrix *b, int64_t i, int64_t j)
{
    return number_at(b, i, j) / size_in(t->size_b);
}

static inline number found_at(const trial *t, const tb_matrix *b, int64_t i, int64_t j)
{
    return number_at(b, i, j) / size_in(t->size_b) * size_in(t->size_a);
}

static inline bool has_least_squares(const trial *t)
{
    return t->transposed != is_tall(t);
}

static inline void *make(const trial *t, tb_matrix matrix, bool of_a)
{
    check_random random = {seed + (uint64_t)(matrix.rows * 1000 + matrix.columns + of_a)};
    const double by = size_in(of_a ? t->size_a : t->size_b);
    matrix.data = malloc(tb_matrix_bytes(&matrix) + 1);
    for (int64_t j = 0; j < matrix.columns; j++)
        for (int64_t i = 0; i < matrix.rows; i++) {
            const double re = (double)check_uniform(&random), im = (double)check_uniform(&random);
            const number x = CMPLX(re, im) + (of_a && i == j ? 2 * sqrt((double)rows_of(t)) : 0);
            const bool is_zero = of_a && (is_tall(t) ? j : i) == t->zeros - 1;
            set_number(&matrix, i, j, i >= matrix.rows - PADDING ? UNTOUCHED : is_zero ? 0 : by * x);
        }
    return matrix.data;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
    int layout;
    char operation;
    int64_t m, n, nrhs;
    void *a;
    int64_t lda;
    void *b;
    int64_t ldb;
    void *work;
    int64_t lwork;
} arguments;

static inline int64_t call_with(tb_spelling spelling, arguments x)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    union {
        void *address;
        int64_t (*lapacke)(int, int, int64_t, int64_t, int64_t, void *, int64_t, void *, int64_t);
        int64_t (*work)(int, int, int64_t, int64_t, int64_t, void *, int64_t, void *, int64_t, void *,
                        int64_t);
        void (*fortran)(const char *, const int64_t *, const int64_t *, const int64_t *, void *,
                        const int64_t *, void *, const int64_t *, void *, const int64_t *, int64_t *, size_t);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&x.operation, &x.m, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, x.work, &x.lwork, &info,
                         1);
    else if (row->is_work)
        info =
            function.work(x.layout, x.operation, x.m, x.n, x.nrhs, x.a, x.lda, x.b, x.ldb, x.work, x.lwork);
    else
        info = function.lapacke(x.layout, x.operation, x.m, x.n, x.nrhs, x.a, x.lda, x.b, x.ldb);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

static inline char operation_of(const trial *t)
{
    return !t->transposed ? 'n' : tb_is_complex(element_of(t)) ? 'C' : 'T';
}

static inline void describe(const trial *t, char text[static 240])
{
    snprintf(text, 240, "%s %c, %d x %d, %d columns, %s and %s, times %g and %g, zeros in %d%s%s",
             tb_spelling_rows[t->spelling].symbol, operation_of(t), (int)t->m, (int)t->n, (int)t->nrhs,
             tb_memory_text(t->of_a), tb_memory_text(t->of_b), t->size_a, t->size_b, (int)t->zeros,
             t->script ? ", " : "", t->script ? t->script : "");
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

/* y := F x, or F' x. */
static inline void multiply(const trial *t, const tb_matrix *a, bool adjoint, const number *x, number *y)
{
    const int64_t rows = rows_of(t), order = order_of(t);
    memset(y, 0, (size_t)(adjoint ? order : rows) * sizeof *y);
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i < rows; i++) {
            const number f = tall_at(t, a, i, j);
            if (adjoint)
                y[j] += conj(f) * x[i];
            else
                y[i] += f * x[j];
        }
}

static inline double length_of(const number *x, int64_t n)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += creal(x[i] * conj(x[i]));
    return sqrt(squares);
}

/* Of F, about. */
static inline double size_of(const trial *t)
{
    return 4 * sqrt((double)rows_of(t));
}

/* What is left of x behind the space of F's columns, which are made orthogonal one by one. */
static inline double left_behind(const trial *t, const tb_matrix *a, number *x)
{
    const int64_t rows = rows_of(t), order = order_of(t);
    number *const q = malloc((size_t)(rows * order + 1) * sizeof *q);
    for (int64_t j = 0; j <= order; j++) {
        number *const own = j < order ? q + j * rows : x;
        for (int64_t i = 0; i < rows && j < order; i++)
            own[i] = tall_at(t, a, i, j) / size_of(t);
        for (int twice = 0; twice < 2; twice++)
            for (int64_t k = 0; k < j; k++) {
                number sum = 0;
                for (int64_t i = 0; i < rows; i++)
                    sum += conj(q[k * rows + i]) * own[i];
                for (int64_t i = 0; i < rows; i++)
                    own[i] -= sum * q[k * rows + i];
            }
        const double length = length_of(own, rows);
        for (int64_t i = 0; i < rows && j < order; i++)
            own[i] /= length;
    }
    free(q);
    return length_of(x, rows);
}

static inline bool is_scaled(const trial *t)
{
    return t->size_a != 0 || t->size_b != 0;
}

/* Of one column: how much is wrong, as part of what is multiplied. */
static inline double how_wrong(const trial *t, const tb_matrix *a, const tb_matrix *given,
                               const tb_matrix *found, int64_t column)
{
    const int64_t rows = rows_of(t), order = order_of(t);
    number *const x = calloc((size_t)(3 * rows + 1), sizeof *x), *const y = x + rows, *const z = y + rows;
    double wrong;
    for (int64_t i = 0; i < rows; i++)
        x[i] = found_at(t, found, i, column);
    if (has_least_squares(t)) {
        multiply(t, a, false, x, y);
        for (int64_t i = 0; i < rows; i++)
            y[i] = given_at(t, given, i, column) - y[i];
        multiply(t, a, true, y, z);
        const double left = length_of(y, rows),
                     told = is_scaled(t) ? left : length_of(x + order, rows - order),
                     all = size_of(t) * length_of(x, order);
        wrong = length_of(z, order) / (size_of(t) * (left + all)) + fabs(left - told) / (left + all);
    } else {
        const double size = length_of(x, rows);
        multiply(t, a, true, x, y);
        for (int64_t i = 0; i < order; i++)
            y[i] -= given_at(t, given, i, column);
        wrong = length_of(y, order) / (size_of(t) * size) + left_behind(t, a, x) / size;
    }
    free(x);
    return wrong;
}

/* LAPACK leaves factors of what it has scaled A to. */
static inline double scaled_by(const trial *t, const tb_matrix *a)
{
    const bool is_wide = tb_real_of(a->element) == TB_FP64;
    const double small = is_wide ? DBL_MIN / DBL_EPSILON : (double)FLT_MIN / FLT_EPSILON;
    double largest = 0;
    for (int64_t j = 0; j < order_of(t); j++)
        for (int64_t i = 0; i < rows_of(t); i++)
            largest = fmax(largest, cabs(is_tall(t) ? number_at(a, i, j) : number_at(a, j, i)));
    return largest < small ? small / largest : largest > 1 / small ? 1 / small / largest : 1;
}

/* R' R is F' F. */
static inline double how_wrong_are_factors(const trial *t, const tb_matrix *a, const tb_matrix *factors)
{
    const int64_t rows = rows_of(t), order = order_of(t);
    const double by = scaled_by(t, a);
    number *const x = calloc((size_t)(4 * rows + 1), sizeof *x), *const y = x + rows, *const z = y + rows,
                  *const w = z + rows;
    for (int64_t j = 0; j < order; j++)
        x[j] = (double)(j % 5 - 2);
    multiply(t, a, false, x, y);
    multiply(t, a, true, y, z);
    memset(y, 0, (size_t)rows * sizeof *y);
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i <= j; i++)
            y[i] += tall_at(t, factors, i, j) / by * x[j];
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i <= j; i++)
            w[j] += conj(tall_at(t, factors, i, j)) / by * y[i];
    for (int64_t j = 0; j < order; j++)
        w[j] -= z[j];
    const double wrong = length_of(w, order) / (size_of(t) * size_of(t) * (length_of(x, order) + 1));
    free(x);
    return wrong;
}

static inline int count_touched(const tb_matrix *matrix)
{
    int touched = 0;
    for (int64_t j = 0; j < matrix->columns; j++)
        for (int64_t i = matrix->rows - PADDING; i < matrix->rows; i++)
            touched += number_at(matrix, i, j) != UNTOUCHED;
    return touched;
}

static inline void check_found(const trial *t, void *drawn, void *factored, void *right, void *solved,
                               const char *text)
{
    enum { LOOKED_AT = 6 };
    const tb_matrix a = a_of(t, drawn), factors = a_of(t, factored), given = b_of(t, right),
                    found = b_of(t, solved);
    const double allowed = 10 * (double)(order_of(t) + 10) * tb_element_rows[a.element].roundoff;
    const int64_t step = t->nrhs > LOOKED_AT ? (t->nrhs - 1) / (LOOKED_AT - 1) : 1;
    double wrong = how_wrong_are_factors(t, &a, &factors);
    CHECK(wrong <= allowed, "%s: factors are wrong by %g, allowed %g", text, wrong, allowed);
    for (int64_t column = 0; column < t->nrhs && t->zeros == 0; column += step) {
        const double own = how_wrong(t, &a, &given, &found, column);
        wrong = own > wrong || isnan(own) ? own : wrong;
    }
    CHECK(wrong <= allowed && count_touched(&factors) + count_touched(&found) == 0,
          "%s: wrong by %g, allowed %g; %d numbers were touched", text, wrong, allowed,
          count_touched(&factors) + count_touched(&found));
}

static inline void *place_there(tb_memory memory, void *data, size_t bytes)
{
    if (memory == TB_MEMORY_HOST)
        return data;
    void *there = arena_allocate(memory, bytes + 1);
    arena_copy(there, data, bytes);
    return there;
}

static inline void bring_back(tb_memory memory, void *data, void *there, size_t bytes)
{
    if (memory == TB_MEMORY_HOST)
        return;
    arena_copy(data, there, bytes);
    arena_release(memory, there);
}

static inline void *copy_of(const void *data, size_t bytes)
{
    void *const copy = malloc(bytes + 1);
    memcpy(copy, data, bytes);
    return copy;
}

static inline void try(const trial *t)
{
    char text[240];
    const tb_matrix a_shape = a_of(t, NULL), b_shape = b_of(t, NULL);
    const size_t a_bytes = tb_matrix_bytes(&a_shape), b_bytes = tb_matrix_bytes(&b_shape);
    void *const drawn = make(t, a_shape, true), *const a = copy_of(drawn, a_bytes),
                *const given = make(t, b_shape, false), *const b = copy_of(given, b_bytes);
    const int64_t lwork = order_of(t) + 32 * tb_larger(order_of(t), t->nrhs) + 65 * 64;
    void *const work = malloc((size_t)lwork * tb_bytes_of(element_of(t)) + 16);
    describe(t, text);
    void *const a_there = place_there(t->of_a, a, a_bytes), *const b_there = place_there(t->of_b, b, b_bytes);
    const int64_t info =
        call_with(t->spelling, (arguments){COLUMN_MAJOR, operation_of(t), t->m, t->n, t->nrhs, a_there,
                                           a_shape.ld, b_there, b_shape.ld, work, lwork});
    bring_back(t->of_a, a, a_there, a_bytes);
    bring_back(t->of_b, b, b_there, b_bytes);
    CHECK(info == t->zeros, "%s: info is %d", text, (int)info);
    check_found(t, drawn, a, given, b, text);
    free(work), free(b), free(given), free(a), free(drawn);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
