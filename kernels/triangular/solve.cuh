/* solve: C := X where L X = alpha C, for a lower triangle L (triangular.h).
 *
 *                L                C        block    16 warps, 32 columns of C
 *        +--+                  +--32--+    panel    16 rows of C (8 of complex doubles), and of L; a warp has one
 *   warp 0  |                  |      |    band     what all warps have: 256 rows
 *        +--+--+               +------+    tile     16 x 16 of L, in shared memory, for one warp
 *   warp 1  |  |               |      |    slot     a panel of C in shared memory, for all warps
 *        +--+--+--+            +------+
 *
 * A step a panel. Its warp solves it by substitution: a lane has a column, in registers, and all know L. A barrier later the
 * other warps multiply what L has left of their own panels by it: a lane has 4 x 4 sums (2 x 4). Meanwhile a warp's next tile of
 * L is on its way, in registers, and so is a panel of C, three steps ahead. What is solved already, in bands above, comes as
 * panels of C do.
 *
 * What is subtracted from a row of alpha C is summed by itself, and of each tile by itself: rounded as numbers of that sum's size
 * are, which may be much smaller. What the difference is rounded by is not lost either: the quotient is corrected by it.
 *
 * Each block reads and writes its own columns alone.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/fp64/panel.cuh"
#include "kernels/triangular/number.cuh"
#include "kernels/triangular/triangular.h"
#include "kernels/dependent_launch.cuh"

#if __CUDA_ARCH__ >= 800
#define TB_HAS_FP64_MMA true
#else
#define TB_HAS_FP64_MMA false
#endif

namespace triangular
{

/* So many numbers that lie together in shared memory. */
template <class value, int count> struct alignas(16) pack {
    value of[count];
};

/* What rounding adds to a - b, which is rounded to difference. */
template <class value> __device__ inline value rounding(value a, value b, value difference)
{
    value rest;
#pragma unroll
    for (int part = 0; part < value::parts; part++) {
        const auto large = a.part[part], small = b.part[part], rounded = difference.part[part];
        const auto of_larger = (large - rounded) - small, of_smaller = large - (rounded + small);
        rest.part[part] = fabs(large) >= fabs(small) ? of_larger : of_smaller;
    }
    return rest;
}

template <class value> __device__ inline value difference_of(value a, value b)
{
#pragma unroll
    for (int part = 0; part < value::parts; part++)
        a.part[part] -= b.part[part];
    return a;
}

template <class value> __device__ inline value sum_of(value a, value b)
{
#pragma unroll
    for (int part = 0; part < value::parts; part++)
        a.part[part] += b.part[part];
    return a;
}

/* (c - sum) / a, for the inverse of a that inverse_of gives. Multiplying and correcting once is as accurate as dividing. It is no
 * finite number where there is no inverse, nor where something overflows on the way. */
template <class value> __device__ inline value solution(value c, value sum, value a, value inverse)
{
    const value rest = difference_of(c, sum);
    value x = times(rest, inverse), missing = rest;
    subtract(missing, a, x);
    add(x, sum_of(missing, rounding(c, sum, rest)), inverse);
    return x;
}

/* A column of a panel, by division: for what has made no finite numbers without. */
template <class value, int rows, int pitch, int slot_pitch>
__device__ __noinline__ void divide_column(value *c, const value *sums, const value *tile)
{
    for (int i = 0; i < rows; i++) {
        value sum = sums[i * slot_pitch];
        for (int j = 0; j < i; j++)
            add(sum, tile[i + j * pitch], c[j * slot_pitch]);
        c[i * slot_pitch] = divide(difference_of(c[i * slot_pitch], sum), tile[i + i * pitch]);
    }
}

