/* masked_copy: what lies on one side of a diagonal in a matrix goes to another one (masked_copy.h). */
#include "kernels/dependent_launch.cuh"
#include "kernels/masked/masked_copy.h"

namespace masked
{

template <class real> __device__ inline void copy(const tb_masked_arguments &x)
{
    const int64_t row = int64_t(blockIdx.x % x.row_blocks) * TB_MASKED_ROWS + threadIdx.x,
                  first = int64_t(blockIdx.x / x.row_blocks) * TB_MASKED_COLUMNS;
    const real *source = static_cast<const real *>(x.source);
    real *target = static_cast<real *>(x.target);
    dependent_launch::wait();
    for (int64_t column = first; column < first + TB_MASKED_COLUMNS && column < x.columns; column++) {
        const int64_t edge = x.edge + x.step * column;
        if (row < x.rows && (x.from_edge ? row >= edge : row < edge))
            target[row + column * x.ld_target] = source[row + column * x.ld_source];
    }
}

} // namespace masked

#define TB_MASKED_STAMP(symbol, real)                                                                        \
    extern "C" __global__ void __launch_bounds__(TB_MASKED_ROWS)                                             \
        symbol(const __grid_constant__ tb_masked_arguments arguments)                                        \
    {                                                                                                        \
        masked::copy<real>(arguments);                                                                       \
    }

TB_MASKED_STAMP(masked_copy_fp32, float)
TB_MASKED_STAMP(masked_copy_fp64, double)
