/* Solves whose solutions are known beforehand, by every name and in every kind of memory: what the program finds is the solution and, where
 * they are made, the factors; and all else is as it was.
 *
 * Solutions are small whole numbers, multiples of 4. Factors of LU are fourths below the diagonal and fours above it, 8 on it; those of
 * Cholesky's, and triangles, whole numbers, powers of 2 on the diagonal. So all numbers on the way are found again to the last bit, in
 * whatever order sums are taken.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_SOLVE_H
#define TB_KNOWN_SOLVE_H

#include "compat/spellings.h"
#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "words/factor.h"

#include <complex.h>
#include <dlfcn.h>
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

/* ---- Calls ------------------------------------------------------------------------------------------------ */

/* A routine's arguments as they stand in registers and on the stack, where each has 64 bits. */
typedef struct arguments {
    uintptr_t of[13];
    int count;
} arguments;

static inline void add(arguments *all, uintptr_t argument)
{
    all->of[all->count++] = argument;
}

static inline void add_integer(arguments *all, const int64_t *integer, bool by_value)
{
    add(all, by_value ? (uintptr_t)*integer : (uintptr_t)integer);
}

/* What a call is given, regular or not. */
typedef struct call {
    tb_spelling spelling;
    int layout;
    char letters[4];
    int64_t n, nrhs;
    void *a;
    int64_t lda;
    void *pivots, *b;
    int64_t ldb;
} call;

static inline arguments arguments_of(const call *c, int64_t *info)
{
    const tb_spelling_row *row = &tb_spelling_rows[c->spelling];
    const bool is_c = row->is_cblas;
    arguments all = {.count = 0};
    if (is_c)
        add(&all, (uintptr_t)c->layout);
    for (const char *letter = c->letters; *letter; letter++)
        add(&all, is_c ? (uintptr_t)*letter : (uintptr_t)letter);
    add_integer(&all, &c->n, is_c);
    add_integer(&all, &c->nrhs, is_c);
    add(&all, (uintptr_t)c->a);
    add_integer(&all, &c->lda, is_c);
    if (tb_class_of(row->routine)->factors == TB_LU)
        add(&all, (uintptr_t)c->pivots);
    add(&all, (uintptr_t)c->b);
    add_integer(&all, &c->ldb, is_c);
    if (!is_c)
        add(&all, (uintptr_t)info);
    for (size_t i = strlen(c->letters); !is_c && i > 0; i--)
        add(&all, 1);
    return all;
}

static inline int64_t make_call(const call *c)
{
    const tb_spelling_row *row = &tb_spelling_rows[c->spelling];
    union {
        void *address;
        int64_t (*call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                        uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    } function = {dlsym(RTLD_DEFAULT, row->symbol)};
    int64_t info = INT64_C(0x1234567800000000);
    int32_t narrow;
    const arguments all = arguments_of(c, &info);
    const uintptr_t *of = all.of;
    const int64_t returned = function.call(of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8],
                                           of[9], of[10], of[11], of[12]);
    if (row->is_cblas)
        info = returned;
    memcpy(&narrow, &info, sizeof narrow);
    return row->integer_bits == 64 ? info : narrow;
}

static inline call call_of(const trial *t, void *a, void *pivots, void *b)
{
    call c = {.spelling = t->spelling,
              .layout = t->by_rows ? ROW_MAJOR : COLUMN_MAJOR,
              .n = t->n,
              .nrhs = t->nrhs,
              .a = a,
              .lda = a_of(t).ld,
              .pivots = pivots,
              .b = b,
              .ldb = b_of(t).ld};
    const char *kinds = class_of(t)->letters;
    for (int i = 0; kinds[i]; i++)
        c.letters[i] = kinds[i] == 'U'   ? (t->lower ? 'l' : 'U')
                       : kinds[i] == 'D' ? (t->unit_diagonal ? 'u' : 'N')
                                         : t->operation;
    return c;
}

