/* POTRI, GETRI, TRTRI and LAUUM by every name and in every kind of memory: what the program finds in A's place times what A was, or was
 * factors of, is I, or for LAUUM it is the triangle's square; and what is not of the matrix is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_INVERSE_H
#define TB_KNOWN_INVERSE_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/numbers.h"
#include "words/factor.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, ROW_MAJOR = 101, COLUMN_MAJOR = 102 };

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t n;
    bool upper, unit; /* of triangles */
    bool row_major;   /* of LAPACKE's triangles */
    int64_t zero;     /* the diagonal's number, from 1, that is 0; 0: none */
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_routine routine_of(const trial *t)
{
    return tb_spelling_rows[t->spelling].routine;
}

static inline tb_routine_class class_of(const trial *t)
{
    return tb_routine_rows[routine_of(t)].class;
}

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[routine_of(t)].element;
}

static inline bool has_pivots(const trial *t)
{
    return class_of(t) == TB_CLASS_GETRI;
}

/* What is found. */
static inline bool is_hermitian(const trial *t)
{
    return class_of(t) == TB_CLASS_POTRI || class_of(t) == TB_CLASS_LAUUM;
}

static inline tb_matrix matrix_of(const trial *t, void *data)
{
    return (tb_matrix){data, t->n + PADDING, t->n, t->n + PADDING, element_of(t)};
}

static inline size_t bytes_of(const trial *t)
{
    const tb_matrix a = matrix_of(t, NULL);
    return tb_matrix_bytes(&a);
}

/* Whether the routine reads the number and writes it. */
static inline bool is_its_own(const trial *t, int64_t i, int64_t j)
{
    if (has_pivots(t))
        return i < t->n;
    return i < t->n && (t->upper ? i <= j : i >= j) && !(t->unit && i == j);
}

/* Well conditioned: small numbers beside a diagonal of 1 to 2. */
static inline void *make_matrix(const trial *t)
{
    void *const data = malloc(bytes_of(t) + 1);
    const tb_matrix a = matrix_of(t, data);
    check_random random = {seed + (uint64_t)(t->n * 10 + t->upper * 2 + t->unit)};
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < a.rows; i++) {
            const double re = (double)check_uniform(&random), im = (double)check_uniform(&random);
            const bool is_real = is_hermitian(t); /* on the diagonal */
            const number diagonal = CMPLX(1.5 + re / 2, is_real ? 0 : im),
                         other = CMPLX(re, im) / sqrt((double)t->n);
            set_number(&a, i, j,
                       !is_its_own(t, i, j)         ? UNTOUCHED
                       : i == j && i + 1 == t->zero ? 0
                       : i == j                     ? diagonal
                                                    : other);
        }
    return data;
}

/* Of rows, from 1, of either width. */
static inline void *make_pivots(const trial *t)
{
    const int bits = tb_spelling_rows[t->spelling].integer_bits;
    const tb_pivots pivots = {malloc((size_t)(t->n + 1) * 8), bits};
    check_random random = {seed + (uint64_t)t->n};
    for (int64_t i = 0; i < t->n; i++)
        tb_set_pivot(pivots, i, check_between(&random, i + 1, t->n));
    return pivots.data;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
    int layout;
    char letter, diagonal;
    int64_t n;
    void *a;
    int64_t ld;
    void *pivots, *work;
    int64_t lwork;
} arguments;

/* A 32-bit integer of Fortran's is the lower half of one of 64. */
static inline void call_fortran(void *address, tb_routine_class class, arguments *x, int64_t *info)
{
    union {
        void *address;
        void (*triangle)(const char *, const int64_t *, void *, const int64_t *, int64_t *, size_t);
        void (*diagonal)(const char *, const char *, const int64_t *, void *, const int64_t *, int64_t *,
                         size_t, size_t);
        void (*pivots)(const int64_t *, void *, const int64_t *, void *, void *, const int64_t *, int64_t *);
    } function = {address};
    if (class == TB_CLASS_GETRI)
        function.pivots(&x->n, x->a, &x->ld, x->pivots, x->work, &x->lwork, info);
    else if (class == TB_CLASS_TRTRI)
        function.diagonal(&x->letter, &x->diagonal, &x->n, x->a, &x->ld, info, 1, 1);
    else
        function.triangle(&x->letter, &x->n, x->a, &x->ld, info, 1);
}

