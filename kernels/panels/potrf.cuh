/* potrf: L := the lower triangle with L L' = the matrix whose lower triangle it is, in one block of threads. Where a pivot is not
 * positive the matrix stays as it was.
 *
 *     | 0             |  The triangle is cut into squares of 16 x 16. Of each square every worker has one number, in registers from
 *     | 1  5          |  its first to its last step, so that any device has room for it; shared memory has one column of squares.
 *     | 2  6  8       |  A step for each: threads solve for what is below the square on the diagonal, a row each, and all subtract
 *     | 3  7  9  ...  |  what that column makes of the squares behind it: of the next one on the diagonal first, which one warp factors
 *                        while the others are at the rest.
 *
 * Columns wait for each other's pivots, and that warp for its lanes' numbers. So each lane factors a small triangle on the square's
 * diagonal for itself, beside its own row of the square.
 */
#pragma once

#include "kernels/panels/numbers.cuh"
#include "kernels/panels/panel.h"
#include "kernels/panels/reciprocal.cuh"

namespace panels
{

constexpr int side = 16, squares = TB_POTRF_ORDER / side, workers = TB_POTRF_WORKERS, warp = 32;
static_assert(TB_POTRF_ORDER % side == 0 && workers == side * side && TB_POTRF_ORDER - side <= workers,
              "workers have a number of each square, and a row each");

/* The warp for squares on the diagonal: one of its own, or the first one of the workers. */
template <class number> constexpr bool has_own_warp = TB_POTRF_THREADS(sizeof(number)) > workers;

/* Numbers between those of a column: so many that neighbours in a square are in different banks whichever way they lie, and that two in
 * a column are read at once. */
template <class number> constexpr int between = sizeof(number) > 8 ? 1 : 2;

/* Number by number down each column. */
template <class number> struct alignas(16) shared_squares {
    number diagonal[side][side + between<number>];     /* the square on the diagonal */
    number at[side][TB_POTRF_ORDER + between<number>]; /* the column of squares below it */
    real_of<number> pivots[side], reciprocals[side];   /* of the diagonal's square; of the pivots' roots */
    int without_root; /* of the columns, from 1, the first one whose pivot is not positive */
};

/* ---- The square on the diagonal ------------------------------------------------------------------------------ */

/* Pivots whose reciprocals' roots are found without looking at them. */
__device__ __forceinline__ bool is_usual(float pivot)
{
    return pivot > 0x1p-100f && pivot < 0x1p100f;
}
__device__ __forceinline__ bool is_usual(double pivot)
{
    return pivot > 0x1p-1000 && pivot < 0x1p1000;
}

/* One warp's: two lanes have the same row. What is right of the diagonal means nothing. */
template <class number> struct square {
    using real = real_of<number>;
    static constexpr int part = sizeof(number) > 8 ? 4 : 8; /* columns of a small triangle */
    shared_squares<number> &shared;
    const int row, half; /* the lane's */
    int without_root = 0;
    bool usual = true;

    __device__ square(shared_squares<number> &shared)
        : shared(shared), row(threadIdx.x % side), half(threadIdx.x / side % 2)
    {
    }

    /* All lanes see the same pivots. */
    template <bool hasty> __device__ __forceinline__ real note_pivot(int column, real pivot)
    {
        const real reciprocal = hasty ? reciprocal::of_root(pivot) : reciprocal_root(pivot);
        usual = usual && is_usual(pivot);
        if (!(pivot > 0) && without_root == 0) /* nor one that is no number */
            without_root = column + 1;
        shared.pivots[column] = pivot;
        shared.reciprocals[column] = reciprocal;
        return reciprocal;
    }

    /* A small triangle, and the lane's row of its columns. */
    template <bool hasty> __device__ __forceinline__ void factor_part(int first, number (&line)[part])
    {
        number triangle[part][part];
#pragma unroll
        for (int j = 0; j < part; j++) {
            line[j] = shared.diagonal[first + j][row];
#pragma unroll
            for (int i = j; i < part; i++)
                triangle[i][j] = shared.diagonal[first + j][first + i];
        }
#pragma unroll
        for (int j = 0; j < part; j++) {
            const real reciprocal = note_pivot<hasty>(first + j, real_part(triangle[j][j]));
            line[j] = times(line[j], reciprocal);
#pragma unroll
            for (int k = j + 1; k < part; k++) {
                triangle[k][j] = times(triangle[k][j], reciprocal);
                line[k] = minus_product(line[k], line[j], triangle[k][j]);
#pragma unroll
                for (int i = j + 1; i < k; i++)
                    triangle[k][i] = minus_product(triangle[k][i], triangle[k][j], triangle[i][j]);
                triangle[k][k] = number_of<number>(minus_square(real_part(triangle[k][k]), triangle[k][j]));
            }
        }
    }

    /* What these columns make of those behind them; of pairs of these a half of the lanes has each second one. */
    __device__ __forceinline__ void subtract_part(int first, const number (&line)[part])
    {
#pragma unroll
        for (int k = first + part; k < side; k += 4)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int column = k + 2 * half + i;
                number rest = shared.diagonal[column][row];
#pragma unroll
                for (int j = 0; j < part; j++)
                    rest = minus_product(rest, line[j], shared.diagonal[first + j][column]);
                shared.diagonal[column][row] = rest;
            }
    }

