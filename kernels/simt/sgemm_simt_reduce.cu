/* sgemm_simt_reduce: the second pass of a product whose k was split. C = alpha * (sum of the splits' parts) +
 * beta * C; the parts are added in their order, one thread an element, so that every run gives the same bits.
 */
#include "kernels/gemm.cuh"
#include "kernels/simt/simt.h"

extern "C" __global__ void __launch_bounds__(256)
    sgemm_simt_reduce(const __grid_constant__ tb_simt_arguments arguments)
{
    const tb_problem &problem = arguments.problem;
    const int64_t elements = problem.m * problem.n, all = elements * arguments.batches;
    for (int64_t e = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; e < all;
         e += gridDim.x * int64_t(blockDim.x)) {
        const int64_t batch = e / elements, within = e % elements;
        const float *part = arguments.partial + batch * arguments.splits * elements + within;
        float sum = 0;
        for (int split = 0; split < arguments.splits; split++, part += elements)
            sum += *part;
        float *c =
            problem.c + batch * arguments.stride_c + within % problem.m + within / problem.m * problem.ldc;
        *c = tb::combine(problem, sum, c);
    }
}
