/* Matrices whose LU factors are known beforehand, by every name and in every kind of memory: what the program finds is the factors and the
 * pivots, and what is not of the matrix is as it was.
 *
 * L has fourths below its diagonal, none as large as 1, and U fours, 8 on its diagonal: the pivots are the only ones that there are, and
 * all numbers on the way are found again to the last bit, in whatever order sums are taken.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_LU_H
#define TB_KNOWN_LU_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "words/factor.h"

#include <dlfcn.h>
#include <string.h>

enum { PADDING = 3, UNTOUCHED = -7777, COLUMN_MAJOR = 102 };

typedef struct trial {
    tb_spelling spelling;
    tb_memory memory;
    int64_t m, n;
    int64_t singular; /* the pivot that is zero, from 1, and all of L's column with it; 0: none */
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

static inline int64_t parts_of(const trial *t)
{
    return tb_is_complex(element_of(t)) ? 2 : 1;
}

static inline int64_t ld_of(const trial *t)
{
    return t->m + PADDING;
}

static inline size_t bytes_of(const trial *t)
{
    return (size_t)(ld_of(t) * t->n) * tb_bytes_of(element_of(t));
}

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

/* Of both factors in one matrix; the imaginary part of complex ones, too. */
static inline double factor_at(const trial *t, int64_t i, int64_t j, int64_t part)
{
    check_random random = {seed + (uint64_t)(i * 100003 + j * 2 + part)};
    if (t->singular == j + 1 && i >= j)
        return 0;
    if (i == j)
        return part == 0 ? 8 : 0;
    return i < j ? 4 * (double)check_between(&random, -1, 1) : (double)check_between(&random, -1, 1) / 4;
}

/* The row, from 1, that each row is exchanged with; any of those below, but where the pivot is 0: then the first is taken. */
static inline int64_t pivot_of(const trial *t, int64_t i)
{
    check_random random = {seed * 31 + (uint64_t)i};
    return t->singular == i + 1 ? i + 1 : check_between(&random, i + 1, t->m);
}

static inline double number_at(const trial *t, const void *a, int64_t i, int64_t j, int64_t part)
{
    const int64_t at = parts_of(t) * (i + j * ld_of(t)) + part;
    return tb_real_of(element_of(t)) == TB_FP64 ? ((const double *)a)[at] : (double)((const float *)a)[at];
}

static inline void set_number(const trial *t, void *a, int64_t i, int64_t j, int64_t part, double value)
{
    const int64_t at = parts_of(t) * (i + j * ld_of(t)) + part;
    if (tb_real_of(element_of(t)) == TB_FP64)
        ((double *)a)[at] = value;
    else
        ((float *)a)[at] = (float)value;
}

static inline void exchange(const trial *t, void *a, int64_t one, int64_t other)
{
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t part = 0; part < parts_of(t); part++) {
            const double kept = number_at(t, a, one, j, part);
            set_number(t, a, one, j, part, number_at(t, a, other, j, part));
            set_number(t, a, other, j, part, kept);
        }
}

/* Complex numbers' parts are those of the product. */
static inline void multiply(const trial *t, void *a)
{
    const int64_t parts = parts_of(t), order = order_of(t);
    double *const factors = malloc((size_t)(t->m * t->n * parts) * sizeof *factors);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++)
            for (int64_t part = 0; part < parts; part++)
                factors[(i + j * t->m) * parts + part] = factor_at(t, i, j, part);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++) {
            double sum[2] = {0, 0};
            for (int64_t k = 0; k < order && k <= i && k <= j; k++) {
                const double *l = factors + (i + k * t->m) * parts, *u = factors + (k + j * t->m) * parts;
                const double re = i == k ? 1 : l[0], im = i == k || parts == 1 ? 0 : l[1],
                             of_u = parts == 1 ? 0 : u[1];
                sum[0] += re * u[0] - im * of_u;
                sum[1] += re * of_u + im * u[0];
            }
            for (int64_t part = 0; part < parts; part++)
                set_number(t, a, i, j, part, sum[part]);
        }
    free(factors);
}

