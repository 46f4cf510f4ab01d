/* GEQRF by every name and in every kind of memory: what the program finds is R and reflectors, each of which is unitary, and their product
 * with R is the matrix; and what is not of the matrix is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_QR_H
#define TB_KNOWN_QR_H

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

enum { PADDING = 3, UNTOUCHED = -7777, COLUMN_MAJOR = 102 };

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t m, n;
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[tb_spelling_rows[t->spelling].routine].element;
}

static inline int64_t order_of(const trial *t)
{
    return t->m < t->n ? t->m : t->n;
}

static inline tb_matrix matrix_of(const trial *t, void *data)
{
    return (tb_matrix){data, t->m + PADDING, t->n, t->m + PADDING, element_of(t)};
}

static inline size_t bytes_of(const trial *t)
{
    const tb_matrix a = matrix_of(t, NULL);
    return tb_matrix_bytes(&a);
}

/* A column in the middle is all 0, from a wide matrix's square. */
static inline void *make_matrix(const trial *t)
{
    void *const data = malloc(bytes_of(t) + 1);
    const tb_matrix a = matrix_of(t, data);
    check_random random = {seed + (uint64_t)(t->m * 1000 + t->n)};
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < a.rows; i++) {
            const double re = (double)check_uniform(&random), im = (double)check_uniform(&random);
            const bool is_zero = t->m % 2 == 1 && j > 0 && j == order_of(t) / 2;
            set_number(&a, i, j, i >= t->m ? UNTOUCHED : is_zero ? 0 : CMPLX(re, im));
        }
    return data;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
    int layout;
    int64_t m, n;
    void *a;
    int64_t ld;
    void *tau, *work;
    int64_t lwork;
} arguments;

static inline int64_t call_with(tb_spelling spelling, arguments x)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    union {
        void *address;
        int32_t (*lapacke)(int, int64_t, int64_t, void *, int64_t, void *);
        int64_t (*lapacke_64)(int, int64_t, int64_t, void *, int64_t, void *);
        int32_t (*work)(int, int64_t, int64_t, void *, int64_t, void *, void *, int64_t);
        int64_t (*work_64)(int, int64_t, int64_t, void *, int64_t, void *, void *, int64_t);
        void (*fortran)(const int64_t *, const int64_t *, void *, const int64_t *, void *, void *,
                        const int64_t *, int64_t *);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    const bool is_wide = row->integer_bits == 64;
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&x.m, &x.n, x.a, &x.ld, x.tau, x.work, &x.lwork, &info);
    else if (row->is_work && is_wide)
        info = function.work_64(x.layout, x.m, x.n, x.a, x.ld, x.tau, x.work, x.lwork);
    else if (row->is_work)
        info = function.work(x.layout, x.m, x.n, x.a, x.ld, x.tau, x.work, x.lwork);
    else if (is_wide)
        info = function.lapacke_64(x.layout, x.m, x.n, x.a, x.ld, x.tau);
    else
        info = function.lapacke(x.layout, x.m, x.n, x.a, x.ld, x.tau);
    memcpy(&narrow, &info, sizeof narrow);
    return is_wide ? info : narrow;
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, %d x %d, %s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->m, (int)t->n,
             tb_memory_text(t->memory), t->script ? ", " : "", t->script ? t->script : "");
}

/* The columns of v as they stand below the diagonal; returns the most by which one of H is not unitary. */
static inline double read_reflectors(const tb_matrix *a, int64_t m, int64_t order, const tb_matrix *tau,
                                     number *v)
{
    double worst = 0;
    for (int64_t j = 0; j < order; j++) {
        const number own = number_at(tau, j, 0);
        double squares = 1;
        v[j + j * m] = 1;
        for (int64_t i = j + 1; i < m; i++) {
            const number x = v[i + j * m] = number_at(a, i, j);
            squares += creal(x) * creal(x) + cimag(x) * cimag(x);
        }
        worst =
            fmax(worst, fabs((creal(own) * creal(own) + cimag(own) * cimag(own)) * squares - 2 * creal(own)));
    }
    return worst;
}

/* How far a column of Q R is from that of the matrix, of sizes of about 1. */
static inline double column_off(const tb_matrix *a, const tb_matrix *before, const number *v,
                                const tb_matrix *tau, int64_t order, int64_t j, number *column)
{
    const int64_t m = a->rows - PADDING;
    double off = 0;
    for (int64_t i = 0; i < m; i++)
        column[i] = i <= j ? number_at(a, i, j) : 0;
    for (int64_t k = (j < order ? j + 1 : order) - 1; k >= 0; k--) {
        number sum = 0;
        for (int64_t i = k; i < m; i++)
            sum += conj(v[i + k * m]) * column[i];
        sum *= number_at(tau, k, 0);
        for (int64_t i = k; i < m; i++)
            column[i] -= sum * v[i + k * m];
    }
    for (int64_t i = 0; i < m; i++)
        off = fmax(off, cabs(column[i] - number_at(before, i, j)));
    return off;
}

static inline void check_found(const trial *t, void *found, void *drawn, void *reflectors, const char *text)
{
    const int64_t order = order_of(t);
    const tb_matrix a = matrix_of(t, found), before = matrix_of(t, drawn),
                    tau = {reflectors, order + 1, 1, order + 1, a.element};
    const double allowed = 30 * (double)(order + 10) * tb_element_rows[a.element].roundoff;
    number *const v = malloc((size_t)(t->m * order + 1) * sizeof *v), *const column = malloc((size_t)t->m *
                                                                                             sizeof *column);
    const double skew = read_reflectors(&a, t->m, order, &tau, v);
    double off = 0;
    int touched = number_at(&tau, order, 0) != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++) {
        const double own = column_off(&a, &before, v, &tau, order, j, column);
        off = own > off || isnan(own) ? own : off;
        for (int64_t i = t->m; i < a.rows; i++)
            touched += number_at(&a, i, j) != UNTOUCHED;
    }
    CHECK(off <= allowed && skew <= allowed && touched == 0,
          "%s: off by %g, reflectors by %g, allowed %g; %d numbers were touched that are not its own", text,
          off, skew, allowed, touched);
    free(column);
    free(v);
}

static inline void try(const trial *t)
{
    char text[200];
    void *const drawn = make_matrix(t), *const a = malloc(bytes_of(t) + 1);
    void *there = a;
    const int64_t order = order_of(t), lwork = 32 * t->n;
    const tb_element element = element_of(t);
    void *const tau = malloc((size_t)(order + 1) * tb_bytes_of(element)), *const work =
                                                                              malloc((size_t)lwork *
                                                                                     tb_bytes_of(element));
    const tb_matrix of_tau = {tau, order + 1, 1, order + 1, element};
    for (int64_t i = 0; i <= order; i++)
        set_number(&of_tau, i, 0, UNTOUCHED);
    describe(t, text);
    memcpy(a, drawn, bytes_of(t));
    if (t->memory != TB_MEMORY_HOST) {
        there = arena_allocate(t->memory, bytes_of(t));
        arena_copy(there, a, bytes_of(t));
    }
    const int64_t info = call_with(
        t->spelling, (arguments){COLUMN_MAJOR, t->m, t->n, there, t->m + PADDING, tau, work, lwork});
    if (there != a) {
        arena_copy(a, there, bytes_of(t));
        arena_release(t->memory, there);
    }
    CHECK(info == 0, "%s: info is %d", text, (int)info);
    check_found(t, a, drawn, tau, text);
    free(work);
    free(tau);
    free(a);
    free(drawn);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
