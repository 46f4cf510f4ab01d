/* potrf: L := the lower triangle with L L' = the matrix whose lower triangle it is, in one block of threads. Where a pivot is not
 * positive the matrix stays as it was.
 *
 *     | 0             |  The triangle is cut into squares of 16 x 16. Of each square every thread has one number, in registers from
 *     | 1  5          |  its first to its last step, so that any device has room for it; shared memory has one column of squares.
 *     | 2  6  8       |  A step for each: one warp factors the square on the diagonal, a lane a row; threads solve for what is
 *     | 3  7  9  ...  |  below it, a row each; and all subtract what that column makes of the squares behind it.
 *
 * Columns wait for each other's pivots. So the warp knows the next one as soon as the reciprocal of the last one's root is known:
 * lanes are sent what they need of others before that; of complex doubles, for which there are no registers, the next pivot's alone.
 */
#pragma once

#include "kernels/panels/numbers.cuh"
#include "kernels/panels/panel.h"

namespace panels
{

constexpr int side = 16, squares = TB_POTRF_ORDER / side, threads = TB_POTRF_THREADS, warp = 32;
static_assert(TB_POTRF_ORDER % side == 0 && threads == side * side && TB_POTRF_ORDER - side <= threads,
              "threads have a number of each square, and a row each");

/* A column of squares, number by number down each column: neighbours in a square are in different banks whichever way they lie. */
template <class number> struct column_of_squares {
    number at[side][TB_POTRF_ORDER + 1];
    real_of<number> pivots[side], reciprocals[side]; /* of the square on the diagonal; of the pivots' roots */
    int without_root; /* of the columns, from 1, the first one whose pivot is not positive */
};

template <class number> struct potrf {
    using real = real_of<number>;
    const tb_potrf_panel &x;
    column_of_squares<number> &shared;
    const bool by_columns; /* else what lies there is U, whose conjugate transpose is L */
    const int row, column; /* in each square; neighbours in memory are neighbours' */
    number own[squares][squares];

    __device__ potrf(const tb_potrf_panel &x, column_of_squares<number> &shared)
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

    /* Gives others the thread's numbers of a column of squares; the number of the column is known to the compiler. */
    __device__ __forceinline__ void give(int step)
    {
#pragma unroll
        for (int i = step; i < squares; i++)
            shared.at[column][side * i + row] = own[i][step];
    }

    __device__ __forceinline__ void take(int step)
    {
#pragma unroll
        for (int i = step; i < squares; i++)
            own[i][step] = shared.at[column][side * i + row];
    }

    /* What the column makes of the squares behind it, whose number is known to the compiler. Of single precision it is added up
     * before it is subtracted, so that the numbers on the diagonal, which are larger, are rounded once a step. */
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
#pragma unroll(sizeof(number) > 8 ? 1 : 2)
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
                    own[i][j] = plus(own[i][j], sums[i][j]);
        }
    }

    /* One warp's: two lanes have the same row. What is right of the diagonal means nothing. */
    __device__ __forceinline__ void factor_square(int first) const
    {
        const int lane = threadIdx.x % side;
        number line[side];
#pragma unroll
        for (int j = 0; j < side; j++)
            line[j] = shared.at[j][first + lane];
        real pivot = real_part(of_lane(line[0], 0));
        int without_root = 0;
#pragma unroll
        for (int j = 0; j < side; j++) {
            const int next = j + 1 < side ? j + 1 : j,
                      sent = sizeof(number) > 8 ? next + 1 : side; /* early */
            const real next_pivot = of_lane(real_part(line[next]), next);
            number below[side];
#pragma unroll
            for (int k = j + 1; k < sent; k++)
                below[k] = of_lane(line[j], k);
            const real reciprocal = reciprocal_root(pivot);
            if (!(pivot > 0) && without_root == 0) /* nor one that is no number; all lanes see the same */
                without_root = first + j + 1;
            shared.pivots[j] = pivot;
            shared.reciprocals[j] = reciprocal;
            line[j] = times(line[j], reciprocal);
#pragma unroll
            for (int k = j + 1; k < sent; k++) {
                below[k] = times(below[k], reciprocal);
                line[k] = minus_product(line[k], line[j], below[k]);
            }
#pragma unroll
            for (int k = sent; k < side; k++)
                line[k] = minus_product(line[k], line[j], of_lane(line[j], k));
            if (j + 1 < side)
                pivot = minus_square(next_pivot, below[next]);
        }
#pragma unroll
        for (int j = 0; j < side; j++)
            shared.at[j][first + lane] = line[j];
        __syncwarp();
        shared.at[lane][first + lane] = number_of<number>(root(shared.pivots[lane]));
        shared.without_root = without_root;
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
                line[k] = minus_product(line[k], line[j], shared.at[j][first + k]);
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

    __device__ __forceinline__ void factor()
    {
        load();
#pragma unroll 1
        for (int step = 0; step < used(); step++) {
            with_constant(step, [&](int constant) { give(constant); });
            __syncthreads();
            if (threadIdx.x < warp)
                factor_square(side * step);
            __syncthreads();
            if (shared.without_root != 0) {
                if (threadIdx.x == 0)
                    *x.info = x.position + shared.without_root;
                return;
            }
            solve_row(side * step);
            __syncthreads();
            with_constant(step, [&](int constant) {
                take(constant);
                subtract(constant);
            });
            __syncthreads();
        }
        store();
    }
};

template <class number> __device__ __forceinline__ void run_potrf(const tb_potrf_panel &x)
{
    __shared__ column_of_squares<number> shared;
    if (*x.info == 0)
        potrf<number>(x, shared).factor();
}

} // namespace panels

#define TB_POTRF_STAMP(name, number)                                                                         \
    extern "C" __global__ void __launch_bounds__(TB_POTRF_THREADS)                                           \
        name(const __grid_constant__ tb_potrf_panel x)                                                       \
    {                                                                                                        \
        panels::run_potrf<number>(x);                                                                        \
    }
