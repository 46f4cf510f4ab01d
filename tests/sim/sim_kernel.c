/* What the simulated device computes, whichever kernel of the catalog it was asked for. */
#include "tests/sim/sim.h"
#include "words/integers.h"
#include "words/lowered.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
    double re, im;
} number;

/* A float that is no number keeps its bits, which a conversion would change. */
static double widened(float x)
{
    uint32_t narrow;
    double wide;
    memcpy(&narrow, &x, sizeof narrow);
    const uint64_t bits =
        (uint64_t)(narrow & 0x80000000) << 32 | UINT64_C(0x7ff) << 52 | (uint64_t)(narrow & 0x007fffff) << 29;
    memcpy(&wide, &bits, sizeof wide);
    return isnan(x) ? wide : (double)x;
}

static float narrowed(double x)
{
    uint64_t wide;
    float narrow;
    memcpy(&wide, &x, sizeof wide);
    const uint32_t payload = (uint32_t)(wide >> 29) & 0x007fffff,
                   bits = (uint32_t)(wide >> 32 & 0x80000000) | 0x7f800000 | payload;
    memcpy(&narrow, &bits, sizeof narrow);
    return isnan(x) && payload != 0 ? narrow : (float)x;
}

static number number_at(const tb_matrix *operand, int64_t row, int64_t column)
{
    const void *at = tb_at(operand, row, column);
    switch (operand->element) {
    case TB_FP32:
        return (number){widened(*(const float *)at), 0};
    case TB_FP64:
        return (number){*(const double *)at, 0};
    case TB_COMPLEX_FP32:
        return (number){widened(((const float *)at)[0]), widened(((const float *)at)[1])};
    case TB_COMPLEX_FP64:
        return (number){((const double *)at)[0], ((const double *)at)[1]};
    case TB_ELEMENTS:
        break;
    }
    return (number){0, 0};
}

/* An element of a matrix as it lies, conjugated where op(X) is; what is not stored of it is not read. */
static number stored_at(const tb_operand *x, int64_t i, int64_t j)
{
    const int64_t below = i + x->diagonal - j; /* of the diagonal, so many rows */
    const bool mirrored = x->structure != TB_GENERAL && (x->stored == TB_LOWER ? below < 0 : below > 0);
    if (x->structure == TB_TRIANGULAR && (mirrored || (below == 0 && x->unit_diagonal)))
        return (number){mirrored ? 0 : 1, 0};
    number number =
        mirrored ? number_at(&x->matrix, j - x->diagonal, i + x->diagonal) : number_at(&x->matrix, i, j);
    if (x->conjugated != (mirrored && x->structure == TB_HERMITIAN))
        number.im = -number.im;
    if (x->structure == TB_HERMITIAN && below == 0)
        number.im = 0;
    return number;
}

/* Element (i, j) of op(X). */
static number element_of(const tb_operand *x, int64_t i, int64_t j)
{
    return x->transposed ? stored_at(x, j, i) : stored_at(x, i, j);
}

