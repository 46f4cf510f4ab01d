/* Factorizations whose factors are known beforehand, by every name and in every kind of memory: what the program finds is the factor, and
 * what is not of the triangle is as it was.
 *
 * Factors are of small whole numbers, and so are all numbers on the way to them: they are found again to the last bit, in whatever
 * order sums are taken. The imaginary part of a complex matrix's diagonal may be anything, and becomes 0.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_FACTOR_H
#define TB_KNOWN_FACTOR_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"

#include <complex.h>
#include <dlfcn.h>
#include <fenv.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, MEANINGLESS = 5, COLUMN_MAJOR = 102, ROW_MAJOR = 101 };

/* A real number is one whose imaginary part is 0. */
typedef double _Complex number;

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t n;
    bool lower, by_rows;
    int64_t singular; /* the pivot that is zero, from 1; 0: none */
    const char *script;
} trial;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static inline tb_element element_of(const trial *t)
{
    return tb_routine_rows[tb_spelling_rows[t->spelling].routine].element;
}

/* Of the factor L: its diagonal is 1 or 2, and what is below -1, 0 or 1, or has such parts. */
static inline number factor_at(int64_t i, int64_t j, bool is_complex)
{
    check_random random = {seed + (uint64_t)(i * 100003 + j)};
    const double re = (double)(i == j ? check_between(&random, 1, 2) : check_between(&random, -1, 1));
    return CMPLX(re, i == j || !is_complex ? 0 : (double)check_between(&random, -1, 1));
}

/* The trial's factor, and the matrix; kept for the trials that follow, and for children. */
typedef struct tables {
    int64_t n;
    bool is_complex;
    number *l, *a;
} tables;

static inline const tables *tables_of(const trial *t)
{
    static tables kept;
    const int64_t n = t->n;
    const bool is_complex = tb_is_complex(element_of(t));
    if (kept.n == n && kept.is_complex == is_complex)
        return &kept;
    free(kept.l);
    free(kept.a);
    kept = (tables){n, is_complex, calloc((size_t)(n * n), sizeof(number)),
                    calloc((size_t)(n * n), sizeof(number))};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            kept.l[i + j * n] = factor_at(i, j, is_complex);
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = k; j < n; j++)
            for (int64_t i = j; i < n; i++)
                kept.a[i + j * n] += kept.l[i + k * n] * conj(kept.l[j + k * n]);
    return &kept;
}

/* Where L's element lies, by columns or by rows, in either triangle. */
static inline int64_t place_of(const trial *t, int64_t i, int64_t j)
{
    const int64_t ld = t->n + PADDING;
    return t->lower == t->by_rows ? i * ld + j : i + j * ld;
}

/* Elements of the array that the matrix lies in. */
static inline int64_t count_of(const trial *t)
{
    return (t->n + PADDING) * t->n;
}

static inline size_t bytes_of(const trial *t)
{
    return (size_t)count_of(t) * tb_bytes_of(element_of(t));
}

static inline number number_at(const trial *t, const void *a, int64_t place)
{
    const tb_element element = element_of(t);
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    const float *narrow = (const float *)a + parts * place;
    const double *wide = (const double *)a + parts * place;
    if (tb_real_of(element) == TB_FP64)
        return CMPLX(wide[0], parts == 2 ? wide[1] : 0);
    return CMPLX(narrow[0], parts == 2 ? narrow[1] : 0);
}

static inline void set_number(const trial *t, void *a, int64_t place, number value)
{
    const tb_element element = element_of(t);
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    for (int64_t part = 0; part < parts; part++) {
        const double of_it = part == 0 ? creal(value) : cimag(value);
        if (tb_real_of(element) == TB_FP64)
            ((double *)a)[parts * place + part] = of_it;
        else
            ((float *)a)[parts * place + part] = (float)of_it;
    }
}

/* L's number, of U the conjugate transpose's. */
static inline number get(const trial *t, const void *a, int64_t i, int64_t j)
{
    const number stored = number_at(t, a, place_of(t, i, j));
    return t->lower ? stored : conj(stored);
}

static inline void put(const trial *t, void *a, int64_t i, int64_t j, number value)
{
    set_number(t, a, place_of(t, i, j), t->lower ? value : conj(value));
}

static inline void *make_matrix(const trial *t)
{
    const tables *known = tables_of(t);
    char *a = malloc(bytes_of(t));
    for (int64_t i = 0; i < count_of(t); i++)
        set_number(t, a, i, UNTOUCHED);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j; i < t->n; i++) {
            const number pivot = t->singular == j + 1 ? known->l[j + j * t->n] : 0;
            put(t, a, i, j,
                known->a[i + j * t->n] + (i == j ? CMPLX(-creal(pivot) * creal(pivot), MEANINGLESS) : 0));
        }
    return a;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static inline int64_t call_with(tb_spelling spelling, int layout, char letter, int64_t n, void *a, int64_t ld)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    union {
        void *address;
        int32_t (*lapacke)(int, char, int64_t, void *, int64_t);
        int64_t (*lapacke_64)(int, char, int64_t, void *, int64_t);
        void (*fortran)(const char *, const int64_t *, void *, const int64_t *, int64_t *, size_t);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&letter, &n, a, &ld, &info, 1);
    else if (row->integer_bits == 64)
        info = function.lapacke_64(layout, letter, n, a, ld);
    else
        info = function.lapacke(layout, letter, n, a, ld);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

/* An exception that has been raised before stays so. */
static inline int64_t call(const trial *t, void *a)
{
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_DIVBYZERO); /* which the C library does by the arithmetic of doubles, unlike others */
    const int64_t info = call_with(t->spelling, t->by_rows ? ROW_MAJOR : COLUMN_MAJOR, t->lower ? 'L' : 'u',
                                   t->n, a, t->n + PADDING);
    CHECK(fetestexcept(FE_DIVBYZERO), "%s: an exception of the program's is taken back",
          t->script ? t->script : "no failure");
    return info;
}

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, n = %d, %s, %s%s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->n,
             t->lower ? "lower" : "upper", tb_memory_text(t->memory), t->by_rows ? ", by rows" : "",
             t->script ? ", " : "", t->script ? t->script : "");
}

static inline void check_matrix(const trial *t, const void *a, const char *text)
{
    const number *l = tables_of(t)->l;
    int64_t wrong = 0, touched = 0;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j; i < t->n; i++)
            wrong += t->singular == 0 && get(t, a, i, j) != l[i + j * t->n];
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = j + 1; i < t->n; i++)
            touched += number_at(t, a, place_of(t, j, i)) != UNTOUCHED;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < PADDING; i++)
            touched += number_at(t, a, t->n + i + j * (t->n + PADDING)) != UNTOUCHED;
    CHECK(wrong == 0 && touched == 0,
          "%s: %d elements are wrong, %d were touched that are not the triangle's", text, (int)wrong,
          (int)touched);
}

static inline void try(const trial *t)
{
    char text[200];
    void *a = make_matrix(t), *there = a;
    const size_t bytes = bytes_of(t);
    describe(t, text);
    if (t->memory != TB_MEMORY_HOST) {
        there = arena_allocate(t->memory, bytes);
        arena_copy(there, a, bytes);
    }
    const int64_t info = call(t, there);
    if (there != a) {
        arena_copy(a, there, bytes);
        arena_release(t->memory, there);
    }
    CHECK(info == t->singular, "%s: info is %d, not %d", text, (int)info, (int)t->singular);
    check_matrix(t, a, text);
    free(a);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
