/* What kernels that multiply split operands conclude from what the passes before have found out. */
#pragma once

#include "kernels/tensor/split.h"

namespace split
{

/* Parts of the operands that are in use; one at least, so that there is always a product. */
__device__ inline int parts_of(const tb_split_range &range)
{
    return max(int(range.parts), 1);
}

/* Whether the passes before have found exponents outside the limits. Every block answers alike. Scaled operands have
 * only those of Inf and NaN, and of sums that are too large. */
template <class format> __device__ inline bool out_of_range(const tb_split_arguments &arguments)
{
    constexpr int bias = 127, not_finite = 255 - bias;
    const tb_split_range a = arguments.findings->a, b = arguments.findings->b;
    const int largest_a = int(a.largest) - bias, largest_b = int(b.largest) - bias;
    const int sum = largest_a + 1 + largest_b + 1 + (64 - __clzll(arguments.problem.k - 1));
    if (format::scales)
        return max(largest_a, largest_b) == not_finite || sum > TB_SPLIT_LARGEST_SUM;
    if (a.smallest_below_256 == 0 || b.smallest_below_256 == 0) /* a zero operand; the other's Inf or NaN */
        return max(largest_a, largest_b) > TB_SPLIT_LARGEST;
    const int smallest_a = 256 - int(a.smallest_below_256) - bias;
    const int smallest_b = 256 - int(b.smallest_below_256) - bias;
    return max(largest_a, largest_b) > TB_SPLIT_LARGEST || sum > TB_SPLIT_LARGEST_SUM ||
           min(smallest_a, smallest_b) < TB_SPLIT_SMALLEST ||
           smallest_a + smallest_b < TB_SPLIT_SMALLEST_PRODUCT;
}

} // namespace split
