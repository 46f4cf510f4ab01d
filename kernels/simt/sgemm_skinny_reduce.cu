/* sgemm_skinny_reduce: the second pass of sgemm_skinny where k went to several blocks. C = alpha * (sum of the
 * pieces) + beta * C.
 *
 *           elements of C                  block  reduce_lanes x groups threads
 *         +------+------+-----             lane   one element
 *  pieces |      |      |                  group  a share of the pieces, added in their order; then the
 *         +------+------+-----                    groups' sums, in theirs: the same bits in every run
 */
#include "kernels/simt/skinny.h"
#include "kernels/turn.cuh"

extern "C" __global__ void __launch_bounds__(TB_SKINNY_REDUCE_THREADS)
    sgemm_skinny_reduce(const __grid_constant__ tb_skinny_arguments arguments)
{
    turn::take();
    __shared__ float sums[TB_SKINNY_REDUCE_THREADS];
    const int lanes = arguments.reduce_lanes, groups = TB_SKINNY_REDUCE_THREADS / lanes;
    const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    const int64_t elements = arguments.length * arguments.shorts;
    const int64_t element = int64_t(blockIdx.x) * lanes + lane;

    float sum = 0;
    if (element < elements) {
        const int64_t end = (group + 1) * arguments.pieces / groups;
#pragma unroll 8
        for (int64_t piece = group * arguments.pieces / groups; piece < end; piece++)
            sum += arguments.partial[piece * elements + element];
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
    float *c = arguments.c + row * arguments.c_row + column * arguments.c_column;
    const float product = arguments.alpha * sum;
    *c = arguments.beta == 0 ? product : fmaf(arguments.beta, *c, product);
}
