#include "tests/factors.h"
#include "tests/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MULTIPLIES 0x1p25

static const struct {
    double roundoff, smallest; /* smallest: the error of a result that underflows */
} formats[TB_ELEMENTS] = {
    [TB_FP32] = {0x1p-24, 0x1p-149},
    [TB_FP64] = {0x1p-53, 0x1p-1074},
    [TB_COMPLEX_FP32] = {0x1p-24, 0x1p-149},
    [TB_COMPLEX_FP64] = {0x1p-53, 0x1p-1074},
};

static bool belongs(const product *product, int64_t i, int64_t j)
{
    return product->mask == TB_FULL || (product->mask == TB_LOWER ? i >= j : i <= j);
}

static bool belongs_to_c(const product *product, int64_t line, int64_t position)
{
    return product->row_major ? belongs(product, line, position) : belongs(product, position, line);
}

/* The other triangle, a diagonal of ones, and imaginary parts on a Hermitian diagonal. */
static void hide_unread(const product *product, const matrix *x, tb_structure structure, tb_triangle stored)
{
    for (int64_t line = 0; line < x->lines && structure != TB_GENERAL; line++)
        for (int64_t i = 0; i < x->length; i++)
            if ((product->row_major ? !is_stored(stored, line, i) : !is_stored(stored, i, line)) ||
                (i == line && structure == TB_TRIANGULAR && product->unit_diagonal))
                matrix_hide(x, line, i);
            else if (i == line && structure == TB_HERMITIAN && tb_is_complex(x->element))
                matrix_set_imaginary(x, line, i, NAN);
}

void product_hide_the_rest(const product *product)
{
    const matrix *c = &product->c;
    for (int64_t line = 0; line < c->lines; line++)
        for (int64_t i = 0; i < c->length; i++)
            if (!belongs_to_c(product, line, i))
                matrix_hide(c, line, i);
    for (int64_t i = 0; i < c->lines && product->hermitian; i++)
        matrix_set_imaginary(c, i, i, 1000);
    hide_unread(product, &product->a, product->structure_a, product->stored_a);
    hide_unread(product, &product->b, product->structure_b, product->stored_b);
}

/* The index from element 0 of the first canary of C that after has lost. */
static bool find_lost_canary(const product *product, const matrix *after, int64_t *index)
{
    const matrix *before = &product->c;
    const size_t size = tb_bytes_of(before->element);
    for (size_t i = 0; i < before->bytes / size; i++) {
        int64_t position = (int64_t)i - (int64_t)before->first;
        bool inside = position >= 0 && position / before->ld < before->lines;
        bool element = inside && position % before->ld < before->length &&
                       belongs_to_c(product, position / before->ld, position % before->ld);
        *index = position;
        if (!element &&
            memcmp((const char *)before->block + i * size, (const char *)after->block + i * size, size) != 0)
            return true;
    }
    return false;
}

static bool close_enough(const product *product, long double got, long double expected, long double magnitude)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : got == expected;
    const tb_element element = product->c.element;
    const int64_t parts = tb_is_complex(element) ? 2 : 1;
    const int64_t own = product->in_place == TB_SOLVES && parts == 2 ? 5 : 3;
    const double roundings =
        (double)(parts * ((product->terms == 2 ? 2 : 1) * product->k + own) + product->more_roundings);
    const long double bound =
        product->exact ? 0 : roundings * (formats[element].roundoff * magnitude + formats[element].smallest);
    return fabsl(got - expected) <= bound;
}

/* A product that is looked at, and where a message about it goes. */
typedef struct check {
    const product *product;
    view a, b, before, after;
    int64_t parts;           /* of a number */
    int64_t m, k;            /* of the views; 0 steps of k where A and B are not read */
    bool triangle_is_spoilt; /* some of a triangular factor is no number, or infinite */
    char *message;
    size_t size;
} check;

/* alpha times a number and the terms of its magnitude, of which there are as many as it has parts. */
typedef struct scaled {
    long double part[2], magnitude;
} scaled;

static scaled scale(double re, double im, const long double *number, const long double *magnitudes,
                    int64_t parts)
{
    const long double a = re, b = im;
    scaled product = {.part = {a * number[0], 0}, .magnitude = fabsl(a) * magnitudes[0]};
    if (parts == 2) {
        /* A zero imaginary part is not multiplied by what may be infinite: reals scale. */
        product.part[0] -= im == 0 ? 0 : b * number[1];
        product.part[1] = a * number[1] + (im == 0 ? 0 : b * number[0]);
        product.magnitude = (fabsl(a) + fabsl(b)) * (magnitudes[0] + magnitudes[1]);
    }
    return product;
}

