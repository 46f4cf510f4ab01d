/* ORGQR and UNGQR by every name and in every kind of memory: what the program finds in its reflectors' place is their product, as it
 * multiplies some vector; and what is not of the matrix is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_Q_H
#define TB_KNOWN_Q_H

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

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t m, n, k;
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[tb_spelling_rows[t->spelling].routine].element;
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

static inline tb_matrix tau_of(const trial *t, void *data)
{
    return (tb_matrix){data, t->k + 1, 1, t->k + 1, element_of(t)};
}

/* What is on the diagonal and above, and the columns behind the reflectors, are no numbers: nobody is to read them but LAPACKE, which
 * refuses these. */
static inline void *make_matrix(const trial *t)
{
    void *const data = malloc(bytes_of(t) + 1);
    const tb_matrix a = matrix_of(t, data);
    const tb_spelling_row *row = &tb_spelling_rows[t->spelling];
    const double unread = row->is_cblas && !row->is_work ? 1000 : (double)NAN;
    check_random random = {seed + (uint64_t)(t->m * 1000 + t->n)};
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < a.rows; i++) {
            const double re = (double)check_uniform(&random), im = (double)check_uniform(&random);
            set_number(&a, i, j, i >= t->m ? UNTOUCHED : i <= j || j >= t->k ? unread : CMPLX(re, im));
        }
    return data;
}

/* A number of each reflector v that makes it unitary, and 0 of some. */
static inline void *make_tau(const trial *t, void *drawn)
{
    void *const data = malloc((size_t)(t->k + 1) * tb_bytes_of(element_of(t)));
    const tb_matrix tau = tau_of(t, data), a = matrix_of(t, drawn);
    for (int64_t j = 0; j <= t->k; j++) {
        double squares = 1;
        for (int64_t i = j + 1; i < t->m && j < t->k; i++)
            squares += creal(number_at(&a, i, j) * conj(number_at(&a, i, j)));
        const number angle = tb_is_complex(a.element) ? CMPLX(0.8, 0.6) : 1;
        set_number(&tau, j, 0, j == t->k ? UNTOUCHED : j % 7 == 3 ? 0 : (1 + angle) / squares);
    }
    return data;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
    int layout;
    int64_t m, n, k;
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
        int64_t (*lapacke)(int, int64_t, int64_t, int64_t, void *, int64_t, void *);
        int64_t (*work)(int, int64_t, int64_t, int64_t, void *, int64_t, void *, void *, int64_t);
        void (*fortran)(const int64_t *, const int64_t *, const int64_t *, void *, const int64_t *, void *,
                        void *, const int64_t *, int64_t *);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&x.m, &x.n, &x.k, x.a, &x.ld, x.tau, x.work, &x.lwork, &info);
    else if (row->is_work)
        info = function.work(x.layout, x.m, x.n, x.k, x.a, x.ld, x.tau, x.work, x.lwork);
    else
        info = function.lapacke(x.layout, x.m, x.n, x.k, x.a, x.ld, x.tau);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, %d x %d, %d reflectors, %s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->m,
             (int)t->n, (int)t->k, tb_memory_text(t->memory), t->script ? ", " : "",
             t->script ? t->script : "");
}

/* x := H1 H2 ... x */
static inline void reflect(const trial *t, const tb_matrix *a, const tb_matrix *tau, number *x)
{
    for (int64_t j = t->k - 1; j >= 0; j--) {
        number sum = x[j];
        for (int64_t i = j + 1; i < t->m; i++)
            sum += conj(number_at(a, i, j)) * x[i];
        sum *= number_at(tau, j, 0);
        x[j] -= sum;
        for (int64_t i = j + 1; i < t->m; i++)
            x[i] -= sum * number_at(a, i, j);
    }
}

/* Of some vector whose numbers are about 1. */
static inline double how_far_off(const trial *t, const tb_matrix *drawn, const tb_matrix *found,
                                 const tb_matrix *tau)
{
    number *const x = calloc((size_t)(2 * t->m + 1), sizeof *x), *const y = x + t->m;
    check_random random = {seed + 17};
    for (int64_t j = 0; j < t->n; j++) {
        x[j] = CMPLX((double)check_uniform(&random), (double)check_uniform(&random));
        for (int64_t i = 0; i < t->m; i++)
            y[i] += number_at(found, i, j) * x[j];
    }
    reflect(t, drawn, tau, x);
    for (int64_t i = 0; i < t->m; i++)
        y[i] -= x[i];
    const double off = largest_of(y, t->m);
    free(x);
    return off;
}

static inline void check_found(const trial *t, void *found, void *drawn, void *reflectors, const char *text)
{
    const tb_matrix a = matrix_of(t, found), before = matrix_of(t, drawn), tau = tau_of(t, reflectors);
    const double allowed = 30 * (double)(t->k + 10) * tb_element_rows[a.element].roundoff,
                 off = how_far_off(t, &before, &a, &tau);
    int touched = number_at(&tau, t->k, 0) != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = t->m; i < a.rows; i++)
            touched += number_at(&a, i, j) != UNTOUCHED;
    CHECK(off <= allowed && touched == 0, "%s: off by %g, allowed %g; %d numbers were touched", text, off,
          allowed, touched);
}

static inline void try(const trial *t)
{
    char text[200];
    void *const drawn = make_matrix(t), *const tau = make_tau(t, drawn), *const a = malloc(bytes_of(t) + 1);
    void *there = a;
    const int64_t lwork = 32 * t->n;
    void *const work = malloc((size_t)lwork * tb_bytes_of(element_of(t)) + 16);
    describe(t, text);
    memcpy(a, drawn, bytes_of(t));
    if (t->memory != TB_MEMORY_HOST) {
        there = arena_allocate(t->memory, bytes_of(t));
        arena_copy(there, a, bytes_of(t));
    }
    const int64_t info = call_with(
        t->spelling, (arguments){COLUMN_MAJOR, t->m, t->n, t->k, there, t->m + PADDING, tau, work, lwork});
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
