/* Products for families of GEMM kernels on the host: of few tiles; batches, masks and zeros. Numbers are
 * integers, so that C is exact whatever the order of summation. Operands end where memory that may not be
 * read begins, and between columns is NaN. Header only, for one element: `number` is its type, `total` that
 * of sums, which are exact, ROUTINE its routine. Where EMULATED_COMPLEX is defined, numbers are complex.
 */
#ifndef TB_EMULATED_GEMM_H
#define TB_EMULATED_GEMM_H

#include "kernels/mask.h"
#include "tests/check.h"
#include "tests/emulated/guarded.h"
#include "words/members.h"
#include "words/integers.h"
#include "words/lowered.h"

#include <complex.h>

enum { MEMBERS = 3, LARGEST = 9, K_OF_LARGE = 120, IN_VECTOR = 16 / sizeof(number) };
#ifndef VOLUME_MOST
#define VOLUME_MOST 20000000 /* multiply-adds of numbers */
#endif

/* The matrices of one operand, of rows or columns of both sorts: an address, or leading dimension, or
 * distance between matrices, that is no multiple of 16 bytes is copied number by number. */
typedef struct stored {
    int64_t stride;
    memory memory;
} stored;

typedef struct test {
    stored operands[TB_ROLES];
    memory before; /* C's */
    void *members[TB_ROLES][MEMBERS];
    tb_product given;
    int64_t apart; /* by which columns are further apart than in other tests; 0: this is one of those */
} test;

static number *matrix(const test *t, tb_role role, int64_t member)
{
    return (number *)tb_member_at(&t->given, role, member);
}

/* A matrix of C, before the product. */
static const number *matrix_before(const test *t, int64_t member)
{
    const char *now = (const char *)matrix(t, TB_C, member);
    return (const number *)(const void *)(t->before.start + (now - t->operands[TB_C].memory.start));
}

static bool is_complex(void)
{
    return tb_is_complex(tb_routine_rows[ROUTINE].element);
}

static number draw_number(check_random *random)
{
    const number real = (number)check_between(random, -LARGEST, LARGEST);
#ifdef EMULATED_COMPLEX
    return real + I * (number)check_between(random, -LARGEST, LARGEST);
#else
    return real;
#endif
}

static total conjugated_if(bool is_conjugated, number x)
{
#ifdef EMULATED_COMPLEX
    return is_conjugated ? conj(x) : x;
#else
    (void)is_conjugated;
    return (total)x;
#endif
}

/* Bytes by which what is complex may begin beside a multiple of 16: C, which is written number by number
 * then, and what is not read. */
static int64_t shift_of(const test *t, tb_role role)
{
    return is_complex() && t->apart == 0 && (role == TB_C || t->given.k == 0) ? (int64_t)sizeof(number) / 2
                                                                              : 0;
}

/* Gives an operand its matrices, in an order that is no stride's or in one that is. */
static void store(test *t, tb_role role, int64_t members, bool even, check_random *random)
{
    tb_operand *x = &t->given.operands[role];
    stored *own = &t->operands[role];
    x->ld = tb_larger(x->rows, 1) + check_between(random, 0, 2);
    x->ld = t->apart + (even ? tb_round_up(x->ld, IN_VECTOR) : x->ld);
    own->stride = x->ld * x->columns + (even ? 0 : check_between(random, 0, 1));
    const int64_t of_last = x->rows > 0 && x->columns > 0 ? x->ld * (x->columns - 1) + x->rows : 0;
    const int64_t numbers = own->stride * (members - 1) + of_last;
    const size_t bytes = (size_t)(even ? tb_round_up(numbers, IN_VECTOR) : numbers) * sizeof(number);
    const size_t all_bytes = bytes + (size_t)(even ? 0 : shift_of(t, role));
    own->memory = t->apart > 0 ? untouched(all_bytes) : guarded(all_bytes);
    for (int64_t i = 0; i < members; i++)
        t->members[role][i] =
            own->memory.start + (i < 2 && members > 2 ? 1 - i : i) * own->stride * (int64_t)sizeof(number);
    x->data = t->members[role][0];
    if (members > 1)
        tb_spread(&t->given, role, members, own->stride, members > 2 ? t->members[role] : NULL);
    for (int64_t member = 0; member < members; member++)
        for (int64_t column = 0; column < x->columns; column++)
            for (int64_t row = 0; row < x->rows; row++)
                matrix(t, role, member)[row + column * x->ld] = draw_number(random);
}