template <class value> struct solver {
    using real = typename value::real;
    static constexpr bool is_double = sizeof(real) == sizeof(double) && value::parts == 1;
    static constexpr int rows = TB_SOLVE_ROWS(sizeof(value)), warps = TB_SOLVE_WARPS, columns = lanes;

    /* Panels of C in shared memory; so many steps one comes ahead. */
    static constexpr int slots = 4, ahead = slots - 1;

    /* Columns that a warp's lanes take at once of a tile, and in how many turns they have all. */
    static constexpr int lines = lanes / rows, each = rows * rows / lanes;

    /* A lane's sums: 4 x 4 numbers, or as mma.sync deals them. Columns lie in vectors of 16 bytes, each beside those of the next
     * lanes, so that lanes that are served together have all banks. */
    static constexpr int column_lanes = is_double ? 4 : 8, lane_columns = columns / column_lanes,
                         lane_rows = rows / (lanes / column_lanes), vector = 16 / sizeof(value),
                         vector_step = column_lanes * vector;
    using vector_of = pack<value, vector>;
    struct lane_tile {
        value of[lane_rows][lane_columns];
    };

    static constexpr int pitch = rows + TB_SOLVE_TILE_PAD / sizeof(value),
                         slot_pitch = columns + TB_SOLVE_PANEL_PAD(sizeof(value)) / sizeof(value);

    const tb_triangular_block &x;
    value *panels;   /* slots of C's: (row, column) at row * slot_pitch + column */
    value *sums;     /* one more of them, of the panel being solved */
    value *tile;     /* the warp's: (row, column) at row + column * pitch */
    value *inverses; /* of L's diagonal, in the warp's panel */
    int warp, lane;
    int64_t column; /* the block's first */

    /* How many of `count` are left behind so many; what fits an int is enough. */
    __device__ int left_of(int64_t count, int64_t before) const
    {
        return int(count - before < lanes ? count - before : lanes);
    }

    __device__ value *slot(int64_t panel) const
    {
        return panels + panel % slots * (rows * slot_pitch);
    }

    /* Which numbers of a rectangle a lane has: the first one, and what lies between two. */
    struct deal {
        int row, beside, down, across;
    };

    /* So that neighbouring lanes have what are neighbours in memory. Their number is asked for anew, so that no places are kept
     * from one step to the next. */
    __device__ deal deal_of(bool along_rows, int width) const
    {
        const int lane = rematerialized::thread() % lanes;
        return along_rows ? deal{lane % rows, lane / rows, 0, lines}
                          : deal{lane / width, lane % width, lanes / width, 0};
    }

    static __device__ bool is_one(int64_t step)
    {
        return step == 1 || step == -1;
    }

    /* ---- L ---- */

    __device__ value conjugated(value a) const
    {
        if (value::parts > 1 && x.conjugated)
            a.part[value::parts - 1] = -a.part[value::parts - 1];
        return a;
    }

    /* What L does not have is zero; of tiles on its diagonal, what is above that is not read, nor a diagonal of ones. */
    __device__ void load_tile(int64_t panel, int64_t left, value (&numbers)[each]) const
    {
        const deal deal = deal_of(is_one(x.row_step), rows);
        const int rows_left = left_of(x.order, panel * rows);
        const value *a = static_cast<const value *>(x.a) + (panel * rows + deal.row) * x.row_step +
                         (left * rows + deal.beside) * x.column_step;
        const int64_t step = deal.down * x.row_step + deal.across * x.column_step;
        if (panel > left && rows_left >= rows) {
#pragma unroll
            for (int turn = 0; turn < each; turn++)
                numbers[turn] = a[turn * step];
            return;
        }
#pragma unroll
        for (int turn = 0; turn < each; turn++) {
            const int row = deal.row + turn * deal.down,
                      above = panel > left ? 1 : row - deal.beside - turn * deal.across;
            numbers[turn] = whole_number<value>(above == 0);
            if (row < rows_left && (above > 0 || (above == 0 && !x.unit_diagonal)))
                numbers[turn] = a[turn * step];
        }
    }

    __device__ void put_tile(const value (&numbers)[each]) const
    {
        const deal deal = deal_of(is_one(x.row_step), rows);
        value *place = tile + deal.row + deal.beside * pitch;
        const int step = deal.down + deal.across * pitch;
        __syncwarp(); /* what was there has been used */
#pragma unroll
        for (int turn = 0; turn < each; turn++)
            place[turn * step] = conjugated(numbers[turn]);
        __syncwarp();
    }

    __device__ void find_inverses(int64_t panel) const
    {
        const int64_t i = panel * rows + lane;
        if (lane >= rows)
            return;
        value a = whole_number<value>(1);
        if (i < x.order && !x.unit_diagonal)
            a = conjugated(static_cast<const value *>(x.a)[i * (x.row_step + x.column_step)]);
        inverses[lane] = inverse_of(a);
    }

    /* ---- C ---- */

    /* Place and address of each number of a panel. */
    template <class action> __device__ void for_panel(int64_t panel, action act) const
    {
        const deal deal = deal_of(is_one(x.c_row_step), columns);
        const int rows_left = left_of(x.order, panel * rows) - deal.row,
                  columns_left = left_of(x.columns, column) - deal.beside;
        value *c = static_cast<value *>(x.c) + (panel * rows + deal.row) * x.c_row_step +
                   (column + deal.beside) * x.c_column_step;
        const int64_t step = deal.down * x.c_row_step + deal.across * x.c_column_step;
        value *place = slot(panel) + deal.row * slot_pitch + deal.beside;
        const int place_step = deal.down * slot_pitch + deal.across;
#pragma unroll
        for (int turn = 0; turn < rows; turn++)
            act(turn, place + turn * place_step,
                turn * deal.down < rows_left && turn * deal.across < columns_left, c + turn * step);
    }

    /* Brings a panel into its slot, where it is alpha C unless it is solved already. */
    __device__ void fetch(int64_t panel, bool solved) const
    {
        value alpha, numbers[rows];
        alpha.part[value::parts - 1] = typename value::real(x.alpha_im);
        alpha.part[0] = typename value::real(x.alpha_re);
        for_panel(panel, [&](int turn, value *, bool exists, const value *c) {
            numbers[turn] = exists ? *c : value{};
        });
        for_panel(panel, [&](int turn, value *place, bool, const value *) {
            *place = x.scaled && !solved ? times(alpha, numbers[turn]) : numbers[turn];
        });
    }

    __device__ void store(int64_t panel) const
    {
        for_panel(panel, [&](int, const value *place, bool exists, value *c) {
            const value number = *place;
            if (exists)
                *c = number;
        });
    }

    /* ---- A step ---- */

    /* The tile times the panel that is solved. */
    __device__ void multiply(int64_t panel, lane_tile &products) const
    {
        const value *a = tile + lane / column_lanes * lane_rows,
                    *c = slot(panel) + lane % column_lanes * vector;
#pragma unroll
        for (int k = 0; k < rows; k++) {
            const auto down = *reinterpret_cast<const pack<value, lane_rows> *>(a + k * pitch);
            vector_of across[lane_columns / vector];
#pragma unroll
            for (int j = 0; j < lane_columns / vector; j++)
                across[j] = *reinterpret_cast<const vector_of *>(c + k * slot_pitch + j * vector_step);
#pragma unroll
            for (int i = 0; i < lane_rows; i++)
#pragma unroll
                for (int j = 0; j < lane_columns; j++)
                    add(products.of[i][j], down.of[i], across[j / vector].of[j % vector]);
        }
    }

    /* The same of doubles on tensor cores: a fragment at a time, of 8 columns. */
    __device__ void multiply_fragments(int64_t panel, lane_tile &products) const
    {
        const value *a = tile + lane / 4 * 2 + lane % 4 * pitch,
                    *c = slot(panel) + lane % 4 * slot_pitch + lane / 4;
        double left[8];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const auto pair = *reinterpret_cast<const pack<value, 2> *>(a + 4 * i * pitch);
            left[2 * i] = pair.of[0].part[0];
            left[2 * i + 1] = pair.of[1].part[0];
        }
#pragma unroll
        for (int j = 0; j < columns / 8; j++) {
            double right[4], sum[4] = {};
#pragma unroll
            for (int i = 0; i < 4; i++)
                right[i] = c[4 * i * slot_pitch + 8 * j].part[0];
            fp64::multiply(sum, left, right);
#pragma unroll
            for (int e = 0; e < 4; e++)
                products.of[e / 2][2 * j + e % 2].part[0] = sum[e];
        }
    }

    __device__ void accumulate(int64_t panel, lane_tile &totals) const
    {
        lane_tile products = {};
        if constexpr (is_double && TB_HAS_FP64_MMA)
            multiply_fragments(panel, products);
        else
            multiply(panel, products);
#pragma unroll
        for (int i = 0; i < lane_rows; i++)
#pragma unroll
            for (int j = 0; j < lane_columns; j++)
                totals.of[i][j] = sum_of(totals.of[i][j], products.of[i][j]);
    }

    /* Puts sums of a lane's rows and columns where each lane finds those of a column. */
    __device__ void put_sums(const lane_tile &totals) const
    {
        value *place = sums + lane / column_lanes * lane_rows * slot_pitch + lane % column_lanes * vector;
#pragma unroll
        for (int i = 0; i < lane_rows; i++)
#pragma unroll
            for (int j = 0; j < lane_columns / vector; j++) {
                vector_of across;
#pragma unroll
                for (int l = 0; l < vector; l++)
                    across.of[l] = totals.of[i][j * vector + l];
                *reinterpret_cast<vector_of *>(place + i * slot_pitch + j * vector_step) = across;
            }
        __syncwarp();
    }

    /* A row, once it is solved, is taken from all rows below, before the next. */
    __device__ void substitute(int64_t panel) const
    {
        value *c = slot(panel) + lane, solved[rows];
        bool finite = true;
#pragma unroll
        for (int i = 0; i < rows; i++)
            solved[i] = sums[i * slot_pitch + lane];
#pragma unroll
        for (int i = 0; i < rows; i++) {
            solved[i] = solution(c[i * slot_pitch], solved[i], tile[i + i * pitch], inverses[i]);
            finite = finite && is_finite(solved[i]);
#pragma unroll
            for (int j = i + 1; j < rows; j++)
                add(solved[j], tile[j + i * pitch], solved[i]);
        }
        if (!finite)
            return divide_column<value, rows, pitch, slot_pitch>(c, sums + lane, tile);
#pragma unroll
        for (int i = 0; i < rows; i++)
            c[i * slot_pitch] = solved[i];
    }

    /* ---- All steps ---- */

    /* Panels from `first` on, of which each warp has one; all above are solved. */
    __device__ void run_band(int64_t first, int64_t end) const
    {
        const int64_t own = first + warp, tiles = own < end ? own : 0;
        lane_tile totals = {};
        value next[each];
        if (own < end) {
            find_inverses(own);
            load_tile(own, 0, next);
            put_tile(next);
        }
#pragma unroll 1
        for (int64_t panel = -ahead; panel < end; panel++) {
            if (panel >= 0 && panel < tiles) {
                load_tile(own, panel + 1, next);
                __syncthreads();
                accumulate(panel, totals);
                put_tile(next);
            } else if (panel >= 0) {
                if (panel == own) {
                    put_sums(totals);
                    substitute(panel);
                    totals = {};
                }
                __syncthreads();
                if (panel == own)
                    store(panel);
            }
            const int64_t fetched = panel + ahead;
            if (fetched < end && fetched % warps == warp)
                fetch(fetched, fetched < first);
        }
        __syncthreads(); /* slots have been used, and C is written */
    }

    __device__ void run() const
    {
        const int64_t end = (x.order + rows - 1) / rows;
        for (int64_t first = 0; first < end; first += warps)
            run_band(first, first + warps < end ? first + warps : end);
    }
};

template <class real, int parts> __device__ inline void solve(const tb_triangular_block &x)
{
    using value = number<real, parts>;
    using solver = solver<value>;
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int panel = solver::rows * solver::slot_pitch, tile = solver::rows * solver::pitch;
    const int warp = threadIdx.x / lanes;
    value *panels = reinterpret_cast<value *>(shared), *sums = panels + solver::slots * panel,
          *tiles = sums + panel, *inverses = tiles + solver::warps * tile;
    x.few_blocks ? dependent_launch::launch_dependents_and_wait() : dependent_launch::wait();
    const solver block = {x,
                          panels,
                          sums,
                          tiles + warp * tile,
                          inverses + warp * solver::rows,
                          warp,
                          int(threadIdx.x % lanes),
                          int64_t(blockIdx.x) * solver::columns};
    block.run();
}

} // namespace triangular

#define TB_SOLVE_STAMP(symbol, real, parts)                                                                  \
    extern "C" __global__ void __launch_bounds__(TB_SOLVE_THREADS, 1)                                        \
        symbol(const __grid_constant__ tb_triangular_block x)                                                \
    {                                                                                                        \
        triangular::solve<real, parts>(x);                                                                   \
    }
