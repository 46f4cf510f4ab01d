/* What kernels that multiply split operands conclude from what the passes before have found out. */
#pragma once

#include "kernels/tensor/split.h"

namespace split
{

/* What has been found out about B. */
__device__ inline const tb_split_range &range_of_b(const tb_split_arguments &arguments)
{
    return arguments.b_is_a ? arguments.findings->a : arguments.findings->b;
}

/* Parts of the operands that are in use; one at least, so that there is always a product. */
__device__ inline int parts_of(const tb_split_range &range)
{
    return max(int(range.parts), 1);
}

/* Whether the passes before have found exponents outside the limits. Every block answers alike. Scaled operands have
 * only those of Inf and NaN, and of sums that are too large. */
__device__ inline bool out_of_range(const tb_split_arguments &arguments, bool scaled)
{
    constexpr int bias = 127, not_finite = 255 - bias;
    const tb_split_range a = arguments.findings->a, b = range_of_b(arguments);
    const int largest_a = int(a.largest) - bias, largest_b = int(b.largest) - bias;
    const int sum = largest_a + 1 + largest_b + 1 + (64 - __clzll(arguments.problem.k - 1));
    if (scaled)
        return max(largest_a, largest_b) == not_finite || sum > TB_SPLIT_LARGEST_SUM;
    if (a.smallest_below_256 == 0 || b.smallest_below_256 == 0) /* a zero operand; the other's Inf or NaN */
        return max(largest_a, largest_b) > TB_SPLIT_LARGEST;
    const int smallest_a = 256 - int(a.smallest_below_256) - bias;
    const int smallest_b = 256 - int(b.smallest_below_256) - bias;
    return max(largest_a, largest_b) > TB_SPLIT_LARGEST || sum > TB_SPLIT_LARGEST_SUM ||
           min(smallest_a, smallest_b) < TB_SPLIT_SMALLEST ||
           smallest_a + smallest_b < TB_SPLIT_SMALLEST_PRODUCT;
}

/* Logarithms to base 2 as surveys count them, of a positive number; not above the true one. */
__device__ inline uint32_t logarithm_below(uint32_t bits)
{
    return bits >> TB_SPLIT_LOGARITHM_SHIFT;
}
__device__ inline uint32_t logarithm_above(uint32_t bits)
{
    return logarithm_below(bits) + TB_SPLIT_LOGARITHM_ERROR;
}

/* Whether mixed parts do as well as BF16 parts, and one BF16 part of either operand would not do. Of a row a and a column b let t
 * be those k where neither is zero, A and B their largest magnitudes. A sum is no less than its number of terms times their
 * geometric mean, so that
 *     |a||b| >= t A B 2^-((deficit of a + deficit of b) / t),
 * which must be at least 2^-8 k A B. Fewer zeros or less deficit only make it more: the most of each will do for all. */
__device__ inline bool is_narrow(const tb_split_arguments &arguments)
{
    const tb_split_range a = arguments.findings->a, b = range_of_b(arguments);
    const int64_t k = arguments.problem.k, terms = k - a.zeros - b.zeros;
    if (!arguments.sums_a || terms <= 0 || !(a.fine | b.fine) || out_of_range(arguments, true))
        return false;
    const int64_t missing = int64_t(logarithm_above(__float_as_uint(__ll2float_ru(k)))) -
                            int64_t(logarithm_below(__float_as_uint(__ll2float_rd(terms))));
    const int64_t most = TB_SPLIT_DEFICIT_MOST * TB_SPLIT_LOGARITHM_UNITS - missing;
    return (int64_t(a.deficit) + b.deficit) << TB_SPLIT_DEFICIT_SHIFT <= terms * most;
}

} // namespace split