static int64_t members_of(const test *t)
{
    return tb_members_of(&t->given);
}

static bool is_written(const tb_product *product, int64_t row, int64_t column)
{
    return tb_mask_has((int32_t)product->mask, product->mask_pairs ? 2 : 1, product->diagonal, row, column);
}

static void draw_extents(tb_product *product, int64_t members, check_random *random)
{
    static const int64_t sides[] = {1, 2, 7, 31, 32, 33, 63, 64, 64, 65, 100, 128, 128, 130, 192},
                         ks[] = {0,  1,  2,   7,   9,   16,   17,   31,   32,   33,   64,
                                 66, 77, 100, 256, 511, 1000, 1002, 2000, 4100, 8200, 15000};
    product->m = CHECK_PICK(random, sides);
    product->n = CHECK_PICK(random, sides);
    product->k = CHECK_PICK(random, ks);
    if (tb_round_up(product->m, 32) * tb_round_up(product->n, 32) * product->k * members > VOLUME_MOST)
        product->k = K_OF_LARGE;
}

/* Draws the diagonal of a mask's edge. Most go past a tile's corner on the triangle's other side, where one
 * element decides whether all of the tile is written. */
static int64_t draw_diagonal(const tb_product *product, check_random *random)
{
    enum { CORNERS_APART = 32, BESIDE = 2 };
    const int64_t anywhere = check_between(random, -product->n, product->m),
                  beside = check_between(random, 1, BESIDE);
    if (check_between(random, 0, 2) == 0)
        return anywhere;
    return anywhere / CORNERS_APART * CORNERS_APART + (product->mask == TB_LOWER ? beside : -beside);
}

/* Some products want a triangle of C alone; some, but no batch, have a triangle as an operand. */
static void draw_triangles(tb_product *product, int64_t members, check_random *random)
{
    static const int64_t sides[] = {2, 33, 64, 130, 192, 300, 420};
    const tb_triangle triangle = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    const int64_t side = CHECK_PICK(random, sides);
    const bool has_zeros = members == 1 && !is_complex();
    switch (check_between(random, 0, has_zeros ? 7 : 4)) {
    case 0:
    case 1:
        product->mask = triangle;
        product->mask_pairs = !is_complex() && product->m % 2 == 0 && check_between(random, 0, 3) == 0;
        product->diagonal = draw_diagonal(product, random);
        break;
    case 5:
        product->a_nonzero = triangle;
        product->m = product->k = side;
        product->n = tb_smaller(product->n, 65);
        break;
    case 6:
        product->b_nonzero = triangle;
        product->n = product->k = side;
        product->m = tb_smaller(product->m, 65);
        break;
    default:
        break;
    }
}

static void clear_beyond(const tb_operand *x, number *matrix, tb_triangle triangle)
{
    for (int64_t column = 0; column < x->columns && triangle != TB_FULL; column++)
        for (int64_t row = 0; row < x->rows; row++) {
            const int64_t below = x->transposed ? column - row : row - column;
            if (triangle == TB_LOWER ? below < 0 : below > 0)
                matrix[row + column * x->ld] = 0;
        }
}

/* What is written, and not read, is NaN before. */
static void prepare_c(test *t)
{
    const tb_product *p = &t->given;
    const memory *c = &t->operands[TB_C].memory;
    const size_t bytes = (size_t)(guard_of(c) - c->start);
    t->before = guarded(bytes);
    memcpy(t->before.start, c->start, bytes);
    for (int64_t i = 0; i < p->m * p->n * members_of(t) && p->beta.re == 0; i++) {
        const int64_t row = i % p->m, column = i / p->m % p->n;
        if (is_written(p, row, column))
            memset(&matrix(t, TB_C, i / (p->m * p->n))[row + column * p->c.ld], 0xff, sizeof(number));
    }
}

/* No int has the distance of a tile's last column from its first one, or of a panel's, in elements. */
static void draw_apart(test *t, check_random *random)
{
    enum { M = 130, N = 66, K = 33 };
    const bool even = check_between(random, 0, 1);
    *t = (test){.apart = INT64_C(1) << 29};
    t->given = tb_gemm(ROUTINE, check_between(random, 0, 1), check_between(random, 0, 1), M, N, K, 1, NULL, 0,
                       NULL, 0, 0, NULL, 0);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(t, role, 1, even, random);
}

