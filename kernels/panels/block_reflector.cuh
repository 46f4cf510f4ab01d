/* The triangle T of a product of reflectors, I - V T V': by halves, of which T = (T1, -T1 (V1' V2) T2; 0, T2). */
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

    /* What becomes of the square right of a half, in two goes: times the second half from the right, times the first one from the left. */
    __device__ __forceinline__ number times_second(int half, int row, int column) const
    {
        const int second = column & -half;
        number all = number_of<number>(0);
        for (int k = second; k <= column; k++)
            all = plus(all, product((*this)(row, k), (*this)(k, column)));
        return all;
    }
    __device__ __forceinline__ number times_first(int half, int row, int column) const
    {
        const int second = column & -half;
        number all = number_of<number>(0);
        for (int k = row; k < second; k++)
            all = less_product(all, (*this)(row, k), (*this)(k, column));
        return all;
    }

    /* By all threads of a block, behind a barrier. */
    __device__ __forceinline__ void join() const
    {
        const unsigned number_in_all = threadIdx.x;
#pragma unroll 1
        for (unsigned digits = 0; 1 << digits < columns; digits++) {
            const int half = 1 << digits;
            const int in_square = int(number_in_all) & (half * half - 1),
                      pair = int(number_in_all >> 2 * digits),
                      row = 2 * half * pair + (in_square & (half - 1)),
                      column = 2 * half * pair + half + (in_square >> digits);
            const bool has_one = pair < columns / (2 * half);
            number one = number_of<number>(0);
            for (int side = 0; side < 2; side++) {
                if (has_one)
                    one = side == 0 ? times_second(half, row, column) : times_first(half, row, column);
                __syncthreads();
                if (has_one)
                    (*this)(row, column) = one;
                __syncthreads();
            }
        }
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