static number multiply(number x, number y)
{
    return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static sim_columns make_columns(int64_t count, bool is_complex)
{
    const size_t bytes = ((size_t)count + 1) * sizeof(double);
    return (sim_columns){sim_make(bytes), is_complex ? sim_make(bytes) : NULL};
}

static void free_columns(sim_columns columns)
{
    sim_free(columns.re);
    if (columns.im != NULL)
        sim_free(columns.im);
}

/* Rows of a column of op(X). */
static void copy_column(const tb_operand *x, tb_range rows, int64_t column, sim_columns to, int64_t at)
{
    for (int64_t i = 0; i < rows.count; i++) {
        const number number = element_of(x, rows.first + i, column);
        to.re[at + i] = number.re;
        if (to.im != NULL)
            to.im[at + i] = number.im;
    }
}

/* op(A), column by column. */
static sim_columns copy_a(const tb_product *p)
{
    const sim_columns a = make_columns(p->m * p->k, tb_is_complex(tb_element_of(p)));
    for (int64_t l = 0; l < p->k; l++)
        copy_column(&p->a, (tb_range){0, p->m}, l, a, l * p->m);
    return a;
}

/* Rows of column j of op(A) op(B), which begin where sums do. */
static void sum_column(const tb_product *p, const sim_columns *a, int64_t j, tb_range rows, sim_columns b,
                       sim_columns sums)
{
    const size_t bytes = (size_t)rows.count * sizeof(double);
    const sim_columns from = {a->re + rows.first, a->im != NULL ? a->im + rows.first : NULL};
    memset(sums.re, 0, bytes);
    if (sums.im != NULL)
        memset(sums.im, 0, bytes);
    copy_column(&p->b, (tb_range){0, p->k}, j, b, 0);
    sim_add_columns(sums, &from, p->m, &b, rows.count, p->k);
}

/* c := alpha * sums + beta * c for a column of C, in the arithmetic of its elements. */
#define COMBINE(real, c, product, rows, sums)                                                                \
    do {                                                                                                     \
        const real alpha = (real)(product)->alpha.re, beta = (real)(product)->beta.re;                       \
        real *column = (c);                                                                                  \
        for (int64_t i = (rows).first; i < (rows).first + (rows).count; i++)                                 \
            column[i] = alpha * (real)(sums)[i - (rows).first] + (beta == 0 ? 0 : beta * column[i]);         \
    } while (0)

static void set_part(const tb_matrix *x, int64_t row, int64_t column, int part, double value)
{
    void *at = tb_at(x, row, column);
    if (tb_real_of(x->element) == TB_FP64)
        ((double *)at)[part] = value;
    else
        ((float *)at)[part] = narrowed(value);
}

/* A number of C, of which sum is that of its terms. */
static void combine(const tb_product *p, int64_t i, int64_t j, number sum)
{
    const number alpha = {p->alpha.re, p->alpha.im}, beta = {p->beta.re, p->beta.im};
    const bool is_complex = tb_is_complex(tb_element_of(p));
    const bool is_real = p->c.structure == TB_HERMITIAN && i + p->c.diagonal == j;
    number old = {0, 0};
    if (!tb_is_zero(p->beta))
        old = number_at(&p->c.matrix, i, j);
    if (is_real)
        old.im = 0;
    sum = p->k > 0 ? is_complex ? multiply(alpha, sum) : (number){alpha.re * sum.re, 0} : (number){0, 0};
    if (!tb_is_zero(p->beta)) /* a real beta lets no part of C reach the other */
        old = beta.im == 0 ? (number){beta.re * old.re, beta.re * old.im} : multiply(beta, old);
    set_part(&p->c.matrix, i, j, 0, sum.re + old.re);
    if (is_complex)
        set_part(&p->c.matrix, i, j, 1, is_real ? 0 : sum.im + old.im);
}

/* A product that is not plain. */
static void multiply_structured(const tb_product *p, int64_t columns)
{
    const bool is_complex = tb_is_complex(tb_element_of(p));
    const sim_columns a = copy_a(p), b = make_columns(p->k, is_complex),
                      sums = make_columns(p->m, is_complex);
    for (int64_t j = 0; j < columns; j++) {
        const tb_range rows = tb_masked_rows(p, j);
        sum_column(p, &a, j, rows, b, sums);
        for (int64_t i = 0; i < rows.count; i++)
            combine(p, rows.first + i, j, (number){sums.re[i], is_complex ? sums.im[i] : 0});
    }
    free_columns(a);
    free_columns(b);
    free_columns(sums);
}

/* Divides numbers whose squares may be out of range. */
static number divide(number x, number y)
{
    if (y.im == 0)
        return (number){x.re / y.re, x.im / y.re};
    const double complex quotient = CMPLX(x.re, x.im) / CMPLX(y.re, y.im);
    return (number){creal(quotient), cimag(quotient)};
}

/* op(A) of a triangular one, or what it is on the right of a row: number after number of what a line is multiplied by. */
static number *copy_triangle(const tb_product *p)
{
    const bool left = tb_is_triangle_left(p);
    const tb_operand *triangle = left ? &p->a : &p->b;
    number *copy = sim_make(((size_t)p->k * (size_t)p->k + 1) * sizeof *copy);
    for (int64_t i = 0; i < p->k; i++)
        for (int64_t l = 0; l < p->k; l++)
            copy[i * p->k + l] = left ? element_of(triangle, i, l) : element_of(triangle, l, i);
    return copy;
}

/* Works on memory of its own: sanitizers, which look at every access, would take minutes for it. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static number
sum_terms(const number *row, const number *line, tb_range steps, bool is_complex)
{
    number sum = {0, 0};
    for (int64_t l = steps.first; l < steps.first + steps.count; l++) {
        sum.re += row[l].re * line[l].re;
        if (is_complex) {
            sum.re -= row[l].im * line[l].im;
            sum.im += row[l].re * line[l].im + row[l].im * line[l].re;
        }
    }
    return sum;
}

/* A row or a column of C times the triangle, or solved with it; only what is stored is used. */
static void compute_line(const tb_product *p, const number *triangle, int64_t line, number *old, number *new)
{
    const bool left = tb_is_triangle_left(p), solves = p->in_place == TB_SOLVES;
    const bool is_complex = tb_is_complex(tb_element_of(p));
    const tb_operand *operand = left ? &p->a : &p->b;
    const bool lower = (operand->stored == TB_LOWER) != (operand->transposed == left);
    const number alpha = {p->alpha.re, p->alpha.im};
    for (int64_t i = 0; i < p->k; i++)
        old[i] = number_at(&p->c.matrix, left ? i : line, left ? line : i);
    for (int64_t step = 0; step < p->k; step++) {
        const int64_t i = lower ? step : p->k - 1 - step, beside = p->k - 1 - i;
        const number *row = triangle + i * p->k;
        const tb_range others = {lower ? 0 : i + 1, lower ? i : beside},
                       all = {lower ? 0 : i, lower ? i + 1 : beside + 1};
        const number sum = sum_terms(row, solves ? new : old, solves ? others : all, is_complex);
        const number scaled = is_complex ? multiply(alpha, solves ? old[i] : sum)
                                         : (number){alpha.re * (solves ? old[i].re : sum.re), 0};
        new[i] = solves ? divide((number){scaled.re - sum.re, scaled.im - sum.im}, row[i]) : scaled;
        for (int part = 0; part <= is_complex; part++)
            set_part(&p->c.matrix, left ? i : line, left ? line : i, part, part ? new[i].im : new[i].re);
    }
}

/* A triangular product or solve. Of one that is to fail half-way so many columns; or rows, of as many, where the triangle is on
 * the right. */
static void compute_in_place(const tb_product *p, int64_t columns)
{
    const int64_t lines = tb_is_triangle_left(p) ? columns : columns < p->k ? p->m / 2 : p->m;
    number *triangle = copy_triangle(p);
    number *old = sim_make(2 * ((size_t)p->k + 1) * sizeof *old), *new = old + p->k + 1;
    for (int64_t line = 0; line < lines; line++)
        compute_line(p, triangle, line, old, new);
    free(old);
    free(triangle);
}

void sim_expand(const tb_expansion *expansion, int64_t columns)
{
    const tb_operand *source = &expansion->source;
    const tb_matrix *target = &expansion->target;
    const bool is_complex = tb_is_complex(source->element);
    const number factor = {expansion->factor.re, expansion->factor.im};
    const int64_t parts = is_complex ? 2 : 1, wide = expansion->embedded ? 2 : 1;
    for (int64_t j = 0; j < columns / wide; j++)
        for (int64_t i = 0; i < target->rows / parts; i++) {
            number x = element_of(source, i, j);
            if (factor.re != 1 || factor.im != 0)
                x = multiply(x, factor);
            /* The source may be the target, and has been read. */
            const double block[2][2] = {{x.re, x.im}, {-x.im, x.re}};
            for (int64_t column = 0; column < wide; column++)
                for (int64_t part = 0; part < parts; part++)
                    set_part(target, parts * i + part, wide * j + column, 0, block[column][part]);
        }
}

/* L's number, of U the conjugate transpose's. */
static number factored_at(const tb_factor *block, int64_t row, int64_t column)
{
    if (block->stored == TB_LOWER)
        return number_at(&block->a, row, column);
    const number stored = number_at(&block->a, column, row);
    return (number){stored.re, -stored.im};
}

static void set_factored(const tb_factor *block, int64_t row, int64_t column, number l)
{
    const bool lower = block->stored == TB_LOWER;
    set_part(&block->a, lower ? row : column, lower ? column : row, 0, l.re);
    if (tb_is_complex(block->a.element))
        set_part(&block->a, lower ? row : column, lower ? column : row, 1, lower ? l.im : -l.im);
}

int64_t sim_factor(const tb_factor *block, int64_t columns)
{
    const int64_t order = tb_smaller(block->m, block->n), n = tb_larger(block->m, block->n);
    number *l = sim_make((size_t)(n * order + 1) * sizeof *l);
    int64_t info = 0;
    for (int64_t j = 0; j < order && info == 0; j++)
        for (int64_t i = j; i < n; i++) {
            number sum = factored_at(block, i, j);
            for (int64_t k = 0; k < j; k++) {
                const number x = l[i + k * n], y = l[j + k * n];
                sum.re = fma(-x.im, y.im, fma(-x.re, y.re, sum.re));
                sum.im = fma(x.re, y.im, fma(-x.im, y.re, sum.im));
            }
            if (i == j && !(sum.re > 0)) {
                info = j + 1;
                break;
            }
            const double pivot = l[j + j * n].re;
            l[i + j * n] = i == j ? (number){sqrt(sum.re), 0} : (number){sum.re / pivot, sum.im / pivot};
        }
    for (int64_t j = 0; j < columns && info == 0; j++)
        for (int64_t i = j; i < n; i++)
            set_factored(block, i, j, l[i + j * n]);
    sim_free(l);
    return info;
}

void sim_fold(const tb_folding *folding, int64_t columns)
{
    const tb_operand *c = &folding->c;
    const bool hermitian = c->structure == TB_HERMITIAN, reads = !tb_is_zero(folding->beta);
    const number beta = {folding->beta.re, folding->beta.im};
    for (int64_t j = 0; j < columns; j++) {
        const int64_t first = folding->mask == TB_LOWER ? j : 0,
                      end = folding->mask == TB_LOWER ? c->rows : j + 1;
        for (int64_t i = first; i < end; i++) {
            const bool is_real = hermitian && i == j;
            const number own = number_at(&folding->sums, i, j), across = number_at(&folding->sums, j, i);
            number old = reads ? element_of(c, i, j) : (number){0, 0};
            if (is_real)
                old.im = 0;
            old = beta.im == 0 ? (number){beta.re * old.re, beta.re * old.im} : multiply(beta, old);
            set_part(&c->matrix, i, j, 0, own.re + across.re + (reads ? old.re : 0));
            if (tb_is_complex(c->element))
                set_part(&c->matrix, i, j, 1,
                         is_real ? 0 : own.im + (hermitian ? -across.im : across.im) + (reads ? old.im : 0));
        }
    }
}

void sim_copy_masked(const tb_masked_copy *copy, int64_t columns)
{
    const int64_t step = copy->pairs ? 2 : 1;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < copy->source.rows; i++) {
            const int64_t below = i / step - j;
            if (copy->mask == TB_LOWER ? below >= copy->diagonal : below <= copy->diagonal)
                memcpy(tb_at(&copy->target, i, j), tb_at(&copy->source, i, j),
                       tb_bytes_of(copy->source.element));
        }
}

uint64_t sim_multiply(const tb_product *product, int64_t columns)
{
    if (product->in_place != TB_OUT_OF_PLACE) {
        compute_in_place(product, columns);
        return 0;
    }
    if (!tb_is_plain(product)) {
        for (int term = 0; term < tb_terms_of(product); term++) {
            const tb_product one = tb_term_of(product, term);
            multiply_structured(&one, columns);
        }
        return 0;
    }
    const tb_product *p = product;
    const sim_columns a = copy_a(p), b = make_columns(p->k, false), sums = make_columns(p->m, false);
    for (int64_t j = 0; j < columns; j++) {
        const tb_range rows = tb_masked_rows(p, j);
        sum_column(p, &a, j, rows, b, sums);
        if (tb_element_of(p) == TB_FP64)
            COMBINE(double, tb_at(&p->c.matrix, 0, j), p, rows, sums.re);
        else
            COMBINE(float, tb_at(&p->c.matrix, 0, j), p, rows, sums.re);
    }
    const uint64_t hash = sim_hash(a.re, p->m * p->k);
    free_columns(a);
    free_columns(b);
    free_columns(sums);
    return hash;
}
