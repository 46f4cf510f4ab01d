/* Solves by every name and in every kind of memory: what the program finds is the known solution and, where they are made, the factors; and
 * all else is as it was.
 *
 * Header only, for programs that are linked with the library and a device.
 */
#ifndef TB_KNOWN_SOLVE_H
#define TB_KNOWN_SOLVE_H

#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "tests/conformance/arena.h"
#include "tests/known_equations.h"

#include <dlfcn.h>

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

/* NaN is the same as itself. */
static inline bool is_same(const trial *t, const void *found, const void *expected, int64_t place)
{
    const size_t bytes = tb_bytes_of(element_of(t)), at = (size_t)place * bytes;
    return number_at(t, found, place) == number_at(t, expected, place) ||
           memcmp((const char *)found + at, (const char *)expected + at, bytes) == 0;
}

static inline int64_t count_others(const trial *t, const array *array, const void *found,
                                   const void *expected)
{
    int64_t others = 0;
    for (int64_t i = 0; i < array->count; i++)
        others += !is_same(t, found, expected, i);
    return others;
}

/* What is not known is as it is found. */
static inline void *expect_a(const trial *t, const void *found)
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
    return expected;
}

static inline void *expect_b(const trial *t)
{
    const array array = b_of(t);
    void *expected = make_array(t, &array);
    for (int64_t j = 0; j < t->nrhs; j++)
        for (int64_t i = 0; i < t->n; i++)
            set_number(t, expected, place_in(t, &array, i, j), solution_at(t, i, j));
    return expected;
}

static inline void check_a(const trial *t, const void *found, const char *text)
{
    const array array = a_of(t);
    void *expected = expect_a(t, found);
    const int64_t others = count_others(t, &array, found, expected);
    CHECK(others == 0, "%s: %d elements of A are wrong", text, (int)others);
    free(expected);
}

/* Where nothing is solved it is what was given. */
static inline void check_b(const trial *t, const void *found, const void *given, const char *text)
{
    const array array = b_of(t);
    void *expected = expect_b(t);
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
