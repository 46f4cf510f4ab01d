/* GELQF, and ORGLQ and UNGLQ, by every name and in every kind of memory: what the program finds is L and reflectors in rows, each of which is
 * unitary, and L times their product is the matrix; or it is their product, as its adjoint multiplies some vector. And what is not of the
 * matrix is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_LQ_H
#define TB_KNOWN_LQ_H

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
    int64_t m, n;
    int64_t k; /* of Q */
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_routine routine_of(const trial *t)
{
    return tb_spelling_rows[t->spelling].routine;
}

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[routine_of(t)].element;
}

static inline bool makes_q(const trial *t)
{
    return tb_class_of(routine_of(t))->replacement == TB_Q;
}

static inline int64_t order_of(const trial *t)
{
    return makes_q(t) ? t->k : t->m < t->n ? t->m : t->n;
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
    const int64_t count = order_of(t) + 1;
    return (tb_matrix){data, count, 1, count, element_of(t)};
}

/* A number of the matrix that is read. Of one to be factored a row in the middle may be all 0. What of reflectors nobody is to read is no
 * number, but for LAPACKE, which refuses these. */
static inline number drawn_at(const trial *t, int64_t i, int64_t j, number drawn)
{
    const tb_spelling_row *row = &tb_spelling_rows[t->spelling];
    const bool is_zero = t->m % 2 == 1 && i > 0 && i == order_of(t) / 2, is_unread = j <= i || i >= t->k;
    if (!makes_q(t))
        return is_zero ? 0 : drawn;
    return !is_unread ? drawn : row->is_cblas && !row->is_work ? 1000 : (double)NAN;
}

static inline void *make_matrix(const trial *t)
{
    void *const data = malloc(bytes_of(t) + 1);
    const tb_matrix a = matrix_of(t, data);
    check_random random = {seed + (uint64_t)(t->m * 1000 + t->n)};
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < a.rows; i++) {
            const double re = (double)check_uniform(&random), im = (double)check_uniform(&random);
            set_number(&a, i, j, i >= t->m ? UNTOUCHED : drawn_at(t, i, j, CMPLX(re, im)));
        }
    return data;
}

/* Of Q a number of each reflector v that makes it unitary, and 0 of some; behind them, or of factors, what nobody has written. */
static inline void *make_tau(const trial *t, void *drawn)
{
    void *const data = malloc((size_t)(order_of(t) + 1) * tb_bytes_of(element_of(t)));
    const tb_matrix tau = tau_of(t, data), a = matrix_of(t, drawn);
    for (int64_t i = 0; i < tau.rows; i++) {
        const bool is_given = makes_q(t) && i < t->k;
        double squares = 1;
        for (int64_t j = i + 1; j < t->n && is_given; j++)
            squares += creal(number_at(&a, i, j) * conj(number_at(&a, i, j)));
        const number angle = tb_is_complex(a.element) ? CMPLX(0.8, 0.6) : 1;
        set_number(&tau, i, 0, !is_given ? UNTOUCHED : i % 7 == 3 ? 0 : (1 + angle) / squares);
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

/* What is returned is as wide as the integers; of one of 32 bits the rest of the register is anything. */
static inline int64_t call_to_factor(void *address, const tb_spelling_row *row, arguments x, int64_t *info)
{
    union {
        void *address;
        int64_t (*lapacke)(int, int64_t, int64_t, void *, int64_t, void *);
        int64_t (*work)(int, int64_t, int64_t, void *, int64_t, void *, void *, int64_t);
        void (*fortran)(const int64_t *, const int64_t *, void *, const int64_t *, void *, void *,
                        const int64_t *, int64_t *);
    } function = {address};
    if (row->is_work)
        return function.work(x.layout, x.m, x.n, x.a, x.ld, x.tau, x.work, x.lwork);
    if (row->is_cblas)
        return function.lapacke(x.layout, x.m, x.n, x.a, x.ld, x.tau);
    function.fortran(&x.m, &x.n, x.a, &x.ld, x.tau, x.work, &x.lwork, info);
    return *info;
}

static inline int64_t call_to_make_q(void *address, const tb_spelling_row *row, arguments x, int64_t *info)
{
    union {
        void *address;
        int64_t (*lapacke)(int, int64_t, int64_t, int64_t, void *, int64_t, void *);
        int64_t (*work)(int, int64_t, int64_t, int64_t, void *, int64_t, void *, void *, int64_t);
        void (*fortran)(const int64_t *, const int64_t *, const int64_t *, void *, const int64_t *, void *,
                        void *, const int64_t *, int64_t *);
    } function = {address};
    if (row->is_work)
        return function.work(x.layout, x.m, x.n, x.k, x.a, x.ld, x.tau, x.work, x.lwork);
    if (row->is_cblas)
        return function.lapacke(x.layout, x.m, x.n, x.k, x.a, x.ld, x.tau);
    function.fortran(&x.m, &x.n, &x.k, x.a, &x.ld, x.tau, x.work, &x.lwork, info);
    return *info;
}

static inline int64_t call_with(tb_spelling spelling, arguments x)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    const bool q = tb_class_of(row->routine)->replacement == TB_Q;
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    info = (q ? call_to_make_q : call_to_factor)(dlsym(RTLD_DEFAULT, row->symbol), row, x, &info);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, %d x %d, %d reflectors, %s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->m,
             (int)t->n, (int)order_of(t), tb_memory_text(t->memory), t->script ? ", " : "",
             t->script ? t->script : "");
}

