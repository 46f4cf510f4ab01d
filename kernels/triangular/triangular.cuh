/* triangular: C := alpha L C, for a lower triangle L (triangular.h).
 *
 *            L                  C         block   4 warps, 8 columns of C each, and all rows of these, panel by panel
 *        +----+               +--8--+     panel   64 rows (32 of complex doubles); a lane has every 32nd of them, in registers
 *        |tile|      panel p  |sums |     tile    64 x 64 of L in shared memory, for all warps
 *        +----+----+          |     |
 *        |tile|tile|          +-----+     sums + tile * C, with C's panel in shared memory
 *        +----+----+----+     |     |
 *
 * Panels are computed from the last one up, so that what they read has not been written yet. Each warp reads and writes its own
 * columns alone.
 */
#pragma once

#include "kernels/triangular/number.cuh"
#include "kernels/triangular/triangular.h"
#include "kernels/turn.cuh"

namespace triangular
{

constexpr int columns = TB_TRIANGULAR_COLUMNS, warps = TB_TRIANGULAR_WARPS, threads = TB_TRIANGULAR_THREADS;

/* A row of what a warp has of C. */
template <class value> struct alignas(16) line {
    value of[columns];
};

template <class value> struct block {
    static constexpr int rows = TB_TRIANGULAR_ROWS(sizeof(value)), pitch = rows + 1, each = rows / lanes;
    using sums = value[each][columns];

    const tb_triangular_block &x;
    line<value> *staged; /* of the warp: a panel of C */
    value *tile;         /* (row, column) at row + column * pitch */
    int lane;
    int64_t column; /* the warp's first */

    __device__ value *c_at(int64_t row, int j) const
    {
        return static_cast<value *>(x.c) + row * x.c_row_step + (column + j) * x.c_column_step;
    }

    __device__ bool has(int64_t row, int j) const
    {
        return row < x.order && column + j < x.columns;
    }

    __device__ value alpha() const
    {
        value alpha;
        alpha.part[value::parts - 1] = typename value::real(x.alpha_im);
        alpha.part[0] = typename value::real(x.alpha_re);
        return alpha;
    }

    __device__ value a_at(int64_t row, int64_t column) const
    {
        value a = static_cast<const value *>(x.a)[row * x.row_step + column * x.column_step];
        if (x.conjugated)
            a.part[value::parts - 1] = -a.part[value::parts - 1];
        return a;
    }

    /* Neighbouring threads take what are neighbours in memory. What L does not have is zero; of its own diagonal block, what is
     * above the diagonal is not read and the diagonal of ones is not either. */
    __device__ void load_tile(int64_t first_row, int64_t first_column) const
    {
        const bool along_rows = x.row_step == 1 || x.row_step == -1;
        const bool diagonal = first_row == first_column;
#pragma unroll 16
        for (int e = threadIdx.x; e < rows * rows; e += threads) {
            const int row = along_rows ? e % rows : e / rows, beside = along_rows ? e / rows : e % rows;
            const int64_t i = first_row + row, j = first_column + beside;
            value a = {};
            if (i < x.order && j < x.order &&
                (!diagonal || row > beside || (row == beside && !x.unit_diagonal)))
                a = a_at(i, j);
            else if (diagonal && row == beside)
                a = whole_number<value>(1);
            tile[row + beside * pitch] = a;
        }
    }

    __device__ void load(int64_t first_row, sums &sums) const
    {
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++) {
                const int64_t row = first_row + lane + e * lanes;
                sums[e][j] = {};
                if (has(row, j))
                    sums[e][j] = *c_at(row, j);
            }
    }

    __device__ void store(int64_t first_row, const sums &sums) const
    {
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++) {
                const int64_t row = first_row + lane + e * lanes;
                if (has(row, j))
                    *c_at(row, j) = sums[e][j];
            }
    }

    __device__ value scaled(value c) const
    {
        return x.scaled ? times(alpha(), c) : c;
    }

    /* Puts a tile of L and a panel of C into shared memory, a line for each of C's rows; a lane reads what it has written itself,
     * if anything has. */
    __device__ void stage(int64_t first_row, int64_t first_column) const
    {
        sums panel;
        load(first_column, panel);
        __syncthreads(); /* what was there has been used */
        load_tile(first_row, first_column);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
                staged[lane + e * lanes].of[j] = panel[e][j];
        __syncthreads();
    }

    /* With the tile and the panel of C that are in shared memory; of a diagonal tile, what is not above the diagonal. */
    __device__ void accumulate(bool diagonal, sums &sums) const
    {
#pragma unroll 4
        for (int i = 0; i < rows; i++) {
            const line<value> c = staged[i];
#pragma unroll
            for (int e = 0; e < each; e++) {
                const int row = lane + e * lanes;
                const value a = tile[row + i * pitch];
                if (diagonal && row < i)
                    continue;
#pragma unroll
                for (int j = 0; j < columns; j++)
                    add(sums[e][j], a, c.of[j]);
            }
        }
    }

    /* A panel of L is summed by itself first: a sum of few sums loses less than one of many numbers. */
    __device__ void add_panel(int64_t first_row, int64_t left, sums &total) const
    {
        sums own = {};
        stage(first_row, left);
        if (left == first_row)
            accumulate(true, own);
        else
            accumulate(false, own);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
#pragma unroll
                for (int part = 0; part < value::parts; part++)
                    total[e][j].part[part] += own[e][j].part[part];
    }

    __device__ void run_panel(int64_t first_row) const
    {
        sums total = {};
        for (int64_t left = 0; left <= first_row; left += rows)
            add_panel(first_row, left, total);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
                total[e][j] = scaled(total[e][j]);
        store(first_row, total);
    }

    __device__ void run() const
    {
        const int64_t panels = (x.order + rows - 1) / rows;
        for (int64_t panel = panels - 1; panel >= 0; panel--)
            run_panel(panel * rows);
    }
};

template <class real, int parts> __device__ inline void multiply(const tb_triangular_block &x)
{
    using value = number<real, parts>;
    using panels = block<value>;
    extern __shared__ __align__(16) unsigned char shared[];
    line<value> *staged = reinterpret_cast<line<value> *>(shared);
    value *tile = reinterpret_cast<value *>(staged + warps * panels::rows);
    const int warp = threadIdx.x / lanes;
    turn::take();
    const panels block = {x, staged + warp * panels::rows, tile, int(threadIdx.x % lanes),
                          (int64_t(blockIdx.x) * warps + warp) * columns};
    block.run();
}

} // namespace triangular

#define TB_MULTIPLY_STAMP(symbol, real, parts)                                                               \
    extern "C" __global__ void __launch_bounds__(triangular::threads, TB_TRIANGULAR_BLOCKS)                  \
        symbol(const __grid_constant__ tb_triangular_block x)                                                \
    {                                                                                                        \
        triangular::multiply<real, parts>(x);                                                                \
    }
