/* The triangle T of a product of reflectors, I - V T V': by columns, of which T = (T1, -tau T1 (V1' v); 0, tau). */
#pragma once

#include "kernels/panels/sums.cuh"
#include "kernels/panels/reflector.cuh"

namespace panels
{

template <class number> struct block_reflector {
    number *const at; /* V' V above the diagonal, and on it tau; by columns */

    __device__ __forceinline__ number &operator()(int row, int column) const
    {
        return at[row + column * TB_GEQRF_LINE];
    }

    /* Behind a barrier: nothing is there. */
    __device__ __forceinline__ void clear() const
    {
        for (int i = int(threadIdx.x); i < TB_GEQRF_TRIANGLE; i += TB_GEQRF_THREADS)
            at[i] = number_of<number>(0);
    }

    /* Of a column that is noted, what becomes of it when all before it are done; by a warp. */
    __device__ __forceinline__ void join(int column) const
    {
        uses_of(column);
        constexpr int at_a_time = 4; /* of which the last ones may be none before the column */
        number all[at_a_time] = {};
#pragma unroll 1
        for (int k = 0; k < column; k += at_a_time) {
            number before[at_a_time], noted[at_a_time];
#pragma unroll
            for (int e = 0; e < at_a_time; e++) {
                before[e] = (*this)(lane(), k + e);
                noted[e] = (*this)(k + e, column);
            }
#pragma unroll
            for (int e = 0; e < at_a_time; e++)
                all[e] = less_product(all[e], before[e], k + e < column ? noted[e] : number_of<number>(0));
        }
        const number joined =
            product(plus(plus(all[0], all[1]), plus(all[2], all[3])), (*this)(column, column));
        __syncwarp();
        if (lane() < column)
            (*this)(lane(), column) = joined;
        __syncwarp();
    }

    __device__ __forceinline__ void store(const tb_geqrf_panel &x) const
    {
        using real = real_of<number>;
        const int steps = min(x.rows, x.columns);
        const int row = lane();
#pragma unroll 1
        for (int column = warp(); column < steps && row < steps; column += warps) {
            const number a = (*this)(row, column);
            write(static_cast<real *>(x.t) + reals_of<number> * (row + column * x.ld_of_t), a);
            if (row == column)
                write(static_cast<real *>(x.tau) + reals_of<number> * row, a);
        }
    }
};

} // namespace panels
