#ifndef TB_CUT_WHOLE_H
#define TB_CUT_WHOLE_H

#include "dispatch/tiling.h"

/* With everything on the device; false when that does not fit. */
bool tb_cut_whole(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

#endif
