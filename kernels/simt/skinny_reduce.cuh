/* The second pass of the skinny family, sgemm_skinny_reduce and dgemm_skinny_reduce, where k went to several blocks.
 * C = alpha * (sum of the pieces) + beta * C.
 *
 *           elements of C                  block  reduce_lanes x groups threads
 *         +------+------+-----             lane   one element
 *  pieces |      |      |                  group  a share of the pieces, added in their order; then the
 *         +------+------+-----                    groups' sums, in theirs: the same bits in every run
 */
#pragma once

#include "kernels/simt/skinny_operands.cuh"
#include "kernels/dependent_launch.cuh"

namespace skinny
{

template <class real> __device__ inline void add_pieces(const tb_skinny_arguments &arguments)
{
    dependent_launch::wait();
    __shared__ real sums[TB_SKINNY_REDUCE_THREADS];
    const int lanes = arguments.reduce_lanes, groups = TB_SKINNY_REDUCE_THREADS / lanes;
    const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    const int64_t elements = arguments.length * arguments.shorts;
    const int64_t element = int64_t(blockIdx.x) * lanes + lane;
    const real *partial = static_cast<const real *>(arguments.partial);

    real sum = 0;
    if (element < elements) {
        const int64_t end = (group + 1) * arguments.pieces / groups;
#pragma unroll 8
        for (int64_t piece = group * arguments.pieces / groups; piece < end; piece++)
            sum += partial[piece * elements + element];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0 || element >= elements)
        return;
    for (int other = 1; other < groups; other++)
        sum += sums[other * lanes + lane];

    const bool tall = arguments.c_row == 1;
    const int64_t row = tall ? element % arguments.length : element / arguments.shorts;
    const int64_t column = tall ? element / arguments.length : element % arguments.shorts;
    real *c = static_cast<real *>(arguments.c) + row * arguments.c_row + column * arguments.c_column;
    const real product = alpha_of<real>(arguments) * sum, beta = beta_of<real>(arguments);
    *c = beta == 0 ? product : fma(beta, *c, product);
}

} // namespace skinny

#define TB_SKINNY_STAMP_REDUCE(symbol, real)                                                                 \
    extern "C" __global__ void __launch_bounds__(TB_SKINNY_REDUCE_THREADS)                                   \
        symbol(const __grid_constant__ tb_skinny_arguments arguments)                                        \
    {                                                                                                        \
        skinny::add_pieces<real>(arguments);                                                                 \
    }
