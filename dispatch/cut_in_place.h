#ifndef TB_CUT_IN_PLACE_H
#define TB_CUT_IN_PLACE_H

#include "dispatch/tiling.h"

/* Of what happens in C's place; false when nothing fits. */
bool tb_cut_in_place(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

#endif
