/* The oracle of triangular products and solves (tests/oracle.h) takes what plain loops in the elements' own arithmetic compute,
 * of every side, triangle and way to read it, and what is spoilt by a NaN as it has to be; it takes none of what loops with a
 * mistake in them compute. Sums of several rows at once are those that long doubles give.
 */
#include "tests/check.h"
#include "tests/oracle.h"
#include "tests/sums.h"

#include <complex.h>
#include <math.h>

typedef double complex number;

typedef enum mistake {
    NONE,
    LAST_TERM_LEFT_OUT,
    OTHER_DIAGONAL,
    OTHER_TRIANGLE,
    OTHER_DIRECTION,
    OTHER_CONJUGATION,
    ALPHA_FORGOTTEN,
    LINE_LEFT_OUT,
    ROUNDED_TO_FEW_BITS,
    WRITTEN_BESIDE,
    MISTAKES,
} mistake;

static const char *const mistakes[] = {
    [NONE] = "what plain loops compute",
    [LAST_TERM_LEFT_OUT] = "a triangle without its last terms",
    [OTHER_DIAGONAL] = "a diagonal of ones for one that is given, or the other way round,",
    [OTHER_TRIANGLE] = "the other triangle",
    [OTHER_DIRECTION] = "the transpose",
    [OTHER_CONJUGATION] = "the conjugate",
    [ALPHA_FORGOTTEN] = "an alpha of 1",
    [LINE_LEFT_OUT] = "a line that has been left out",
    [ROUNDED_TO_FEW_BITS] = "what is rounded to few bits",
    [WRITTEN_BESIDE] = "a byte beside C",
};

/* An m x n matrix as the call's layout has it. */
static void *place_of(const product *p, const matrix *x, int64_t row, int64_t column)
{
    const int64_t at = p->row_major ? row * x->ld + column : column * x->ld + row;
    return (char *)matrix_start_in(x, x->block) + at * (int64_t)tb_bytes_of(x->element);
}

static number get(const product *p, const matrix *x, int64_t row, int64_t column)
{
    const void *at = place_of(p, x, row, column);
    switch (x->element) {
    case TB_FP32:
        return *(const float *)at;
    case TB_FP64:
        return *(const double *)at;
    case TB_COMPLEX_FP32:
        return *(const float complex *)at;
    default:
        return *(const double complex *)at;
    }
}

static void put(const product *p, const matrix *x, int64_t row, int64_t column, number value)
{
    const int64_t line = p->row_major ? row : column, position = p->row_major ? column : row;
    matrix_set(x, line, position, creal(value));
    if (tb_is_complex(x->element))
        matrix_set_imaginary(x, line, position, cimag(value));
}

static number rounded(tb_element element, number value)
{
    return tb_real_of(element) == TB_FP32 ? (number)(float complex)value : value;
}

/* An element of op(A); what is not stored is zero. */
static number triangle_at(const product *p, mistake mistake, int64_t i, int64_t j)
{
    const bool left = p->structure_a == TB_TRIANGULAR;
    const matrix *a = left ? &p->a : &p->b;
    bool lower = (left ? p->stored_a : p->stored_b) == TB_LOWER;
    bool transposed = left ? p->transpose_a : p->transpose_b, unit = p->unit_diagonal;
    bool conjugated = left ? p->conjugate_a : p->conjugate_b;
    lower ^= mistake == OTHER_TRIANGLE;
    unit ^= mistake == OTHER_DIAGONAL;
    transposed ^= mistake == OTHER_DIRECTION;
    conjugated ^= mistake == OTHER_CONJUGATION;
    const int64_t row = transposed ? j : i, column = transposed ? i : j;
    if (row == column && unit)
        return 1;
    if (row != column && (row > column) != lower)
        return 0;
    const number x = get(p, a, row, column);
    return conjugated ? conj(x) : x;
}

