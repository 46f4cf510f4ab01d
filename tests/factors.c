#include "tests/factors.h"

#include <stdlib.h>

double *make_numbers(int64_t count)
{
    double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return numbers;
}

/* One factor of a term: a stored matrix, and how it is read. */
typedef struct factor {
    const matrix *x;
    bool transposed, conjugated;
    tb_structure structure;
    tb_triangle stored;
    bool unit_diagonal;
    double re, im; /* by which it is multiplied */
} factor;

static factor factor_of(const product *p, bool left, int term)
{
    const bool is_a = left == (term == 0);
    factor factor = {.x = is_a ? &p->a : &p->b,
                     .transposed = is_a ? p->transpose_a : p->transpose_b,
                     .conjugated = is_a ? p->conjugate_a : p->conjugate_b,
                     .structure = is_a ? p->structure_a : p->structure_b,
                     .stored = is_a ? p->stored_a : p->stored_b,
                     .unit_diagonal = p->unit_diagonal,
                     .re = 1};
    if (term > 0) {
        factor.transposed = !factor.transposed;
        factor.conjugated ^= p->hermitian;
    }
    if (left && p->terms == 2) {
        factor.re = p->alpha;
        factor.im = term > 0 && p->hermitian ? -p->alpha_im : p->alpha_im;
    }
    return factor;
}

/* Element (i, j) of a factor. */
static void read_number(const product *product, const factor *f, int64_t i, int64_t j, double number[2])
{
    const bool single = tb_real_of(f->x->element) == TB_FP32, is_complex = tb_is_complex(f->x->element);
    const bool mirrored = f->structure != TB_GENERAL &&
                          (f->transposed ? !is_stored(f->stored, j, i) : !is_stored(f->stored, i, j));
    if (f->structure == TB_TRIANGULAR && (mirrored || (i == j && f->unit_diagonal))) {
        number[0] = mirrored ? 0 : 1;
        number[1] = 0;
        return;
    }
    const bool turned = mirrored != f->transposed;
    const int64_t row = turned ? j : i, column = turned ? i : j;
    const int64_t at =
        (is_complex ? 2 : 1) * (product->row_major ? row * f->x->ld + column : column * f->x->ld + row);
    const void *start = matrix_start_in(f->x, f->x->block);
    const double re = single ? (double)((const float *)start)[at] : ((const double *)start)[at];
    double im = 0;
    if (is_complex && !(f->structure == TB_HERMITIAN && i == j))
        im = single ? (double)((const float *)start)[at + 1] : ((const double *)start)[at + 1];
    if (f->conjugated || (mirrored && f->structure == TB_HERMITIAN))
        im = -im;
    const bool scales = f->re != 1 || f->im != 0;
    number[0] = scales ? f->re * re - (is_complex ? f->im * im : 0) : re;
    number[1] = scales && is_complex ? f->re * im + f->im * re : im;
}

/* The factors on one side, of complex numbers, or of what is not all stored, or of two terms, as a real matrix that kernels
 * would multiply: that on the left has a block of four for each complex number, that on the right two in a column. NULL where
 * the matrix is as it is. */
static double *write_out(const product *product, bool left)
{
    const factor first = factor_of(product, left, 0);
    const bool is_complex = tb_is_complex(first.x->element);
    const int terms = product->terms == 2 ? 2 : 1;
    const int64_t rows = left ? product->m : product->k, columns = left ? product->k : product->n;
    const int64_t parts = is_complex ? 2 : 1, wide = left ? parts : 1, ld = parts * rows * (left ? 1 : terms);
    if (!is_complex && first.structure == TB_GENERAL && terms == 1)
        return NULL;
    double *out = make_numbers(rows * columns * parts * wide * terms);
    for (int term = 0; term < terms; term++) {
        const factor factor = factor_of(product, left, term);
        double *of_term = out + term * (left ? wide * columns * ld : parts * rows);
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) {
                double number[2], *to = of_term + parts * i + wide * j * ld;
                read_number(product, &factor, i, j, number);
                to[0] = number[0];
                if (is_complex)
                    to[1] = number[1];
                if (wide == 2) {
                    to[ld] = -number[1];
                    to[ld + 1] = number[0];
                }
            }
    }
    return out;
}

view view_of(const matrix *matrix, bool row_major, bool transposed)
{
    const bool lines_are_columns = row_major == transposed;
    const int pairs = tb_is_complex(matrix->element);
    return (view){.element = tb_real_of(matrix->element),
                  .elements = matrix_start_in(matrix, matrix->block),
                  .down = (lines_are_columns ? 1 : matrix->ld) << pairs,
                  .right = (lines_are_columns ? matrix->ld : 1) << pairs,
                  .pairs = pairs};
}

static view view_of_written(const double *written, int64_t rows)
{
    return (view){.element = TB_FP64, .elements = written, .down = 1, .right = rows};
}

product in_factors(const product *p, const matrix *before, const matrix *after)
{
    product seen = *p;
    if (p->in_place == TB_OUT_OF_PLACE)
        return seen;
    const matrix *c = p->in_place == TB_SOLVES ? after : before;
    if (is_triangle_left(p)) {
        seen.b = *c;
        seen.transpose_b = seen.conjugate_b = false;
    } else {
        seen.a = *c;
        seen.transpose_a = seen.conjugate_a = false;
    }
    seen.beta = seen.beta_im = 0;
    return seen;
}

written write_factors(const product *p, view *a, view *b)
{
    const int64_t parts = tb_is_complex(p->c.element) ? 2 : 1, terms = p->terms == 2 ? 2 : 1;
    const written written = {write_out(p, true), write_out(p, false)};
    *a = written.a ? view_of_written(written.a, parts * p->m) : view_of(&p->a, p->row_major, p->transpose_a);
    *b = written.b ? view_of_written(written.b, parts * terms * p->k)
                   : view_of(&p->b, p->row_major, p->transpose_b);
    return written;
}

void free_written(const written *written)
{
    free(written->a);
    free(written->b);
}