/* What is returned is as wide as the integers; of one of 32 bits the rest of the register is anything. */
static inline int64_t call_lapacke(void *address, tb_routine_class class, bool is_work, const arguments *x)
{
    union {
        void *address;
        int64_t (*triangle)(int, char, int64_t, void *, int64_t);
        int64_t (*diagonal)(int, char, char, int64_t, void *, int64_t);
        int64_t (*pivots)(int, int64_t, void *, int64_t, void *);
        int64_t (*work)(int, int64_t, void *, int64_t, void *, void *, int64_t);
    } function = {address};
    if (class == TB_CLASS_GETRI && is_work)
        return function.work(x->layout, x->n, x->a, x->ld, x->pivots, x->work, x->lwork);
    if (class == TB_CLASS_GETRI)
        return function.pivots(x->layout, x->n, x->a, x->ld, x->pivots);
    if (class == TB_CLASS_TRTRI)
        return function.diagonal(x->layout, x->letter, x->diagonal, x->n, x->a, x->ld);
    return function.triangle(x->layout, x->letter, x->n, x->a, x->ld);
}

static inline int64_t call_with(tb_spelling spelling, arguments x)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const tb_routine_class class = tb_routine_rows[row->routine].class;
    void *const address = dlsym(RTLD_DEFAULT, row->symbol);
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (row->is_cblas)
        info = call_lapacke(address, class, row->is_work, &x);
    else
        call_fortran(address, class, &x, &info);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, %d, %s%s%s%s, %s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->n,
             t->upper ? "upper" : "lower", t->unit ? ", unit" : "", t->row_major ? ", by rows" : "",
             t->zero ? ", singular" : "", tb_memory_text(t->memory), t->script ? ", " : "",
             t->script ? t->script : "");
}

/* y := a triangle of the matrix, or its adjoint, times x. */
static inline void by_triangle(const tb_matrix *a, int64_t n, bool upper, bool unit, bool adjoint,
                               const number *x, number *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); i++) {
            const number value = unit && i == j ? 1 : number_at(a, i, j);
            if (adjoint)
                y[j] += conj(value) * x[i];
            else
                y[i] += value * x[j];
        }
}

/* The whole of a matrix that has a triangle stored. */
static inline void by_hermitian(const tb_matrix *a, int64_t n, bool upper, const number *x, number *y)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < n; j++)
            y[i] += ((upper ? i <= j : i >= j) ? number_at(a, i, j) : conj(number_at(a, j, i))) * x[j];
    }
}

/* What A was, or was factors of. */
static inline void by_drawn(const trial *t, const tb_matrix *drawn, const tb_pivots *pivots, const number *x,
                            number *y)
{
    number *const between = malloc((size_t)(t->n + 1) * sizeof *between);
    const bool squares = class_of(t) == TB_CLASS_LAUUM;
    if (class_of(t) == TB_CLASS_TRTRI) {
        by_triangle(drawn, t->n, t->upper, t->unit, false, x, y);
    } else if (has_pivots(t)) {
        by_triangle(drawn, t->n, true, false, false, x, between);
        by_triangle(drawn, t->n, false, true, false, between, y);
        for (int64_t i = t->n; i-- > 0;) {
            const int64_t other = tb_pivot_at(*pivots, i) - 1;
            const number kept = y[i];
            y[i] = y[other];
            y[other] = kept;
        }
    } else {
        const bool first = t->upper != squares; /* whether the adjoint comes last */
        by_triangle(drawn, t->n, t->upper, false, !first, x, between);
        by_triangle(drawn, t->n, t->upper, false, first, between, y);
    }
    free(between);
}