static void release_operands(test *t)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        release(&t->operands[role].memory);
}

static void draw(test *t, check_random *random)
{
    static const double alphas[] = {1, 1, -3}, betas[] = {0, 0, 1, -2};
    *t = (test){0};
    const bool even = check_between(random, 0, 2) > 0;
    const int64_t members = check_between(random, 0, 4) == 0 ? check_between(random, 2, MEMBERS) : 1;
    tb_product drawn = {0};
    draw_extents(&drawn, members, random);
    draw_triangles(&drawn, members, random);
    t->given =
        tb_gemm(ROUTINE, check_between(random, 0, 1), check_between(random, 0, 1), drawn.m, drawn.n, drawn.k,
                CHECK_PICK(random, alphas), NULL, 0, NULL, 0, CHECK_PICK(random, betas), NULL, 0);
    t->given.a.conjugated = is_complex() && check_between(random, 0, 1);
    t->given.b.conjugated = is_complex() && check_between(random, 0, 1);
    t->given.mask = drawn.mask;
    t->given.mask_pairs = drawn.mask_pairs;
    t->given.diagonal = drawn.diagonal;
    t->given.a_nonzero = drawn.a_nonzero;
    t->given.b_nonzero = drawn.b_nonzero;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        store(t, role, members, even, random);
    for (int64_t member = 0; member < members; member++) {
        clear_beyond(&t->given.a, matrix(t, TB_A, member), t->given.a_nonzero);
        clear_beyond(&t->given.b, matrix(t, TB_B, member), t->given.b_nonzero);
    }
    prepare_c(t);
}

/* The sum of a row of op(A) times a column of op(B), which lie in two matrices. */
static total sum_of(const tb_product *p, const number *a, const number *b, int64_t row, int64_t column)
{
    const int64_t step_a = p->a.transposed ? 1 : p->a.ld, step_b = p->b.transposed ? p->b.ld : 1;
    total sum = 0;
    a += row * (p->a.transposed ? p->a.ld : 1);
    b += column * (p->b.transposed ? 1 : p->b.ld);
    for (int64_t l = 0; l < p->k; l++)
        sum += conjugated_if(p->a.conjugated, a[l * step_a]) * conjugated_if(p->b.conjugated, b[l * step_b]);
    return sum;
}

static total expected(const test *t, int64_t member, int64_t row, int64_t column)
{
    const tb_product *p = &t->given;
    const bool written = is_written(p, row, column);
    const total old =
        written && p->beta.re == 0 ? 0 : (total)matrix_before(t, member)[row + column * p->c.ld];
    if (!written)
        return old;
    const number *a = matrix(t, TB_A, member), *b = matrix(t, TB_B, member);
    total sum = sum_of(p, a, b, row, column);
    if (p->terms == 2) {
        const tb_product second = tb_term_of(p, 1);
        sum += sum_of(&second, b, a, row, column);
    }
    return p->alpha.re * sum + p->beta.re * old;
}

/* What lies between columns and matrices is still NaN; so what C has is made NaN here. */
static void check_product(const test *t, const char *what)
{
    const tb_product *p = &t->given;
    int bad = 0;
    for (int64_t i = 0; i < p->m * p->n * members_of(t); i++) {
        const int64_t row = i % p->m, column = i / p->m % p->n, member = i / (p->m * p->n);
        number *found = &matrix(t, TB_C, member)[row + column * p->c.ld];
        const total wanted = expected(t, member, row, column);
        if (bad < 3)
            bad += !CHECK((total)*found == wanted, "%s: C(%lld, %lld) of %lld is %g + %g i, not %g + %g i",
                          what, (long long)row, (long long)column, (long long)member, creal(*found),
                          cimag(*found), creal(wanted), cimag(wanted));
        memset(found, 0xff, sizeof *found);
    }
    const memory *c = &t->operands[TB_C].memory;
    for (const char *byte = c->pages; byte < guard_of(c) && t->apart == 0; byte++)
        if (*byte != (char)0xff) {
            CHECK(false, "%s: written %lld bytes behind the beginning of C", what,
                  (long long)(byte - c->start));
            break;
        }
}

#endif
