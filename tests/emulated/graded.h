/* Products of numbers that grow along k, and how far they are off beside those of a loop. After gemm.h, for float.
 */
#ifndef TB_EMULATED_GRADED_H
#define TB_EMULATED_GRADED_H

#include "tests/emulated/gemm.h"

#include <math.h>

/* Numbers are of either sign, and larger and larger along k. */
static void fill_graded_operand(const test *t, tb_role role, bool along_rows, check_random *random)
{
    const tb_operand *x = &t->given.operands[role];
    for (int64_t column = 0; column < x->columns; column++)
        for (int64_t line = 0; line < x->rows; line++) {
            const int64_t l = along_rows ? line : column;
            matrix(t, role, 0)[line + column * x->ld] =
                (number)ldexp((double)check_between(random, -999999, 999999), (int)(20 * l / t->given.k));
        }
}

static void fill_graded(const test *t, check_random *random)
{
    fill_graded_operand(t, TB_A, t->given.a.transposed, random);
    fill_graded_operand(t, TB_B, !t->given.b.transposed, random);
}

/* Squares of errors: of what was computed, and of a loop over k. */
static void add_errors(const test *t, int64_t line, int64_t column, double *ours, double *loops)
{
    const tb_product *p = &t->given;
    const number *a = matrix(t, TB_A, 0) + line * (p->a.transposed ? p->a.ld : 1),
                 *b = matrix(t, TB_B, 0) + column * (p->b.transposed ? 1 : p->b.ld);
    const int64_t step_a = p->a.transposed ? 1 : p->a.ld, step_b = p->b.transposed ? p->b.ld : 1;
    double sum = 0;
    number loop = 0;
    for (int64_t l = 0; l < p->k; l++) {
        sum += (double)a[l * step_a] * (double)b[l * step_b];
        loop = fmaf(a[l * step_a], b[l * step_b], loop);
    }
    const double own = (double)matrix(t, TB_C, 0)[line + column * p->c.ld] - sum,
                 of_loop = (double)loop - sum;
    *ours += own * own;
    *loops += of_loop * of_loop;
}

/* The root mean square of errors of every third element, in those of a loop. */
static double relative_error(const test *t)
{
    double ours = 0, loops = 0;
    for (int64_t i = 0; i < t->given.m * t->given.n; i += 3)
        add_errors(t, i % t->given.m, i / t->given.m, &ours, &loops);
    return sqrt(ours / loops);
}

#endif
