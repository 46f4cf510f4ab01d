#include "lib/call/portable_any.h"

#include <math.h>

static tb_scalar load(const tb_matrix *operand, int64_t row, int64_t column)
{
    const void *at = tb_at(operand, row, column);
    const float *single = at;
    const double *twice = at;
    switch (operand->element) {
    case TB_FP32:
        return (tb_scalar){(double)*single, 0};
    case TB_FP64:
        return (tb_scalar){*twice, 0};
    case TB_COMPLEX_FP32:
        return (tb_scalar){(double)single[0], (double)single[1]};
    default:
        return (tb_scalar){twice[0], twice[1]};
    }
}

static void store(const tb_matrix *operand, int64_t row, int64_t column, tb_scalar value)
{
    void *at = tb_at(operand, row, column);
    const int parts = tb_is_complex(operand->element) ? 2 : 1;
    const double values[] = {value.re, value.im};
    for (int part = 0; part < parts; part++)
        if (tb_real_of(operand->element) == TB_FP32)
            ((float *)at)[part] = (float)values[part];
        else
            ((double *)at)[part] = values[part];
}

/* An element of the operand as the product reads it. Only what is stored of a triangular one is asked for. */
static tb_scalar element_of(const tb_operand *operand, int64_t row, int64_t column)
{
    const int64_t i = operand->transposed ? column : row, j = operand->transposed ? row : column;
    const int64_t below = i + operand->diagonal - j; /* its diagonal; above where negative */
    if (operand->unit_diagonal && below == 0)
        return (tb_scalar){1, 0};
    const bool is_mirrored =
        operand->structure != TB_GENERAL && (operand->stored == TB_LOWER ? below < 0 : below > 0);
    tb_scalar element = is_mirrored ? load(&operand->matrix, j - operand->diagonal, i + operand->diagonal)
                                    : load(&operand->matrix, i, j);
    if (operand->structure == TB_HERMITIAN && below == 0)
        element.im = 0;
    if (operand->conjugated != (operand->structure == TB_HERMITIAN && is_mirrored))
        element.im = -element.im;
    return element;
}

static tb_scalar add(tb_scalar x, tb_scalar y)
{
    return (tb_scalar){x.re + y.re, x.im + y.im};
}

/* Numbers that are real stay so, whatever they are: a zero times an infinity would be none. */
static tb_scalar times(tb_scalar x, tb_scalar y, bool is_complex)
{
    return is_complex ? (tb_scalar){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}
                      : (tb_scalar){x.re * y.re, 0};
}

static tb_scalar subtract(tb_scalar x, tb_scalar y)
{
    return (tb_scalar){x.re - y.re, x.im - y.im};
}

/* A complex divisor is scaled to have a larger part of 1 to 2 first, so that its square is in range. */
static tb_scalar divide(tb_scalar x, tb_scalar y, bool is_complex)
{
    if (!is_complex)
        return (tb_scalar){x.re / y.re, 0};
    const double larger = fmax(fabs(y.re), fabs(y.im));
    const int exponent = isfinite(larger) && larger > 0 ? ilogb(larger) : 0;
    const tb_scalar scaled = {scalbn(y.re, -exponent), scalbn(y.im, -exponent)};
    const double square = scaled.re * scaled.re + scaled.im * scaled.im;
    const tb_scalar turned = times(x, (tb_scalar){scaled.re / square, -scaled.im / square}, true);
    return (tb_scalar){scalbn(turned.re, -exponent), scalbn(turned.im, -exponent)};
}

/* An element of C := value + beta * C. */
static void update(const tb_product *product, int64_t row, int64_t column, tb_scalar value)
{
    const tb_operand *c = &product->c;
    const bool is_real = c->structure == TB_HERMITIAN && row + c->diagonal == column;
    tb_scalar old = tb_is_zero(product->beta) ? (tb_scalar){0, 0} : load(&c->matrix, row, column);
    old.im = is_real ? 0 : old.im;
    if (c->structure == TB_HERMITIAN) /* beta is real: an infinite part reaches no other */
        old = (tb_scalar){product->beta.re * old.re, product->beta.re * old.im};
    else if (!tb_is_one(product->beta) && !tb_is_zero(product->beta))
        old = times(product->beta, old, tb_is_complex(c->element));
    value = tb_is_zero(product->beta) ? value : add(value, old);
    value.im = is_real ? 0 : value.im;
    store(&c->matrix, row, column, value);
}

void tb_scale_any(const tb_product *product)
{
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++)
            update(product, i, j, (tb_scalar){0, 0});
    }
}

/* A column of C that the triangle is on the left of, or a row that it is on the right of: times the triangle, or solved with
 * it. The triangle is seen as if it were on the left, its elements in the order in which none is overwritten that is still
 * needed. */
static void compute_line(const tb_product *product, int64_t line)
{
    const bool left = tb_is_triangle_left(product), solves = product->in_place == TB_SOLVES;
    const bool is_complex = tb_is_complex(tb_element_of(product));
    const tb_matrix *c = &product->c.matrix;
    const tb_operand *triangle = left ? &product->a : &product->b;
    const bool lower = (triangle->stored == TB_LOWER) != (triangle->transposed == left);
    const bool downwards = lower == solves;
    for (int64_t step = 0; step < product->k; step++) {
        const int64_t i = downwards ? step : product->k - 1 - step;
        const int64_t row = left ? i : line, column = left ? line : i;
        const tb_scalar diagonal = element_of(triangle, i, i), old = load(c, row, column);
        tb_scalar sum = {0, 0};
        for (int64_t l = lower ? 0 : i + 1; l < (lower ? i : product->k); l++) {
            const tb_scalar element = left ? element_of(triangle, i, l) : element_of(triangle, l, i);
            sum = add(sum, times(element, left ? load(c, l, line) : load(c, line, l), is_complex));
        }
        if (solves)
            sum = divide(subtract(times(product->alpha, old, is_complex), sum), diagonal, is_complex);
        else
            sum = times(product->alpha, add(sum, times(diagonal, old, is_complex)), is_complex);
        store(c, row, column, sum);
    }
}

static void compute_in_place(const tb_product *product)
{
    const int64_t lines = tb_is_triangle_left(product) ? product->n : product->m;
    for (int64_t line = 0; line < lines; line++)
        compute_line(product, line);
}

void tb_multiply_any(const tb_product *product)
{
    if (product->in_place != TB_OUT_OF_PLACE) {
        compute_in_place(product);
        return;
    }
    const bool is_complex = tb_is_complex(tb_element_of(product));
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++) {
            tb_scalar sum = {0, 0};
            for (int64_t l = 0; l < product->k; l++)
                sum =
                    add(sum, times(element_of(&product->a, i, l), element_of(&product->b, l, j), is_complex));
            update(product, i, j, times(product->alpha, sum, is_complex));
        }
    }
}

void tb_merge_any(const tb_product *product, const tb_matrix *computed)
{
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++)
            update(product, i, j, load(computed, i, j));
    }
}