/* Looks at both parts of a number; the imaginary one of reals is zero. */
static bool is_finite(const double *number)
{
    return isfinite(number[0]) && isfinite(number[1]);
}

static bool is_number_zero(const double *number)
{
    return number[0] == 0 && number[1] == 0;
}

/* The number whose parts are rows of a view from i on. */
static void read_parts(const view *view, int64_t i, int64_t j, int64_t parts, double number[2])
{
    for (int64_t part = 0; part < parts; part++)
        number[part] = number_at(view, i + part, j);
}

/* Whether each part is as near to what is expected as it has to be; if not, says which of them. */
static bool parts_hold(const check *check, int64_t i, int64_t j, const long double *got,
                       const scaled *expected, bool is_real)
{
    const product *p = check->product;
    for (int64_t part = 0; part < check->parts; part++) {
        if (part == 1 && is_real ? got[part] == 0
                                 : close_enough(p, got[part], expected->part[part], expected->magnitude))
            continue;
        snprintf(check->message, check->size,
                 "%s(%" PRId64 ", %" PRId64 ")%s is %.17Lg, not %.17Lg (off by %.3Lg u d)",
                 p->in_place == TB_SOLVES ? "what the solution gives for alpha B" : "C", i / check->parts, j,
                 part == 0 ? "" : "'s imaginary part", got[part], expected->part[part],
                 fabsl(got[part] - expected->part[part]) /
                     (formats[p->c.element].roundoff * expected->magnitude));
        return false;
    }
    return true;
}

/* Whether a real sum certainly holds, as doubles tell it: where k is not short, what they round off is not half of what the
 * sum may be off by. Others are looked at in long doubles, which take longer. */
static bool surely_holds(const check *check, const sums *sums, int64_t at, int64_t i, int64_t j)
{
    enum { ROUNDINGS_LEAST = 16 };
    const product *p = check->product;
    if (check->parts == 2 || p->terms == 2 || p->exact || p->k < ROUNDINGS_LEAST || check->k == 0)
        return false;
    const double old = p->beta == 0 ? 0 : p->beta * number_at(&check->before, i, j);
    const double expected = p->alpha * (double)sums->terms[at] + old;
    const double magnitude = fabs(p->alpha) * (double)sums->magnitudes[at] + fabs(old);
    const double bound = (double)p->k * formats[p->c.element].roundoff * magnitude;
    return fabs(number_at(&check->after, i, j) - expected) <= bound / 2 && isfinite(magnitude);
}

/* Judges a product: whether C is alpha times what sums tell, and beta times what it was. */
static bool sum_holds(const check *check, const sums *sums, int64_t at, int64_t i, int64_t j)
{
    const product *p = check->product;
    if (surely_holds(check, sums, at, i, j))
        return true;
    const bool reads_c = p->beta != 0 || p->beta_im != 0;
    long double old[2] = {0, 0}, size[2] = {0, 0};
    for (int64_t part = 0; part < check->parts && reads_c; part++) {
        old[part] = (long double)number_at(&check->before, i + part, j);
        size[part] = fabsl(old[part]);
    }
    const bool is_real = p->hermitian && i / check->parts == j;
    const bool is_left_alone = check->k == 0 && p->beta == 1 && p->beta_im == 0;
    if (is_real && !is_left_alone)
        old[1] = size[1] = 0;
    scaled expected = reads_c ? scale(p->beta, p->beta_im, old, size, check->parts) : (scaled){{0, 0}, 0};
    if (check->k > 0) {
        const scaled sum = p->terms == 2 ? scale(1, 0, sums->terms + at, sums->magnitudes + at, check->parts)
                                         : scale(p->alpha, p->alpha_im, sums->terms + at,
                                                 sums->magnitudes + at, check->parts);
        for (int64_t part = 0; part < check->parts; part++)
            expected.part[part] += sum.part[part];
        expected.magnitude += sum.magnitude;
    }
    if (is_real && !is_left_alone && isfinite(expected.part[1]))
        expected.part[1] = 0;
    long double got[2] = {0, 0};
    for (int64_t part = 0; part < check->parts; part++)
        got[part] = number_at(&check->after, i + part, j);
    /* Which parts of a complex number that is not finite are infinite and which are NaN depends on what is scaled when. */
    if (check->parts == 2 && !(isfinite(expected.part[0]) && isfinite(expected.part[1])) &&
        !(isfinite(got[0]) && isfinite(got[1])))
        return true;
    return parts_hold(check, i, j, got, &expected, is_real && !is_left_alone);
}

