/* masked_copy: what lies on one side of a diagonal goes from a matrix to another one (masked_copy.h). A block has a tile, tiles are
 * numbered down the columns, and those beyond the diagonal have nothing to do. A complex number is copied as two real ones, to which
 * it is aligned.
 */
#include "kernels/dependent_launch.cuh"
#include "kernels/masked/masked_copy.h"

namespace masked
{

/* Those of a row's columns in the tile that are copied. All are read before any is written: so memory is waited for once. */
template <class real> __device__ __forceinline__ void run(const tb_masked_arguments &x)
{
    constexpr int64_t extent = TB_MASKED_COLUMNS;
    const int64_t row = int64_t(blockIdx.x % x.blocks_of_rows) * TB_MASKED_ROWS + threadIdx.x,
                  first = int64_t(blockIdx.x / x.blocks_of_rows) * extent,
                  on_diagonal = (row >> x.row_bits) - x.diagonal - first,
                  columns = row < x.rows ? min(extent, x.columns - first) : 0;
    const int begin = int(x.lower ? 0 : min(max(on_diagonal, int64_t(0)), extent)),
              end = int(x.lower ? min(max(on_diagonal + 1, int64_t(0)), columns) : columns);
    const real *source = static_cast<const real *>(x.source) + row + first * x.ld_source;
    real *target = static_cast<real *>(x.target) + row + first * x.ld_target;
    real numbers[TB_MASKED_COLUMNS];
    dependent_launch::wait();
    if (begin >= end)
        return;
#pragma unroll
    for (int i = 0; i < TB_MASKED_COLUMNS; i++, source += x.ld_source)
        if (i >= begin && i < end)
            numbers[i] = *source;
#pragma unroll
    for (int i = 0; i < TB_MASKED_COLUMNS; i++, target += x.ld_target)
        if (i >= begin && i < end)
            *target = numbers[i];
}

} // namespace masked

#define TB_MASKED_COPY_STAMP(symbol, real)                                                                   \
    extern "C" __global__ void __launch_bounds__(TB_MASKED_ROWS)                                             \
        symbol(const __grid_constant__ tb_masked_arguments arguments)                                        \
    {                                                                                                        \
        masked::run<real>(arguments);                                                                        \
    }

TB_MASKED_COPY_STAMP(masked_copy_fp32, float)
TB_MASKED_COPY_STAMP(masked_copy_fp64, double)
