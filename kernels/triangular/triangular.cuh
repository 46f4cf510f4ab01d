/* triangular: C := alpha L C, for a lower triangle L (triangular.h).
 *
 *            L                  C         block   4 warps, 8 columns of C each, and all rows of these, panel by panel
 *        +----+               +--8--+     panel   64 rows (32 of complex doubles); a lane has every 32nd of them, in registers
 *        |tile|      panel p  |sums |     tile    64 x 64 of L in shared memory, for all warps
 *        +----+----+          |     |
 *        |tile|tile|          +-----+     sums + (tile * C), with C's panel in shared memory
 *        +----+----+----+     |     |
 *
 * Panels are computed from the last one up, so that what they read has not been written yet. Each warp reads and writes its own
 * columns alone.
 */
#pragma once

#include "kernels/triangular/number.cuh"
#include "kernels/triangular/triangular.h"
#include "kernels/dependent_launch.cuh"

namespace triangular
{

constexpr int columns = TB_TRIANGULAR_COLUMNS, warps = TB_TRIANGULAR_WARPS, threads = TB_TRIANGULAR_THREADS;

/* A row of what a warp has of C. */
template <class value> struct alignas(16) line {
    value of[columns];
};

template <class value> struct block {
    static constexpr int rows = TB_TRIANGULAR_ROWS(sizeof(value)), pitch = rows + 1, each = rows / lanes;
    static constexpr int share = rows * rows / threads; /* of a tile, a thread's */
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

    /* Where in a tile the n-th of a thread's numbers is. Neighbouring threads take what are neighbours in memory. */
    __device__ int2 place_in_tile(int n) const
    {
        const int along = threadIdx.x % rows, line = threadIdx.x / rows + n * (threads / rows);
        const bool along_rows = x.row_step == 1 || x.row_step == -1;
        return along_rows ? make_int2(along, line) : make_int2(line, along);
    }

    /* All is on its way before any of it is used. What L does not have is zero; of its own diagonal block, what is above the
     * diagonal is not read and the diagonal of ones is not either. */
    __device__ void read_tile(int64_t first_row, int64_t first_column, value (&values)[share]) const
    {
        const bool diagonal = first_row == first_column;
        const int2 first = place_in_tile(0), second = place_in_tile(1);
        const int64_t step = (second.x - first.x) * x.row_step + (second.y - first.y) * x.column_step;
        const value *next = static_cast<const value *>(x.a) + (first_row + first.x) * x.row_step +
                            (first_column + first.y) * x.column_step;
        const int64_t rows_left = x.order - first_row, columns_left = x.order - first_column;
#pragma unroll
        for (int n = 0; n < share; n++, next += step) {
            const int2 at = place_in_tile(n);
            values[n] = whole_number<value>(diagonal && at.x == at.y);
            if (at.x < rows_left && at.y < columns_left &&
                (!diagonal || at.x > at.y || (at.x == at.y && !x.unit_diagonal)))
                values[n] = *next;
        }
    }

    __device__ void write_tile(value (&values)[share]) const
    {
#pragma unroll
        for (int n = 0; n < share; n++) {
            const int2 at = place_in_tile(n);
            if (x.conjugated)
                values[n].part[value::parts - 1] = -values[n].part[value::parts - 1];
            tile[at.x + at.y * pitch] = values[n];
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
        value values[share];
        load(first_column, panel);
        read_tile(first_row, first_column, values);
        __syncthreads(); /* what was there has been used */
        write_tile(values);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
                staged[lane + e * lanes].of[j] = panel[e][j];
        __syncthreads();
    }

    /* Multiplies the tile by the panel of C that are in shared memory; of a diagonal tile, what is not above the diagonal. */
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
    dependent_launch::wait();
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