/* A line of C, which is a column where the triangle is on the left, by plain loops. */
static void compute_line(const product *p, mistake mistake, const matrix *c, int64_t line)
{
    const bool left = p->structure_a == TB_TRIANGULAR, solves = p->in_place == TB_SOLVES;
    const tb_element element = c->element;
    const number alpha = mistake == ALPHA_FORGOTTEN ? 1 : CMPLX(p->alpha, p->alpha_im);
    bool forwards =
        ((left ? p->stored_a : p->stored_b) == TB_LOWER) != (left ? p->transpose_a : p->transpose_b);
    forwards = (forwards == left) ==
               solves; /* in the order in which nothing is overwritten that is still to be read */
    forwards ^= mistake == OTHER_TRIANGLE || mistake == OTHER_DIRECTION;
    for (int64_t step = 0; step < p->k; step++) {
        const int64_t i = forwards ? step : p->k - 1 - step;
        const number own = get(p, c, left ? i : line, left ? line : i),
                     diagonal = triangle_at(p, mistake, i, i);
        const int64_t first = solves ? 0 : step + 1,
                      end = (solves ? step : p->k) - (mistake == LAST_TERM_LEFT_OUT);
        number sum = rounded(element, solves ? alpha * own : diagonal * own);
        for (int64_t other = first; other < end; other++) {
            const int64_t l = forwards ? other : p->k - 1 - other;
            const number a = left ? triangle_at(p, mistake, i, l) : triangle_at(p, mistake, l, i),
                         term = rounded(element, a * get(p, c, left ? l : line, left ? line : l));
            sum = rounded(element, solves ? sum - term : sum + term);
        }
        number result = solves ? rounded(element, sum / diagonal) : rounded(element, alpha * sum);
        if (mistake == ROUNDED_TO_FEW_BITS)
            result *= 1 + (double)(64 * (p->k + 8)) * (tb_real_of(element) == TB_FP32 ? 0x1p-24 : 0x1p-53);
        put(p, c, left ? i : line, left ? line : i, result);
    }
}

static matrix compute(const product *p, mistake mistake)
{
    matrix c = matrix_clone(&p->c);
    const int64_t lines = p->structure_a == TB_TRIANGULAR ? p->n : p->m;
    for (int64_t line = 0; line < lines - (mistake == LINE_LEFT_OUT); line++)
        compute_line(p, mistake, &c, line);
    if (mistake == WRITTEN_BESIDE)
        ((char *)matrix_start_in(&c, c.block))[-1] ^= 1;
    return c;
}

static product draw_product(check_random *random, tb_element element, int form)
{
    const bool left = form & 1, unit = form & 2, transposed = form & 8, solves = form & 32;
    product p = {.row_major = form & 16,
                 .m = check_between(random, 5, 40),
                 .n = check_between(random, 5, 40),
                 .alpha = 1.5,
                 .alpha_im = tb_is_complex(element) ? -0.5 : 0,
                 .beta = 1,
                 .unit_diagonal = unit,
                 .exact = form & 64,
                 .in_place = solves ? TB_SOLVES : TB_MULTIPLIES};
    const tb_triangle stored = form & 4 ? TB_LOWER : TB_UPPER;
    p.k = left ? p.m : p.n;
    *(left ? &p.structure_a : &p.structure_b) = TB_TRIANGULAR;
    *(left ? &p.stored_a : &p.stored_b) = stored;
    *(left ? &p.transpose_a : &p.transpose_b) = transposed;
    *(left ? &p.conjugate_a : &p.conjugate_b) = transposed && tb_is_complex(element);
    matrix triangle = matrix_make_of(element, p.k, p.k, p.k + 3, 1);
    matrix_fill(&triangle, p.exact ? MATRIX_INTEGERS_SOLVABLE : MATRIX_SOLVABLE, random);
    *(left ? &p.a : &p.b) = triangle;
    *(left ? &p.b : &p.a) = matrix_make_of(element, 0, 0, 1, 0);
    p.c = matrix_make_of(element, p.row_major ? p.n : p.m, p.row_major ? p.m : p.n,
                         (p.row_major ? p.n : p.m) + 2, 2);
    matrix_fill(&p.c, p.exact ? MATRIX_EVEN : MATRIX_UNIFORM, random);
    if (p.exact && solves)
        product_make_solved(&p);
    product_hide_the_rest(&p);
    return p;
}

static void expect(bool expected, const product *p, const matrix *c, int form, const char *what)
{
    char message[256] = "";
    const bool holds = product_holds(p, c, message, sizeof message);
    CHECK(holds == expected, "form %d, element %d, m=%" PRId64 " n=%" PRId64 ", %s is %s: %s", form,
          (int)p->c.element, p->m, p->n, what, holds ? "taken" : "not taken", message);
}

static void set_anywhere(check_random *random, const matrix *x, double value)
{
    matrix_set(x, check_between(random, 0, x->lines - 1), check_between(random, 0, x->length - 1), value);
}

