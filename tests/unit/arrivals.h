/* What arrives in the runtime by Fortran's names: for tests of what calls these, which are linked with --wrap=tb_perform.
 *
 * Header only, as tests/check.h is.
 */
#ifndef TB_ARRIVALS_H
#define TB_ARRIVALS_H

#include "bench/routine.h"
#include "lib/call/line.h"

#define TB_ROUTINE(NAME, name, CLASS, element) void name##_(void);
#include "words/routines.def"
#undef TB_ROUTINE

static bench_function *const functions[TB_ROUTINES] = {
#define TB_ROUTINE(NAME, name, CLASS, element) [TB_##NAME] = name##_,
#include "words/routines.def"
#undef TB_ROUTINE
};

static tb_product arrived;
static int arrivals;

/* Stands in the place of the runtime. */
void __wrap_tb_perform(tb_task task, const tb_host *host);
void __wrap_tb_perform(tb_task task, const tb_host *host)
{
    (void)host;
    arrived = *task.product;
    arrivals++;
}

static bool is_same_operand(const tb_operand *x, const tb_operand *y)
{
    return x->data == y->data && x->rows == y->rows && x->columns == y->columns && x->ld == y->ld &&
           x->element == y->element && x->transposed == y->transposed && x->conjugated == y->conjugated &&
           x->structure == y->structure && x->stored == y->stored && x->unit_diagonal == y->unit_diagonal;
}

static bool is_same_product(const tb_product *x, const tb_product *y)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!is_same_operand(&x->operands[role], &y->operands[role]))
            return false;
    return x->routine == y->routine && x->m == y->m && x->n == y->n && x->k == y->k &&
           x->alpha.re == y->alpha.re && x->alpha.im == y->alpha.im && x->beta.re == y->beta.re &&
           x->beta.im == y->beta.im && x->mask == y->mask && x->terms / 2 == y->terms / 2 &&
           x->in_place == y->in_place;
}

#endif