static inline void describe(const trial *t, char text[static 200])
{
    const call c = call_of(t, NULL, NULL, NULL);
    snprintf(text, 200, "%s %s, n = %d, nrhs = %d, %s and %s%s%s%s%s", tb_spelling_rows[t->spelling].symbol,
             c.letters, (int)t->n, (int)t->nrhs, tb_memory_text(t->of_a), tb_memory_text(t->of_b),
             t->by_rows ? ", by rows" : "", t->singular ? ", singular" : "", t->script ? ", " : "",
             t->script ? t->script : "");
}

/* ---- What the program finds ------------------------------------------------------------------------------- */

/* Where Cholesky's factorization ends at a pivot, what is before it is the factor, and the rest of the triangle may be anything. */
static inline bool is_known_in_a(const trial *t, int64_t i, int64_t j)
{
    const bool is_whole = class_of(t)->factors != TB_CHOLESKY || t->singular == 0;
    return is_whole || (i < t->singular - 1 && j < t->singular - 1);
}

static inline int64_t count_others(const trial *t, const array *array, const void *found,
                                   const void *expected)
{
    const size_t bytes = tb_bytes_of(element_of(t));
    int64_t others = 0;
    for (int64_t i = 0; i < array->count; i++)
        others += number_at(t, found, i) != number_at(t, expected, i) &&
                  memcmp((const char *)found + (size_t)i * bytes, (const char *)expected + (size_t)i * bytes,
                         bytes) != 0;
    return others;
}

static inline void check_a(const trial *t, const void *found, const char *text)
{
    const array array = a_of(t);
    void *expected = make_array(t, &array);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->n; i++) {
            const int64_t place = place_in(t, &array, i, j);
            if (is_stored(t, i, j))
                set_number(t, expected, place,
                           is_known_in_a(t, i, j) ? factors_in_a(t, i, j) : number_at(t, found, place));
        }
    const int64_t others = count_others(t, &array, found, expected);
    CHECK(others == 0, "%s: %d elements of A are wrong", text, (int)others);
    free(expected);
}

/* Where nothing is solved it is what was given. */
static inline void check_b(const trial *t, const void *found, const void *given, const char *text)
{
    const array array = b_of(t);
    void *expected = make_array(t, &array);
    for (int64_t j = 0; j < t->nrhs; j++)
        for (int64_t i = 0; i < t->n; i++)
            set_number(t, expected, place_in(t, &array, i, j), solution_at(t, i, j));
    const int64_t others = count_others(t, &array, found, t->singular ? given : expected);
    CHECK(others == 0, "%s: %d elements of B are wrong", text, (int)others);
    free(expected);
}

static inline void check_pivots(const trial *t, int64_t *pivots, const char *text)
{
    const tb_pivots found = {pivots, bits_of(t)};
    int64_t wrong = 0;
    for (int64_t i = 0; i < t->n && has_pivots(t); i++)
        wrong += tb_pivot_at(found, i) != pivot_of(t, i);
    CHECK(wrong == 0 && tb_pivot_at(found, t->n) == UNTOUCHED, "%s: %d pivots are wrong", text, (int)wrong);
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

static inline void try(const trial *t)
{
    char text[200];
    const size_t a_bytes = a_of(t).bytes, b_bytes = b_of(t).bytes;
    void *a = make_a(t), *b = make_b(t), *given = malloc(b_bytes + 1);
    int64_t *pivots = make_pivots(t);
    describe(t, text);
    memcpy(given, b, b_bytes);
    void *a_there = place_there(t->of_a, a, a_bytes), *b_there = place_there(t->of_b, b, b_bytes);
    const call c = call_of(t, a_there, pivots, b_there);
    const int64_t info = make_call(&c);
    bring_back(t->of_a, a, a_there, a_bytes);
    bring_back(t->of_b, b, b_there, b_bytes);
    CHECK(info == t->singular, "%s: info is %d, not %d", text, (int)info, (int)t->singular);
    check_a(t, a, text);
    check_b(t, b, given, text);
    check_pivots(t, pivots, text);
    free(pivots);
    free(given);
    free(b);
    free(a);
}

static inline void force_device(void)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
}

#endif