    template <bool hasty> __device__ __forceinline__ void factor_parts()
    {
#pragma unroll
        for (int first = 0; first < side; first += part) {
            number line[part];
            factor_part<hasty>(first, line);
            __syncwarp();
#pragma unroll
            for (int j = 0; j < part; j++)
                shared.diagonal[first + j][row] = line[j];
            __syncwarp();
            subtract_part(first, line);
            __syncwarp();
        }
    }

    /* In haste first, where there are registers for the square as it was. */
    __device__ __forceinline__ void factor(int position)
    {
        constexpr bool hasty = has_own_warp<number>;
        number before[side / 2];
#pragma unroll
        for (int j = 0; hasty && j < side / 2; j++)
            before[j] = shared.diagonal[2 * j + half][row];
        factor_parts<hasty>();
        if (hasty && !usual) {
#pragma unroll
            for (int j = 0; j < side / 2; j++)
                shared.diagonal[2 * j + half][row] = before[j];
            __syncwarp();
            factor_parts<false>();
        }
        shared.without_root = without_root == 0 ? 0 : position + without_root;
    }
};

/* ---- The triangle -------------------------------------------------------------------------------------------- */

template <class number> struct potrf {
    using real = real_of<number>;
    const tb_potrf_panel &x;
    shared_squares<number> &shared;
    const bool by_columns; /* else what lies there is U, whose conjugate transpose is L */
    const int row, column; /* in each square; neighbours in memory are neighbours' */
    number own[squares][squares];

    __device__ potrf(const tb_potrf_panel &x, shared_squares<number> &shared)
        : x(x), shared(shared), by_columns(x.row_step == 1),
          row(by_columns ? threadIdx.x % side : threadIdx.x / side),
          column(by_columns ? threadIdx.x / side : threadIdx.x % side)
    {
    }

    /* Squares that are factored. */
    __device__ int used() const
    {
        return (int(x.order) + side - 1) / side;
    }

    /* What is the thread's, with its place in L and in memory. */
    template <class visit> __device__ __forceinline__ void for_each_own(visit each)
    {
#pragma unroll
        for (int i = 0; i < squares; i++)
#pragma unroll
            for (int j = 0; j <= i; j++) {
                const int in_row = side * i + row, in_column = side * j + column;
                each(own[i][j], in_row, in_column,
                     static_cast<real *>(x.a) +
                         reals_of<number> * (in_row * x.row_step + in_column * x.column_step));
            }
    }

    /* A matrix of a smaller order goes on as the identity does. */
    __device__ __forceinline__ void load()
    {
        for_each_own([&](number &mine, int in_row, int in_column, const real *there) {
            mine = number_of<number>(in_row == in_column);
            if (in_row < x.order && in_column <= in_row)
                mine = conjugate_if(!by_columns, read<number>(there));
        });
    }

    __device__ __forceinline__ void store()
    {
        for_each_own([&](const number &mine, int in_row, int in_column, real *there) {
            if (in_row < x.order && in_column <= in_row)
                write(there, conjugate_if(!by_columns, mine));
        });
    }

    /* Gives others the thread's numbers of the square on the diagonal, and of those below it; the number of the column is known to the
     * compiler. */
    __device__ __forceinline__ void give_diagonal(int step)
    {
        shared.diagonal[column][row] = own[step][step];
    }

    __device__ __forceinline__ void give(int step)
    {
#pragma unroll
        for (int i = step + 1; i < squares; i++)
            shared.at[column][side * i + row] = own[i][step];
    }

    /* What the thread has of the square on the diagonal when that is factored. */
    __device__ __forceinline__ number of_diagonal() const
    {
        return row == column ? number_of<number>(root(shared.pivots[column])) : shared.diagonal[column][row];
    }

    __device__ __forceinline__ void take(int step, number diagonal)
    {
        own[step][step] = diagonal;
#pragma unroll
        for (int i = step + 1; i < squares; i++)
            own[i][step] = shared.at[column][side * i + row];
    }

    /* What the column makes of the next square on the diagonal. */
    __device__ __forceinline__ void subtract_from_next(int step)
    {
        const number *left = &shared.at[0][side * (step + 1) + row],
                     *right = &shared.at[0][side * (step + 1) + column];
        number sums[2] = {number_of<number>(0), number_of<number>(0)};
#pragma unroll
        for (int k = 0; k < side; k++)
            sums[k % 2] = minus_product(sums[k % 2], left[k * (TB_POTRF_ORDER + between<number>)],
                                        right[k * (TB_POTRF_ORDER + between<number>)]);
        number &mine = own[step + 1][step + 1];
        mine = plus(mine, plus(sums[0], sums[1]));
    }

    __device__ __forceinline__ static bool is_next(int step, int i, int j)
    {
        return i == step + 1 && j == step + 1;
    }

    /* What it makes of the others behind it. Of single precision it is added up before it is subtracted, so that the numbers on the diagonal, which are larger, are rounded once a step. */
    __device__ __forceinline__ void subtract(int step)
    {
        constexpr bool apart = sizeof(real) == sizeof(float);
        number sums[squares][squares];
        if (apart) {
#pragma unroll
            for (int j = step + 1; j < squares; j++)
#pragma unroll
                for (int i = j; i < squares; i++)
                    sums[i][j] = number_of<number>(0);
        }
#pragma unroll(reals_of<number> == 2 ? 1 : 2)
        for (int k = 0; k < side; k++) {
            number left[squares];
#pragma unroll
            for (int i = step + 1; i < squares; i++)
                left[i] = shared.at[k][side * i + row];
#pragma unroll
            for (int j = step + 1; j < squares; j++) {
                const number right = shared.at[k][side * j + column];
#pragma unroll
                for (int i = j; i < squares; i++) {
                    if (is_next(step, i, j))
                        continue;
                    number &sum = apart ? sums[i][j] : own[i][j];
                    sum = minus_product(sum, left[i], right);
                }
            }
        }
        if (apart) {
#pragma unroll
            for (int j = step + 1; j < squares; j++)
#pragma unroll
                for (int i = j; i < squares; i++)
                    if (!is_next(step, i, j))
                        own[i][j] = plus(own[i][j], sums[i][j]);
        }
    }

    /* The thread's row below a square that is factored. */
    __device__ __forceinline__ void solve_row(int first) const
    {
        const int mine = first + side + int(threadIdx.x);
        if (mine >= side * used())
            return;
        number line[side];
#pragma unroll
        for (int j = 0; j < side; j++)
            line[j] = shared.at[j][mine];
#pragma unroll
        for (int j = 0; j < side; j++) {
            line[j] = times(line[j], shared.reciprocals[j]);
#pragma unroll
            for (int k = j + 1; k < side; k++)
                line[k] = minus_product(line[k], line[j], shared.diagonal[j][k]);
        }
#pragma unroll
        for (int j = 0; j < side; j++)
            shared.at[j][mine] = line[j];
    }

    /* Steps have one code but for what is in registers, whose numbers are the compiler's. */
    template <class visit> __device__ __forceinline__ static void with_constant(int step, visit go_on)
    {
#pragma unroll
        for (int i = 0; i < squares; i++)
            if (i == step)
                go_on(i);
    }

    __device__ __forceinline__ void factor_if_worker_does(int step) const
    {
        if (!has_own_warp<number> && threadIdx.x < warp && step < used())
            square<number>(shared).factor(side * step);
    }

    /* Workers, and the warp that is none of them, meet four times a step. */
    __device__ __forceinline__ void work()
    {
        load();
        give_diagonal(0);
        __syncthreads();
        factor_if_worker_does(0);
#pragma unroll 1
        for (int step = 0; step < used(); step++) {
            __syncthreads();
            if (shared.without_root != 0) {
                if (threadIdx.x == 0)
                    *x.info = x.position + shared.without_root;
                return;
            }
            with_constant(step, [&](int constant) { give(constant); });
            __syncthreads();
            solve_row(side * step);
            __syncthreads();
            const number diagonal = of_diagonal();
            with_constant(step, [&](int constant) {
                take(constant, diagonal);
                if (constant + 1 < squares) {
                    subtract_from_next(constant);
                    give_diagonal(constant + 1);
                }
            });
            __syncthreads();
            factor_if_worker_does(step + 1);
            with_constant(step, [&](int constant) { subtract(constant); });
        }
        store();
    }

    __device__ __forceinline__ void factor_squares() const
    {
        __syncthreads();
#pragma unroll 1
        for (int step = 0; step < used(); step++) {
            square<number>(shared).factor(side * step);
            __syncthreads();
            if (shared.without_root != 0)
                return;
            __syncthreads();
            __syncthreads();
            __syncthreads();
        }
    }
};

template <class number> __device__ __forceinline__ void run_potrf(const tb_potrf_panel &x)
{
    __shared__ shared_squares<number> shared;
    if (*x.info != 0)
        return;
    potrf<number> panel(x, shared);
    if (!has_own_warp<number> || threadIdx.x < workers)
        panel.work();
    else
        panel.factor_squares();
}

} // namespace panels

#define TB_POTRF_STAMP(name, number)                                                                         \
    extern "C" __global__ void __launch_bounds__(TB_POTRF_THREADS(sizeof(number)))                        \
        name(const __grid_constant__ tb_potrf_panel x)                                                       \
    {                                                                                                        \
        panels::run_potrf<number>(x);                                                                        \
    }
