/* ORMQR and UNMQR by every name and in every kind of memory: what the program finds in C is what its reflectors make of some of its columns,
 * or rows, one after the other; and all else is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_ORMQR_H
#define TB_KNOWN_ORMQR_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/numbers.h"
#include "words/factor.h"

#include <dlfcn.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, COLUMN_MAJOR = 102 };

/* C is m x n, and Q stands on its left or on its right. */
typedef struct trial {
    tb_spelling spelling;
    tb_memory of_a, of_c;
    bool right, transposed;
    int64_t m, n, k;
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[tb_spelling_rows[t->spelling].routine].element;
}

/* Of Q. */
static inline int64_t order_of(const trial *t)
{
    return t->right ? t->n : t->m;
}

/* The last PADDING rows are gaps. */
static inline tb_matrix padded(const trial *t, void *data, int64_t rows, int64_t columns)
{
    return (tb_matrix){data, rows + PADDING, columns, rows + PADDING, element_of(t)};
}

static inline tb_matrix a_of(const trial *t, void *data)
{
    return padded(t, data, order_of(t), t->k);
}

static inline tb_matrix c_of(const trial *t, void *data)
{
    return padded(t, data, t->m, t->n);
}

static inline tb_matrix tau_of(const trial *t, void *data)
{
    return (tb_matrix){data, t->k + 1, 1, t->k + 1, element_of(t)};
}

static inline void fill(const tb_matrix *matrix, check_random *random)
{
    for (int64_t j = 0; j < matrix->columns; j++)
        for (int64_t i = 0; i < matrix->rows; i++) {
            const double re = (double)check_uniform(random), im = (double)check_uniform(random);
            set_number(matrix, i, j, i >= matrix->rows - PADDING ? UNTOUCHED : CMPLX(re, im));
        }
}

static inline void *make(tb_matrix matrix)
{
    check_random random = {seed + (uint64_t)(matrix.rows * 1000 + matrix.columns)};
    matrix.data = malloc(tb_matrix_bytes(&matrix) + 1);
    fill(&matrix, &random);
    return matrix.data;
}

/* What is on the diagonal and above is no number: nobody is to read it but LAPACKE, which refuses these. */
static inline void *make_a(const trial *t)
{
    const tb_matrix a = a_of(t, make(a_of(t, NULL)));
    const tb_spelling_row *row = &tb_spelling_rows[t->spelling];
    for (int64_t j = 0; j < t->k; j++)
        for (int64_t i = 0; i <= j; i++)
            set_number(&a, i, j, row->is_cblas && !row->is_work ? 1000 : (double)NAN);
    return a.data;
}

/* A number of each reflector v that makes it unitary, and 0 of some. */
static inline void *make_tau(const trial *t, void *drawn)
{
    void *const data = malloc((size_t)(t->k + 1) * tb_bytes_of(element_of(t)));
    const tb_matrix tau = tau_of(t, data), a = a_of(t, drawn);
    for (int64_t j = 0; j <= t->k; j++) {
        double squares = 1;
        for (int64_t i = j + 1; i < order_of(t) && j < t->k; i++)
            squares += creal(number_at(&a, i, j) * conj(number_at(&a, i, j)));
        const number angle = tb_is_complex(a.element) ? CMPLX(0.8, 0.6) : 1;
        set_number(&tau, j, 0, j == t->k ? UNTOUCHED : j % 7 == 3 ? 0 : (1 + angle) / squares);
    }
    return data;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
    int layout;
    char side, operation;
    int64_t m, n, k;
    void *a;
    int64_t lda;
    void *tau, *c;
    int64_t ldc;
    void *work;
    int64_t lwork;
} arguments;

static inline int64_t call_with(tb_spelling spelling, arguments x)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    union {
        void *address;
        int64_t (*lapacke)(int, int, int, int64_t, int64_t, int64_t, void *, int64_t, void *, void *,
                           int64_t);
        int64_t (*work)(int, int, int, int64_t, int64_t, int64_t, void *, int64_t, void *, void *, int64_t,
                        void *, int64_t);
        void (*fortran)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, void *,
                        const int64_t *, void *, void *, const int64_t *, void *, const int64_t *, int64_t *,
                        size_t, size_t);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&x.side, &x.operation, &x.m, &x.n, &x.k, x.a, &x.lda, x.tau, x.c, &x.ldc, x.work,
                         &x.lwork, &info, 1, 1);
    else if (row->is_work)
        info = function.work(x.layout, x.side, x.operation, x.m, x.n, x.k, x.a, x.lda, x.tau, x.c, x.ldc,
                             x.work, x.lwork);
    else
        info = function.lapacke(x.layout, x.side, x.operation, x.m, x.n, x.k, x.a, x.lda, x.tau, x.c, x.ldc);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