/* The rows' adjoints as columns, with their ones and zeros. */
static inline number *read_reflectors(const trial *t, const tb_matrix *a)
{
    number *const v = calloc((size_t)(t->n * order_of(t) + 1), sizeof *v);
    for (int64_t k = 0; k < order_of(t); k++)
        for (int64_t j = k; j < t->n; j++)
            v[j + k * t->n] = j == k ? 1 : conj(number_at(a, k, j));
    return v;
}

/* The most by which one of H is not unitary. */
static inline double skew_of(const trial *t, const number *v, const tb_matrix *tau)
{
    double worst = 0;
    for (int64_t k = 0; k < order_of(t); k++) {
        const number own = number_at(tau, k, 0);
        double squares = 0;
        for (int64_t j = k; j < t->n; j++)
            squares += creal(v[j + k * t->n] * conj(v[j + k * t->n]));
        const double off = fabs(creal(own * conj(own)) * squares - 2 * creal(own));
        worst = off > worst || isnan(off) ? off : worst;
    }
    return worst;
}

/* x := H1 H2 ... x, which is Q's adjoint times x; of the first so many, where the others do nothing. */
static inline void reflect(const trial *t, const number *v, const tb_matrix *tau, int64_t count, number *x)
{
    for (int64_t k = count - 1; k >= 0; k--) {
        number sum = 0;
        for (int64_t j = k; j < t->n; j++)
            sum += conj(v[j + k * t->n]) * x[j];
        sum *= number_at(tau, k, 0);
        for (int64_t j = k; j < t->n; j++)
            x[j] -= sum * v[j + k * t->n];
    }
}

/* How far L Q is from the matrix, of sizes of about 1: row by row, of which adjoints are compared. */
static inline double factors_off(const trial *t, const tb_matrix *drawn, const tb_matrix *found,
                                 const number *v, const tb_matrix *tau)
{
    const int64_t order = order_of(t);
    number *const x = calloc((size_t)t->n + 1, sizeof *x);
    double worst = skew_of(t, v, tau);
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t j = 0; j < t->n; j++)
            x[j] = j <= i ? conj(number_at(found, i, j)) : 0;
        reflect(t, v, tau, i < order ? i + 1 : order, x);
        for (int64_t j = 0; j < t->n; j++)
            x[j] -= conj(number_at(drawn, i, j));
        const double off = largest_of(x, t->n);
        worst = off > worst || isnan(off) ? off : worst;
    }
    free(x);
    return worst;
}

/* Of some vector whose numbers are about 1: Q's adjoint times it. */
static inline double q_off(const trial *t, const tb_matrix *found, const number *v, const tb_matrix *tau)
{
    number *const x = calloc((size_t)(2 * t->n + 1), sizeof *x), *const y = x + t->n;
    check_random random = {seed + 17};
    for (int64_t i = 0; i < t->m; i++) {
        x[i] = CMPLX((double)check_uniform(&random), (double)check_uniform(&random));
        for (int64_t j = 0; j < t->n; j++)
            y[j] += conj(number_at(found, i, j)) * x[i];
    }
    reflect(t, v, tau, order_of(t), x);
    for (int64_t j = 0; j < t->n; j++)
        y[j] -= x[j];
    const double off = largest_of(y, t->n);
    free(x);
    return off;
}

static inline void check_found(const trial *t, void *found, void *drawn, void *reflectors, const char *text)
{
    const tb_matrix a = matrix_of(t, found), before = matrix_of(t, drawn), tau = tau_of(t, reflectors);
    number *const v = read_reflectors(t, makes_q(t) ? &before : &a);
    const double allowed = 30 * (double)(order_of(t) + 10) * tb_element_rows[a.element].roundoff,
                 off = makes_q(t) ? q_off(t, &a, v, &tau) : factors_off(t, &before, &a, v, &tau);
    int touched = number_at(&tau, order_of(t), 0) != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = t->m; i < a.rows; i++)
            touched += number_at(&a, i, j) != UNTOUCHED;
    CHECK(off <= allowed && touched == 0, "%s: off by %g, allowed %g; %d numbers were touched", text, off,
          allowed, touched);
    free(v);
}

static inline void try(const trial *t)
{
    char text[200];
    void *const drawn = make_matrix(t), *const a = malloc(bytes_of(t) + 1);
    void *there = a;
    const int64_t lwork = 32 * t->m;
    void *const tau = make_tau(t, drawn), *const work =
                                              malloc((size_t)lwork * tb_bytes_of(element_of(t)) + 16);
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
