/* potrf: L := the lower triangle with L L' = the matrix whose lower triangle it is, column after column, all
 * of it in shared memory. Where a pivot is not positive the matrix stays as it was.
 */
#pragma once

#include "kernels/panels/panel.h"

#include <cmath>

namespace panels
{

constexpr int order_most = TB_POTRF_ORDER, threads = TB_POTRF_THREADS, pitch = order_most + 1;

template <class real> struct potrf {
    const tb_potrf_panel &x;
    real (&tile)[order_most][pitch]; /* L, row by row */

    /* Threads that are neighbours take what are neighbours in memory. */
    template <class visit> __device__ void for_each(visit each) const
    {
        const bool by_columns = x.row_step == 1;
        for (int i = threadIdx.x; i < order_most * order_most; i += threads) {
            const int along = i % order_most, across = i / order_most;
            const int row = by_columns ? along : across, column = by_columns ? across : along;
            if (row < x.order && column <= row)
                each(tile[row][column], static_cast<real *>(x.a)[row * x.row_step + column * x.column_step]);
        }
        __syncthreads();
    }

    /* The columns behind it are reduced by a column. */
    __device__ void eliminate(int column) const
    {
        for (int i = threadIdx.x; i < order_most * order_most; i += threads) {
            const int row = i % order_most, other = i / order_most;
            if (other > column && row >= other && row < x.order)
                tile[row][other] = fma(-tile[row][column], tile[other][column], tile[row][other]);
        }
        __syncthreads();
    }

    __device__ void factor() const
    {
        for_each([](real &here, const real &there) { here = there; });
        for (int column = 0; column < x.order; column++) {
            const real pivot = tile[column][column], root = sqrt(pivot);
            if (!(pivot > 0)) { /* nor one that is no number; all threads see the same */
                if (threadIdx.x == 0)
                    *x.info = x.position + column + 1;
                return;
            }
            __syncthreads();
            for (int row = column + threadIdx.x; row < x.order; row += threads)
                tile[row][column] = row == column ? root : tile[row][column] / root;
            __syncthreads();
            eliminate(column);
        }
        for_each([](real &here, real &there) { there = here; });
    }
};

template <class real> __device__ void run_potrf(const tb_potrf_panel &x)
{
    __shared__ real tile[order_most][pitch];
    if (*x.info == 0)
        potrf<real>{x, tile}.factor();
}

} // namespace panels

#define TB_POTRF_STAMP(name, real)                                                                           \
    extern "C" __global__ void __launch_bounds__(TB_POTRF_THREADS)                                           \
        name(const __grid_constant__ tb_potrf_panel x)                                                       \
    {                                                                                                        \
        panels::run_potrf<real>(x);                                                                          \
    }
