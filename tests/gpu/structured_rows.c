/* The rows that read all operands as they lie, on a device: products of all elements, structures and ops, with complex alpha and
 * beta, masks, a Hermitian C, a second term, and none of k, against sums in long double. What is not stored of an operand is
 * NaN, and so is C where beta is 0; outside of the mask C keeps its bytes.
 */
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/gpu/drawn_operand.h"
#include "tests/gpu/open_device.h"
#include "words/lowered.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 400, LONGEST = 1200, SIDE = 70 };

typedef struct number {
    long double re, im;
    long double size; /* the sum of what was added up, without signs */
} number;

static long double size_of(number x)
{
    return fabsl(x.re) + fabsl(x.im);
}

static number times(number x, number y)
{
    return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re, size_of(x) * size_of(y)};
}

static number sum_of(number x, number y)
{
    return (number){x.re + y.re, x.im + y.im, x.size + y.size};
}

static number scalar_of(tb_scalar scalar)
{
    return (number){.re = scalar.re, .im = scalar.im};
}

static number number_of(bits x, tb_element element)
{
    return (number){.re = drawn_value(x.re, element), .im = drawn_value(x.im, element)};
}

/* Draws a factor of any structure; plain ones have none, and neither have those of two terms. */
static drawn draw_factor(const tb_kernel *row, int64_t rows, int64_t columns, bool plain, void *room,
                         check_random *random)
{
    const bool is_complex = tb_is_complex(row->element);
    shape shape = {.element = row->element,
                   .structure =
                       plain ? TB_GENERAL : (tb_structure)check_between(random, TB_GENERAL, TB_TRIANGULAR),
                   .stored = check_between(random, 0, 1) ? TB_UPPER : TB_LOWER,
                   .unit_diagonal = check_between(random, 0, 1),
                   .conjugated = is_complex && check_between(random, 0, 1),
                   .row = check_between(random, 0, 1) ? check_between(random, 0, SIDE) : 0,
                   .column = check_between(random, 0, 1) ? check_between(random, 0, SIDE) : 0,
                   .gap = check_between(random, 0, 3),
                   .shift = (int)check_between(random, 0, 3)};
    if (shape.structure == TB_HERMITIAN && !is_complex)
        shape.structure = TB_SYMMETRIC;
    shape.transposed = check_between(random, 0, 1);
    shape.rows = shape.transposed ? columns : rows;
    shape.columns = shape.transposed ? rows : columns;
    return draw_operand(&shape, room, random);
}

static tb_scalar draw_scalar(bool is_complex, check_random *random)
{
    static const double values[] = {0, 1, -0.75, 1.5};
    const double re = CHECK_PICK(random, values), im = CHECK_PICK(random, values);
    return (tb_scalar){re, is_complex && check_between(random, 0, 1) ? im : 0};
}

static int64_t draw_k(check_random *random)
{
    static const int64_t most[] = {0, 3, 80, 80, LONGEST};
    const int64_t bound = CHECK_PICK(random, most);
    return check_between(random, bound > 0, bound);
}

static tb_product draw_product(const tb_kernel *row, int64_t k, drawn *a, drawn *b, drawn *c,
                               void *const *room, check_random *random)
{
    const bool is_complex = tb_is_complex(row->element), two = check_between(random, 0, 4) == 0;
    const int64_t m = check_between(random, 1, SIDE), n = two ? m : check_between(random, 1, SIDE);
    tb_product given = tb_gemm(tb_real_of(row->element) == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, m, n,
                               k, 1, NULL, 1, NULL, 1, 0, NULL, 1);
    given.alpha = draw_scalar(is_complex, random);
    given.beta = draw_scalar(is_complex, random);
    given.mask = (tb_triangle)check_between(random, TB_FULL, TB_UPPER);
    given.diagonal = check_between(random, 0, 2) ? check_between(random, -n - 1, m + 1) : 0;
    given.terms = two ? 2 : 0;
    *a = draw_factor(row, m, k, two, room[0], random);
    *b = draw_factor(row, k, n, two, room[1], random);
    shape shape = {.element = row->element,
                   .rows = m,
                   .columns = n,
                   .gap = check_between(random, 0, 2),
                   .shift = (int)check_between(random, 0, 1)};
    *c = draw_operand(&shape, room[2], random);
    if (tb_is_zero(given.beta)) {
        memset(c->block, 0xff, c->bytes);
        arena_copy(c->on_device, c->block, c->bytes);
    }
    given.a = a->operand;
    given.b = b->operand;
    given.c = c->operand;
    if (is_complex && check_between(random, 0, 1)) {
        given.c.structure = TB_HERMITIAN;
        given.c.diagonal = check_between(random, 0, 1) ? 0 : check_between(random, -5, 5);
    }
    return given;
}

/* The sum along k of a term, times its alpha. A second term reads what the first one does, each in the other's place. */
static number sum_up(const tb_product *given, int term, const drawn *a, const drawn *b, int64_t i, int64_t j)
{
    const tb_product one = tb_term_of(given, term);
    drawn left = term == 0 ? *a : *b, right = term == 0 ? *b : *a;
    left.operand = one.a;
    right.operand = one.b;
    number sum = {0};
    for (int64_t l = 0; l < given->k; l++)
        sum = sum_of(sum, times(number_of(drawn_number(&left, i, l), one.a.element),
                                number_of(drawn_number(&right, l, j), one.b.element)));
    number scaled = times(scalar_of(one.alpha), sum);
    scaled.size = size_of(scalar_of(one.alpha)) * sum.size;
    return scaled;
}

