/* laswp: exchanges rows of some columns of a matrix by a list of pivots. Each block works out for each place that the list touches
 * which row ends there, and then moves the rows of its columns: a thread has the places of one pivot, the row that it is for and the
 * row that this one is exchanged with, so that neighbours write neighbours.
 */
#pragma once

#include "kernels/panels/getrf.h"
#include "kernels/panels/numbers.cuh"

namespace panels
{

constexpr int columns_at_a_time = 4;
static_assert(TB_LASWP_PIVOTS == TB_LASWP_THREADS, "a thread has a pivot");

template <class number> struct laswp {
    using real = real_of<number>;
    const tb_laswp &x;
    int32_t (&pivots)[TB_LASWP_PIVOTS]; /* rows of a, from the first one that a pivot is for */
    int to[2], from[2];                 /* likewise; where `to` is `from` nothing is moved */

    __device__ laswp(const tb_laswp &x, int32_t (&pivots)[TB_LASWP_PIVOTS]) : x(x), pivots(pivots)
    {
    }

    __device__ __forceinline__ void read_pivots() const
    {
        const int i = threadIdx.x;
        if (i < x.count) {
            const int32_t row = x.pivots[i];
            pivots[i] = row >= 1 && row <= x.rows ? row - 1 - x.first : i;
        }
        __syncthreads();
    }

    __device__ __forceinline__ static int exchanged(int row, int one, int other)
    {
        return row == one ? other : row == other ? one : row;
    }

    /* The exchanges are undone, the last one first, to see what has come there. Two pivots may name the same place: then both threads
     * write the same there. */
    __device__ __forceinline__ void find_rows()
    {
        const int i = threadIdx.x;
        to[0] = from[0] = to[1] = from[1] = 0;
        if (i >= x.count)
            return;
        to[0] = from[0] = i;
        to[1] = from[1] = pivots[i];
#pragma unroll 4
        for (int k = 0; k < x.count; k++) {
            const int step = x.backwards ? k : x.count - 1 - k, pivot = pivots[step];
            from[0] = exchanged(from[0], step, pivot);
            from[1] = exchanged(from[1], step, pivot);
        }
    }

    __device__ __forceinline__ real *in_memory(int row, int64_t column) const
    {
        return static_cast<real *>(x.a) + reals_of<number> * (x.first + row + column * x.ld);
    }

    /* All are read before any is written. */
    __device__ __forceinline__ void move(int64_t first, int64_t end) const
    {
        number moved[columns_at_a_time][2];
#pragma unroll
        for (int k = 0; k < columns_at_a_time; k++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (first + k < end && to[i] != from[i])
                    moved[k][i] = read<number>(in_memory(from[i], first + k));
        __syncthreads();
#pragma unroll
        for (int k = 0; k < columns_at_a_time; k++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (first + k < end && to[i] != from[i])
                    write(in_memory(to[i], first + k), moved[k][i]);
    }

    __device__ __forceinline__ void exchange()
    {
        const int64_t begin = blockIdx.x * x.columns_of_block,
                      end = min(begin + x.columns_of_block, x.columns);
        read_pivots();
        find_rows();
        for (int64_t first = begin; first < end; first += columns_at_a_time)
            move(first, end);
    }
};

template <class number> __device__ __forceinline__ void run_laswp(const tb_laswp &x)
{
    __shared__ int32_t pivots[TB_LASWP_PIVOTS];
    laswp<number>(x, pivots).exchange();
}

} // namespace panels

#define TB_LASWP_STAMP(letter, number)                                                                       \
    extern "C" __global__ void __launch_bounds__(TB_LASWP_THREADS)                                           \
        letter##laswp(const __grid_constant__ tb_laswp x)                                                    \
    {                                                                                                        \
        panels::run_laswp<number>(x);                                                                        \
    }