/* ---- In C's place ----------------------------------------------------------------------------------------- */

/* Judges a solve: whether op(A) X, which sums tell, is alpha B. */
static bool solution_holds(const check *check, const sums *sums, int64_t at, int64_t i, int64_t j)
{
    const product *p = check->product;
    long double old[2] = {0, 0}, size[2] = {0, 0};
    for (int64_t part = 0; part < check->parts; part++)
        old[part] = (long double)number_at(&check->before, i + part, j);
    scaled expected = scale(p->alpha, p->alpha_im, old, size, check->parts);
    expected.magnitude = scale(1, 0, sums->terms + at, sums->magnitudes + at, check->parts).magnitude;
    return parts_hold(check, i, j, sums->terms + at, &expected, false);
}

/* Steps of k in which the triangle has elements for this one of C. */
static tb_range steps_of_triangle(const product *p, int64_t row, int64_t column)
{
    const bool left = is_triangle_left(p);
    const bool lower =
        left ? (p->stored_a == TB_LOWER) != p->transpose_a : (p->stored_b == TB_LOWER) != p->transpose_b;
    const int64_t own = left ? row : column;
    return lower == left ? (tb_range){0, own + 1} : (tb_range){own, p->k - own};
}

/* Whether some number of C before, in the line that the triangle is applied to, is none, or infinite. */
static bool line_is_spoilt(const check *check, int64_t row, int64_t column)
{
    const bool left = is_triangle_left(check->product);
    for (int64_t l = 0; l < check->product->k; l++) {
        double number[2] = {0, 0};
        read_parts(&check->before, (left ? l : row) * check->parts, left ? column : l, check->parts, number);
        if (!is_finite(number))
            return true;
    }
    return false;
}

/* What belongs to a number of C, one term for each that is stored of the triangle. */
typedef struct terms {
    sums sums;     /* of those that are finite */
    bool shows;    /* some is not, nor can the result be */
    bool may_show; /* some is not, or is left out as it has a zero in it */
    bool may_hide; /* what is divided by is infinite or no number, and the result perhaps zero */
} terms;

static terms terms_of(const check *check, int64_t row, int64_t column)
{
    const product *p = check->product;
    const bool left = is_triangle_left(p), solves = p->in_place == TB_SOLVES;
    const int64_t parts = check->parts;
    const tb_range steps = steps_of_triangle(p, row, column);
    terms terms = {.shows = false};
    for (int64_t l = steps.first; l < steps.first + steps.count; l++) {
        const bool is_divided_by = solves && l == (left ? row : column);
        double a[2] = {0, 0}, b[2] = {0, 0};
        read_parts(&check->a, parts * row, parts * l, parts, a);
        read_parts(&check->b, parts * l, column, parts, b);
        if (is_finite(a) && is_finite(b)) {
            add_term(&terms.sums, a, b);
        } else if (is_divided_by) {
            terms.may_hide = !is_finite(left ? a : b);
        } else {
            const bool has_zero = is_number_zero(a) || is_number_zero(b);
            *(has_zero ? &terms.may_show : &terms.shows) = true;
        }
    }
    return terms;
}

/* A sum that is no number, or infinite: because of a term that belongs to it, or of one that kernels make of a zero outside of
 * the triangle. */
static bool spoilt_holds(const check *check, int64_t row, int64_t column)
{
    const product *p = check->product;
    const int64_t parts = check->parts;
    const bool solves = p->in_place == TB_SOLVES;
    const terms terms = terms_of(check, row, column);
    double old[2] = {0, 0}, got[2] = {0, 0};
    read_parts(&check->before, parts * row, column, parts, old);
    read_parts(&check->after, parts * row, column, parts, got);
    const bool shows = terms.shows || (solves && !is_finite(old));
    if (terms.may_hide || (terms.may_show && !shows))
        return true;
    if (!shows && is_finite(got))
        return (solves ? solution_holds : sum_holds)(check, &terms.sums, 0, parts * row, column);
    if (!is_finite(got) && (shows || check->triangle_is_spoilt || line_is_spoilt(check, row, column)))
        return true;
    snprintf(check->message, check->size,
             "C(%" PRId64 ", %" PRId64 ") is %g%+gi, and %s of what it depends on is finite", row, column,
             got[0], got[1], shows ? "not all" : "all");
    return false;
}

