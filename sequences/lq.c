/* LQ by QR of the adjoint, beside the matrix:
 *
 *     B = A'                   a move
 *     B = Q' L'                by QR: below the diagonal reflectors of Q', above it R, which is L'
 *     A = B'                   a move; reflectors lie in A's rows as adjoints, and tau is QR's
 */
#include "sequences/lq.h"

#include "sequences/qr.h"

tb_factor tb_qr_of_adjoint(const tb_factor *factor)
{
    tb_factor qr = *factor;
    qr.routine = tb_factoring_routine(factor);
    qr.m = factor->n;
    qr.n = factor->m;
    qr.a = factor->b;
    qr.b = (tb_matrix){.data = NULL}; /* nothing is solved */
    return qr;
}

tb_status tb_walk_lq(const tb_factor *factor, int64_t panel, tb_visitor *visitor)
{
    const tb_factor qr = tb_qr_of_adjoint(factor);
    TB_TRY(tb_give_adjoint(&factor->a, &factor->b, visitor));
    TB_TRY(tb_walk_qr(&qr, 0, panel, visitor));
    return tb_give_adjoint(&factor->b, &factor->a, visitor);
}
