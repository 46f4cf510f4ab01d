/* panel_laswp: exchanges rows as a panel of LU has done of its own, and solves those of them that lie behind the panel by its triangle. A
 * warp has a column at a time, and a lane a row of it: where that one comes from it finds as laswp does.
 */
#pragma once

#include "kernels/dependent_launch.cuh"
#include "kernels/panels/getrf.h"
#include "kernels/panels/numbers.cuh"
#include "kernels/panels/pivots.cuh"

namespace panels
{

template <class number> struct panel_laswp {
    using real = real_of<number>;
    static constexpr int lanes = 32;
    const tb_laswp &x;
    const int lane = threadIdx.x % lanes;
    int pivot;   /* the row that the lane's is exchanged with, from the first one that a pivot is for */
    int from[2]; /* what comes to the lane's row, and to its pivot's */

    __device__ panel_laswp(const tb_laswp &x) : x(x)
    {
    }

    __device__ __forceinline__ real *in_memory(int row, int64_t column) const
    {
        return static_cast<real *>(x.a) + reals_of<number> * (x.first + row + column * x.ld);
    }

    __device__ __forceinline__ static int exchanged(int row, int one, int other)
    {
        return row == one ? other : row == other ? one : row;
    }

    __device__ __forceinline__ void find_rows()
    {
        pivot = lane;
        if (lane < x.count) {
            const int32_t row = x.pivots[lane];
            pivot = row >= 1 && row <= x.rows ? row - 1 - x.first : lane;
        }
        from[0] = lane;
        from[1] = pivot;
#pragma unroll
        for (int step = lanes - 1; step >= 0; step--) {
            const int other = __shfl_sync(UINT32_MAX, pivot, step);
            from[0] = exchanged(from[0], step, other);
            from[1] = exchanged(from[1], step, other);
        }
    }

    /* The lane's row of the triangle. */
    __device__ __forceinline__ void read_triangle(number (&row)[lanes]) const
    {
#pragma unroll
        for (int k = 0; k < lanes; k++) {
            row[k] = number_of<number>(0);
            if (k < lane && lane < x.count)
                row[k] = read<number>(in_memory(lane, x.panel + k));
        }
    }

    __device__ __forceinline__ static number solved(number a, const number (&row)[lanes], int lane)
    {
#pragma unroll
        for (int k = 0; k < lanes - 1; k++) {
            const number known = of_lane(a, k);
            if (k < lane)
                a = less_product(a, row[k], known);
        }
        return a;
    }

    /* Several lanes may have the same pivot, to which they write the same. */
    __device__ __forceinline__ void do_column(int64_t column, const number (&row)[lanes]) const
    {
        const bool has_row = lane < x.count, moves = has_row && from[1] != pivot,
                   solves = column >= x.panel + x.count;
        number own = number_of<number>(0), other = own;
        if (has_row)
            own = read<number>(in_memory(from[0], column));
        if (moves)
            other = read<number>(in_memory(from[1], column));
        __syncwarp();
        if (solves)
            own = solved(own, row, lane);
        if (moves && (pivot < 0 || pivot >= x.count))
            write(in_memory(pivot, column), other);
        if (has_row && (solves || from[0] != lane))
            write(in_memory(lane, column), own);
    }

    __device__ __forceinline__ void exchange()
    {
        constexpr int warps = TB_PANEL_LASWP_THREADS / lanes;
        const int64_t step = int64_t(gridDim.x) * warps;
        number row[lanes];
        dependent_launch::launch_dependents_and_wait();
        find_rows();
        read_triangle(row);
        for (int64_t i = blockIdx.x * warps + int(threadIdx.x) / lanes; i < x.columns - x.count; i += step)
            do_column(i < x.panel ? i : i + x.count, row);
    }
};

} // namespace panels

#define TB_PANEL_LASWP_STAMP(letter, number)                                                                 \
    extern "C" __global__ void __launch_bounds__(TB_PANEL_LASWP_THREADS)                                     \
        letter##panel_laswp(const __grid_constant__ tb_laswp x)                                              \
    {                                                                                                        \
        panels::panel_laswp<number>(x).exchange();                                                           \
    }