static inline void *make_matrix(const trial *t)
{
    void *a = malloc(bytes_of(t) + 1);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < ld_of(t); i++)
            for (int64_t part = 0; part < parts_of(t); part++)
                set_number(t, a, i, j, part, UNTOUCHED);
    multiply(t, a);
    for (int64_t i = order_of(t) - 1; i >= 0; i--)
        exchange(t, a, i, pivot_of(t, i) - 1);
    return a;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static inline int64_t call_with(tb_spelling spelling, int layout, int64_t m, int64_t n, void *a, int64_t ld,
                                void *pivots)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    union {
        void *address;
        int32_t (*lapacke)(int, int64_t, int64_t, void *, int64_t, void *);
        int64_t (*lapacke_64)(int, int64_t, int64_t, void *, int64_t, void *);
        void (*fortran)(const int64_t *, const int64_t *, void *, const int64_t *, void *, int64_t *);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    if (!row->is_cblas)
        function.fortran(&m, &n, a, &ld, pivots, &info);
    else if (row->integer_bits == 64)
        info = function.lapacke_64(layout, m, n, a, ld, pivots);
    else
        info = function.lapacke(layout, m, n, a, ld, pivots);
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

static inline void describe(const trial *t, char text[static 200])
{
    snprintf(text, 200, "%s, %d x %d, %s%s%s%s", tb_spelling_rows[t->spelling].symbol, (int)t->m, (int)t->n,
             tb_memory_text(t->memory), t->singular ? ", singular" : "", t->script ? ", " : "",
             t->script ? t->script : "");
}

static inline void check_matrix(const trial *t, const void *a, const char *text)
{
    int64_t wrong = 0, touched = 0;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < ld_of(t); i++)
            for (int64_t part = 0; part < parts_of(t); part++) {
                const double found = number_at(t, a, i, j, part);
                touched += i >= t->m && found != UNTOUCHED;
                wrong += i < t->m && found != factor_at(t, i, j, part);
            }
    CHECK(wrong == 0 && touched == 0, "%s: %d elements are wrong, %d were touched that are not the matrix's",
          text, (int)wrong, (int)touched);
}

static inline void check_pivots(const trial *t, const void *pivots, const char *text)
{
    const int bits = tb_spelling_rows[t->spelling].integer_bits == 64 ? 64 : 32;
    const tb_pivots found = {(void *)(uintptr_t)pivots, bits};
    int64_t wrong = 0;
    for (int64_t i = 0; i < order_of(t); i++)
        wrong += tb_pivot_at(found, i) != pivot_of(t, i);
    CHECK(wrong == 0 && tb_pivot_at(found, order_of(t)) == UNTOUCHED, "%s: %d pivots are wrong", text,
          (int)wrong);
}

static inline void try(const trial *t)
{
    char text[200];
    void *a = make_matrix(t), *there = a;
    const size_t bytes = bytes_of(t);
    const int bits = tb_spelling_rows[t->spelling].integer_bits == 64 ? 64 : 32;
    int64_t *pivots = malloc((size_t)(order_of(t) + 1) * sizeof *pivots);
    for (int64_t i = 0; i <= order_of(t); i++)
        tb_set_pivot((tb_pivots){pivots, bits}, i, UNTOUCHED);
    describe(t, text);
    if (t->memory != TB_MEMORY_HOST) {
        there = arena_allocate(t->memory, bytes);
        arena_copy(there, a, bytes);
    }
    const int64_t info = call_with(t->spelling, COLUMN_MAJOR, t->m, t->n, there, ld_of(t), pivots);
    if (there != a) {
        arena_copy(a, there, bytes);
        arena_release(t->memory, there);
    }
    CHECK(info == t->singular, "%s: info is %d, not %d", text, (int)info, (int)t->singular);
    check_matrix(t, a, text);
    check_pivots(t, pivots, text);
    free(pivots);
    free(a);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