static inline char operation_of(const trial *t)
{
    return !t->transposed ? 'N' : tb_is_complex(element_of(t)) ? 'c' : 'T';
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s %c%c, %d x %d, %d reflectors, %s and %s%s%s",
             tb_spelling_rows[t->spelling].symbol, t->right ? 'R' : 'L', operation_of(t), (int)t->m,
             (int)t->n, (int)t->k, tb_memory_text(t->of_a), tb_memory_text(t->of_c), t->script ? ", " : "",
             t->script ? t->script : "");
}

/* x := H x, with this tau. */
static inline void reflect(const tb_matrix *a, int64_t j, number tau, number *x)
{
    const int64_t rows = a->rows - PADDING;
    number sum = x[j];
    for (int64_t i = j + 1; i < rows; i++)
        sum += conj(number_at(a, i, j)) * x[i];
    sum *= tau;
    x[j] -= sum;
    for (int64_t i = j + 1; i < rows; i++)
        x[i] -= sum * number_at(a, i, j);
}

/* x := H1 H2 ... x, or its adjoint times x. */
static inline void reflect_all(const trial *t, const tb_matrix *a, const tb_matrix *tau, bool adjoint,
                               number *x)
{
    for (int64_t k = 0; k < t->k; k++) {
        const int64_t j = adjoint ? k : t->k - 1 - k;
        const number own = number_at(tau, j, 0);
        reflect(a, j, adjoint ? conj(own) : own, x);
    }
}

/* A column; or a row's adjoint, to which Q's other operation is applied. */
static inline void take(const trial *t, const tb_matrix *c, int64_t which, number *x)
{
    for (int64_t i = 0; i < order_of(t); i++)
        x[i] = t->right ? conj(number_at(c, which, i)) : number_at(c, i, which);
}

/* Of some of C's columns, or rows: the first and the last one, and those between at equal distances. */
static inline double how_far_off(const trial *t, const tb_matrix *before, const tb_matrix *found,
                                 const tb_matrix *a, const tb_matrix *tau)
{
    enum { LOOKED_AT = 12 };
    const int64_t order = order_of(t), all = t->right ? t->m : t->n,
                  step = all > LOOKED_AT ? (all - 1) / (LOOKED_AT - 1) : 1;
    number *const x = malloc((size_t)(2 * order + 1) * sizeof *x), *const y = x + order;
    double off = 0;
    for (int64_t which = 0; which < all; which += step) {
        take(t, before, which, x);
        take(t, found, which, y);
        reflect_all(t, a, tau, t->transposed != t->right, x);
        for (int64_t i = 0; i < order; i++)
            y[i] -= x[i];
        const double own = largest_of(y, order);
        off = own > off || isnan(own) ? own : off;
    }
    free(x);
    return off;
}

static inline void check_found(const trial *t, void *found, void *given, void *reflectors, void *factors,
                               const char *text)
{
    const tb_matrix c = c_of(t, found), before = c_of(t, given), tau = tau_of(t, reflectors),
                    a = a_of(t, factors);
    const double allowed = 30 * (double)(t->k + 10) * tb_element_rows[a.element].roundoff,
                 off = how_far_off(t, &before, &c, &a, &tau);
    int touched = number_at(&tau, t->k, 0) != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = t->m; i < c.rows; i++)
            touched += number_at(&c, i, j) != UNTOUCHED;
    CHECK(off <= allowed && touched == 0, "%s: off by %g, allowed %g; %d numbers were touched", text, off,
          allowed, touched);
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
    char text[200];
    const tb_matrix a_shape = a_of(t, NULL), c_shape = c_of(t, NULL);
    const size_t a_bytes = tb_matrix_bytes(&a_shape), c_bytes = tb_matrix_bytes(&c_shape);
    void *const drawn = make_a(t), *const tau = make_tau(t, drawn), *const a = copy_of(drawn, a_bytes),
                *const given = make(c_shape), *const c = copy_of(given, c_bytes);
    const int64_t lwork = 32 * (t->right ? t->m : t->n) + 65 * 64;
    void *const work = malloc((size_t)lwork * tb_bytes_of(element_of(t)) + 16);
    describe(t, text);
    void *const a_there = place_there(t->of_a, a, a_bytes), *const c_there = place_there(t->of_c, c, c_bytes);
    const int64_t info =
        call_with(t->spelling, (arguments){COLUMN_MAJOR, t->right ? 'R' : 'l', operation_of(t), t->m, t->n,
                                           t->k, a_there, a_shape.ld, tau, c_there, c_shape.ld, work, lwork});
    bring_back(t->of_a, a, a_there, a_bytes);
    bring_back(t->of_c, c, c_there, c_bytes);
    CHECK(info == 0, "%s: info is %d", text, (int)info);
    CHECK(memcmp(a, drawn, a_bytes) == 0, "%s: A was written", text);
    check_found(t, c, given, tau, drawn, text);
    free(work), free(c), free(given), free(a), free(tau), free(drawn);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
