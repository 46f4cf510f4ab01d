/* The order in which clusters take pairs of tiles, one above the other. */
#pragma once

#include "kernels/crt/crt.h"

namespace crt
{

/* Down a group of columns of C: TB_CRT_GROUP pairs of panels of A and as many of B are in flight, whose stages of the same k meet
 * in L2. */
__device__ inline tb_tile_place pair_at(const tb_crt_arguments &arguments, int number)
{
    if (arguments.masked.mask != TB_FULL)
        return tb_mask_locate(&arguments.masked, number);
    const int pairs = arguments.a.panels / TB_CRT_CLUSTER_BLOCKS, panels = arguments.b.panels;
    const int first = number / (TB_CRT_GROUP * panels) * TB_CRT_GROUP,
              height = min(TB_CRT_GROUP, pairs - first);
    const int within = number - first * panels;
    return {first + within % height, within / height};
}

} // namespace crt