/* The number whose parts are these rows of column j. */
static bool number_holds(const check *check, const sums *sums, int64_t at, int64_t i, int64_t j)
{
    const product *p = check->product;
    if (p->in_place == TB_OUT_OF_PLACE || check->k == 0)
        return sum_holds(check, sums, at, i, j);
    for (int64_t part = 0; part < check->parts; part++)
        if (!isfinite(sums->terms[at + part]))
            return spoilt_holds(check, i / check->parts, j);
    return (p->in_place == TB_SOLVES ? solution_holds : sum_holds)(check, sums, at, i, j);
}

static bool all_hold(const check *check)
{
    const product *p = check->product;
    const int64_t parts = check->parts;
    double *rows = make_numbers((check->k + 1) * AT_ONCE);
    bool hold = true;
    for (int64_t i = 0; i < check->m && hold; i += AT_ONCE) {
        const int64_t count = check->m - i < AT_ONCE ? check->m - i : AT_ONCE;
        copy_rows(&check->a, i, count, check->k, rows);
        for (int64_t j = 0; j < p->n && hold; j++) {
            if (!belongs(p, i / parts, j) && !belongs(p, (i + count - 1) / parts, j))
                continue;
            const sums sums = sum_rows(p->c.element, &check->a, i, count, rows, &check->b, j, check->k);
            for (int64_t row = 0; row < count && hold; row += parts)
                hold = !belongs(p, (i + row) / parts, j) || number_holds(check, &sums, row, i + row, j);
        }
    }
    free(rows);
    return hold;
}

static bool samples_hold(const check *check, int64_t step)
{
    const product *p = check->product;
    for (int64_t index = 0; index < p->m * p->n; index += step) {
        const int64_t i = index % p->m * check->parts, j = index / p->m;
        if (!belongs(p, index % p->m, j))
            continue;
        const sums sums = sum_few(&check->a, &check->b, i, check->parts, j, check->k);
        if (!number_holds(check, &sums, 0, i, j))
            return false;
    }
    return true;
}

static bool is_spoilt(const view *view, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            if (!isfinite(number_at(view, i, j)))
                return true;
    return false;
}

void product_make_solved(const product *product)
{
    matrix solution = matrix_clone(&product->c);
    const struct product seen = in_factors(product, &solution, &solution);
    const int64_t parts = tb_is_complex(product->c.element) ? 2 : 1;
    view a, b;
    const written written = write_factors(&seen, &a, &b);
    for (int64_t j = 0; j < product->n; j++)
        for (int64_t i = 0; i < product->m; i++) {
            const sums sums = sum_few(&a, &b, parts * i, parts, j, parts * product->k);
            const int64_t line = product->row_major ? i : j, position = product->row_major ? j : i;
            matrix_set(&product->c, line, position, (double)sums.terms[0]);
            if (parts == 2)
                matrix_set_imaginary(&product->c, line, position, (double)sums.terms[1]);
        }
    free_written(&written);
    matrix_free(&solution);
}

bool product_holds(const product *product, const matrix *c, char *message, size_t size)
{
    struct product seen = in_factors(product, &product->c, c);
    const bool multiplies = (product->alpha != 0 || product->alpha_im != 0) && product->k > 0;
    const int64_t parts = tb_is_complex(product->c.element) ? 2 : 1, terms = product->terms == 2 ? 2 : 1;
    check check = {.product = &seen,
                   .before = view_of(&product->c, product->row_major, false),
                   .after = view_of(c, product->row_major, false),
                   .parts = parts,
                   .m = parts * product->m,
                   .k = multiplies ? parts * terms * product->k : 0,
                   .message = message,
                   .size = size};
    written written = {NULL, NULL};
    if (multiplies)
        written = write_factors(&seen, &check.a, &check.b);
    if (multiplies && product->in_place != TB_OUT_OF_PLACE)
        check.triangle_is_spoilt = is_triangle_left(product)
                                       ? is_spoilt(&check.a, parts * product->k, parts * product->k)
                                       : is_spoilt(&check.b, parts * product->k, product->k);
    if (check.triangle_is_spoilt) /* its solutions are other than those that were drawn */
        seen.exact = false;
    const double volume =
        (double)(parts * parts) * (double)product->m * (double)product->n * (double)product->k;
    /* Odd, so that a sample walks through all rows of a matrix with an even number of them. */
    const int64_t step = 2 * (int64_t)(volume / (2 * MOST_MULTIPLIES)) + 1;
    const bool hold = step == 1 ? all_hold(&check) : samples_hold(&check, step);
    free_written(&written);
    if (!hold)
        return false;
    int64_t lost;
    if (find_lost_canary(product, c, &lost)) {
        snprintf(message, size,
                 "element %" PRId64 " of C's memory, outside of it or its triangle, was written", lost);
        return false;
    }
    return true;
}
