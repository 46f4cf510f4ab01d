/* What replaces a matrix as a whole, on a device: inverses, a triangle's square, Q, and L and Q; and B times Q. */
#ifndef TB_REPLACING_H
#define TB_REPLACING_H

#include "lib/call/factoring_work.h"

/* All is made in the copies, before the first column comes back. Of a matrix in host memory what was there is saved meanwhile. */
tb_status tb_replace(tb_factoring *work);

/* B := B op(Q), alike. */
tb_status tb_apply_on_the_right(tb_factoring *work);

/* Not all has come: the matrix is again as it was. For a thread that leaves its call as well. */
void tb_restore_saved(tb_factoring *work);

/* Whatever happened. */
void tb_give_saved(tb_factoring *work);

#endif