/* One number of C, or of the triangle, is none, or infinite. */
static void check_spoilt(check_random *random, product *p, int form)
{
    static const double spoilers[] = {NAN, INFINITY, -INFINITY};
    matrix clean = compute(p, NONE), from_nowhere = matrix_clone(&clean);
    set_anywhere(random, &from_nowhere, CHECK_PICK(random, spoilers));
    expect(false, p, &from_nowhere, form, "what is not a number, of finite ones,");

    const bool in_triangle = check_between(random, 0, 1);
    set_anywhere(random,
                 !in_triangle                      ? &p->c
                 : p->structure_a == TB_TRIANGULAR ? &p->a
                                                   : &p->b,
                 CHECK_PICK(random, spoilers));
    product_hide_the_rest(p);
    matrix spoilt = compute(p, NONE);
    expect(true, p, &spoilt, form, "what is spoilt");
    if (!in_triangle)
        expect(false, p, &clean, form, "what ought to be spoilt");
    matrix *spent[] = {&clean, &from_nowhere, &spoilt};
    for (int i = 0; i < 3; i++)
        matrix_free(spent[i]);
}

static void check_form(check_random *random, tb_element element, int form)
{
    product p = draw_product(random, element, form);
    for (mistake mistake = NONE; mistake < MISTAKES; mistake++) {
        if (mistake == OTHER_CONJUGATION && !tb_is_complex(element))
            continue;
        matrix c = compute(&p, mistake);
        expect(mistake == NONE, &p, &c, form, mistakes[mistake]);
        matrix_free(&c);
    }
    check_spoilt(random, &p, form);
    matrix *spent[] = {&p.a, &p.b, &p.c};
    for (int i = 0; i < 3; i++)
        matrix_free(spent[i]);
}

/* ---- Sums of several rows at once ------------------------------------------------------------------------- */

enum { MOST_STEPS = 70 };

/* Doubles of all digits and of sizes up to two to the power of most, or down to its inverse. */
static void draw_numbers(check_random *random, double *numbers, int64_t count, int64_t least, int64_t most)
{
    for (int64_t i = 0; i < count; i++)
        numbers[i] = ldexp((double)check_between(random, -(1LL << 53), 1LL << 53),
                           (int)check_between(random, least, most) - 53);
}

/* Long doubles round off what the sum is known to by the one way and not by the other. */
static bool agree(long double sum, long double wanted, long double magnitude, int64_t k)
{
    if (!isfinite(wanted))
        return isnan(wanted) ? isnan(sum) : sum == wanted;
    return fabsl(sum - wanted) <= (long double)k * 0x1p-63L * magnitude;
}

static void check_sums(check_random *random, int64_t least, int64_t most, double spoiler)
{
    double a[MOST_STEPS * AT_ONCE], b[MOST_STEPS], rows[MOST_STEPS * AT_ONCE];
    const int64_t k = check_between(random, 1, MOST_STEPS), count = check_between(random, 1, AT_ONCE);
    draw_numbers(random, a, k * count, least, most);
    draw_numbers(random, b, k, least, most);
    if (spoiler != 0)
        a[check_between(random, 0, k * count - 1)] = spoiler;
    const view left = {.element = TB_FP64, .elements = a, .down = 1, .right = count},
               right = {.element = TB_FP64, .elements = b, .down = 1, .right = k};
    copy_rows(&left, 0, count, k, rows);
    const sums got = sum_rows(TB_FP64, &left, 0, count, rows, &right, 0, k),
               wanted = sum_few(&left, &right, 0, count, 0, k);
    for (int64_t row = 0; row < count; row++)
        CHECK(agree(got.terms[row], wanted.terms[row], wanted.magnitudes[row], k) &&
                  (isnan(spoiler) || isinf(spoiler) ||
                   fabsl(got.magnitudes[row] / wanted.magnitudes[row] - 1) < 0x1p-45L),
              "of %" PRId64 " terms of 2^%" PRId64 " to 2^%" PRId64 " the sum is %.20Lg, not %.20Lg", k,
              2 * least, 2 * most, got.terms[row], wanted.terms[row]);
}

/* Numbers are of sizes whose products doubles have, and of such as they do not have, or not with all their digits. */
static void check_sums_of_all_sizes(check_random *random)
{
    static const int64_t ranges[][2] = {{0, 0},     {-30, 30},    {-400, 400},
                                        {300, 540}, {-540, -500}, {-1000, 1000}};
    for (int range = 0; range < 6; range++)
        for (int time = 0; time < 200; time++)
            check_sums(random, ranges[range][0], ranges[range][1], 0);
    const double spoilers[] = {NAN, INFINITY, -INFINITY};
    for (int time = 0; time < 90; time++)
        check_sums(random, 0, 0, spoilers[time % 3]);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    check_sums_of_all_sizes(&random);
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (int form = 0; form < 128; form++)
            check_form(&random, element, form);
    return check_result();
}