static inline void by_found(const trial *t, const tb_matrix *found, const number *x, number *y)
{
    if (class_of(t) == TB_CLASS_TRTRI)
        by_triangle(found, t->n, t->upper, t->unit, false, x, y);
    else if (!has_pivots(t))
        by_hermitian(found, t->n, t->upper, x, y);
    else
        for (int64_t i = 0; i < t->n; i++) {
            y[i] = 0;
            for (int64_t j = 0; j < t->n; j++)
                y[i] += number_at(found, i, j) * x[j];
        }
}

/* Of some vector; sizes are about 1. */
static inline double how_far_off(const trial *t, const tb_matrix *drawn, const tb_matrix *found,
                                 const tb_pivots *pivots)
{
    number *const x = calloc((size_t)(3 * t->n + 1), sizeof *x), *const y = x + t->n, *const z = y + t->n;
    check_random random = {seed + 17};
    for (int64_t i = 0; i < t->n; i++)
        x[i] = CMPLX((double)check_uniform(&random), (double)check_uniform(&random));
    by_found(t, found, x, y);
    if (class_of(t) == TB_CLASS_LAUUM) {
        by_drawn(t, drawn, pivots, x, z);
        memcpy(x, y, (size_t)t->n * sizeof *x);
    } else {
        by_drawn(t, drawn, pivots, y, z);
    }
    for (int64_t i = 0; i < t->n; i++)
        z[i] -= x[i];
    const double off = largest_of(z, t->n) / (1 + largest_of(y, t->n));
    free(x);
    return off;
}

static inline int count_touched(const trial *t, const tb_matrix *drawn, const tb_matrix *found)
{
    const bool is_real = is_hermitian(t);
    int touched = 0;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < drawn->rows; i++) {
            if (!is_its_own(t, i, j) || t->zero)
                touched += number_at(drawn, i, j) != number_at(found, i, j);
            else if (is_real && i == j)
                touched += cimag(number_at(found, i, j)) != 0;
        }
    return touched;
}

static inline void check_found(const trial *t, void *found, void *drawn, const tb_pivots *pivots,
                               const char *text)
{
    const tb_matrix a = matrix_of(t, found), before = matrix_of(t, drawn);
    const double allowed = 30 * (double)(t->n + 10) * tb_element_rows[a.element].roundoff,
                 off = t->zero ? 0 : how_far_off(t, &before, &a, pivots);
    const int touched = count_touched(t, &before, &a);
    CHECK(off <= allowed && touched == 0, "%s: off by %g, allowed %g; %d numbers were touched", text, off,
          allowed, touched);
}

static inline void try(const trial *t)
{
    char text[200];
    void *const drawn = make_matrix(t), *const a = malloc(bytes_of(t) + 1);
    void *there = a;
    const tb_pivots pivots = {make_pivots(t), tb_spelling_rows[t->spelling].integer_bits};
    const int64_t lwork = 32 * t->n;
    void *const work = malloc((size_t)lwork * tb_bytes_of(element_of(t)) + 16);
    describe(t, text);
    memcpy(a, drawn, bytes_of(t));
    if (t->memory != TB_MEMORY_HOST) {
        there = arena_allocate(t->memory, bytes_of(t));
        arena_copy(there, a, bytes_of(t));
    }
    const int64_t info =
        call_with(t->spelling,
                  (arguments){t->row_major ? ROW_MAJOR : COLUMN_MAJOR, t->upper != t->row_major ? 'U' : 'L',
                              t->unit ? 'U' : 'N', t->n, there, t->n + PADDING, pivots.data, work, lwork});
    if (there != a) {
        arena_copy(a, there, bytes_of(t));
        arena_release(t->memory, there);
    }
    CHECK(info == t->zero, "%s: info is %d", text, (int)info);
    check_found(t, a, drawn, &pivots, text);
    free(work);
    free(pivots.data);
    free(a);
    free(drawn);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
