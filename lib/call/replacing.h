/* What replaces a matrix as a whole, on a device: inverses, a triangle's square, Q, and L and Q. */
#ifndef TB_REPLACING_H
#define TB_REPLACING_H

#include "lib/call/factoring_work.h"

/* All is made in the copies, before the first column comes back. Of a matrix in host memory what was there is saved meanwhile. */
tb_status tb_replace(tb_factoring *work);

/* Not all has come: A is again as it was. For a thread that leaves its call as well. */
void tb_restore_saved(tb_factoring *work);

#endif