static number expected_at(const tb_product *given, const drawn *a, const drawn *b, const drawn *c, int64_t i,
                          int64_t j)
{
    const bool is_real = given->c.structure == TB_HERMITIAN && i + given->c.diagonal == j;
    number sum = {0};
    if (!tb_is_zero(given->beta)) {
        number old = number_of(drawn_number(c, i, j), given->c.element);
        if (is_real)
            old.im = 0;
        sum = times(scalar_of(given->beta), old);
    }
    for (int term = 0; term < tb_terms_of(given); term++)
        sum = sum_of(sum, sum_up(given, term, a, b, i, j));
    if (is_real)
        sum.im = 0;
    return sum;
}

/* Whether the element of C is what it should be: a chain's roundings, those of the chains' sums, and of alpha and beta. */
static bool holds(const tb_product *given, const drawn *a, const drawn *b, const drawn *before,
                  const drawn *after, int64_t i, int64_t j)
{
    const tb_element element = given->c.element;
    const number found = number_of(drawn_number(after, i, j), element),
                 wanted = expected_at(given, a, b, before, i, j);
    const int parts = tb_is_complex(element) ? 2 : 1;
    const long double steps =
        parts * tb_terms_of(given) * (given->k < 512 ? given->k : 512 + given->k / 512) + 12;
    const long double error = steps * tb_element_rows[element].roundoff * wanted.size;
    const bool is_real = parts == 2 && given->c.structure == TB_HERMITIAN && i + given->c.diagonal == j;
    return fabsl(found.re - wanted.re) <= error && fabsl(found.im - wanted.im) <= error &&
           (!is_real || found.im == 0);
}

static void describe(const tb_kernel *row, const tb_product *p, char *text, size_t length)
{
    static const char structures[] = "gsht";
    int at = snprintf(text, length,
                      "%s %lld x %lld x %lld, alpha %g %+gi, beta %g %+gi, mask %d at %lld, terms %d",
                      row->name, (long long)p->m, (long long)p->n, (long long)p->k, p->alpha.re, p->alpha.im,
                      p->beta.re, p->beta.im, (int)p->mask, (long long)p->diagonal, p->terms);
    for (tb_role role = TB_A; role < TB_ROLES && (size_t)at < length; role++) {
        const tb_operand *x = &p->operands[role];
        at += snprintf(text + at, length - (size_t)at, ", %c%s%s%s%s diagonal %lld", structures[x->structure],
                       x->stored == TB_UPPER ? " upper" : "", x->unit_diagonal ? " unit" : "",
                       x->transposed ? " T" : "", x->conjugated ? " C" : "", (long long)x->diagonal);
    }
}

static void check_product(tb_stream *stream, const tb_kernel *row, void *const *room, check_random *random)
{
    drawn a, b, c;
    char text[320];
    const tb_product given = draw_product(row, draw_k(random), &a, &b, &c, room, random);
    const tb_schedule schedule = tb_make_schedule(row, &given, target_of_device(0));
    const tb_status status = tb_enqueue_launch(stream, row, &given, &schedule, NULL, false);
    drawn after = c;
    after.block = malloc(c.bytes);
    describe(row, &given, text, sizeof text);
    CHECK(schedule.workspace == 0 && status == TB_OK && tb_synchronize(stream) == TB_OK, "%s: status %d",
          text, (int)status);
    arena_copy(after.block, c.on_device, c.bytes);
    int64_t wrong = -1;
    for (int64_t j = 0; j < given.n && wrong < 0; j++) {
        const tb_range rows = tb_masked_rows(&given, j);
        for (int64_t i = rows.first; i < rows.first + rows.count && wrong < 0; i++) {
            if (!holds(&given, &a, &b, &c, &after, i, j))
                wrong = i + j * given.m;
            memcpy(drawn_at(&after, i, j), drawn_at(&c, i, j), tb_bytes_of(row->element));
        }
    }
    if (CHECK(wrong < 0, "%s: C(%lld, %lld) is wrong", text, (long long)(wrong % given.m),
              (long long)(wrong / given.m)))
        CHECK(memcmp(after.block, c.block, c.bytes) == 0, "%s: bytes outside of the mask have changed", text);
    unsigned char *blocks[] = {a.block, b.block, c.block, after.block};
    for (int i = 0; i < 4; i++)
        free(blocks[i]);
}

int main(void)
{
    tb_device_description description;
    tb_stream *stream = open_device(&description);
    /* A structured operand may be a rectangle of a matrix as long as k. */
    const size_t side = LONGEST + SIDE + 8, bytes = side * side * tb_bytes_of(TB_COMPLEX_FP64);
    void *room[3];
    for (int i = 0; i < 3; i++)
        room[i] = arena_allocate(TB_MEMORY_DEVICE, bytes);
    check_random random = {.state = check_seed()};
    for (size_t i = 0; i < tb_catalog_size; i++)
        for (int number = 0; tb_catalog[i].reads == TB_READS_STRUCTURED &&
                             tb_catalog[i].in_place == TB_OUT_OF_PLACE && number < PRODUCTS;
             number++)
            check_product(stream, &tb_catalog[i], room, &random);
    for (int i = 0; i < 3; i++)
        arena_release(TB_MEMORY_DEVICE, room[i]);
    tb_destroy_stream(stream);
    return check_result();
}
