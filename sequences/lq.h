/* LQ as a sequence (lq.c). */
#ifndef TB_LQ_H
#define TB_LQ_H

#include "sequences/reflectors.h"

/* QR of A's adjoint, which lies in the factor's B: n x m. */
tb_factor tb_qr_of_adjoint(const tb_factor *factor);

/* All that is read of A is read first, and all that is written to it last. Panels have at most so many columns. What steps say to be
 * finished is of B. */
tb_status tb_walk_lq(const tb_factor *factor, int64_t panel, tb_visitor *visitor);

#endif
