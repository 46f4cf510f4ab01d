/* potrf: L := the lower triangle with L L' = the matrix whose lower triangle it is, in one block of threads, and L21 = A21 L'^-1
 * with the rows below it, in further ones (potrf_rows.cuh). Where a pivot is not positive all of it stays as it was.
 *
 *     | 0             |  The triangle is cut into squares of 16 x 16. Of each square every worker has one number, in registers from
 *     | 1  5          |  its first to its last step, so that any device has room for it; shared memory has one column of squares.
 *     | 2  6  8       |  A step for each: threads solve for what is below the square on the diagonal, a row each, and all subtract
 *     | 3  7  9  ...  |  what that column makes of the squares behind it: of the next one on the diagonal first, which one warp factors
 *                        while the others are at the rest.
 */
#pragma once

#include "kernels/panels/potrf_rows.cuh"
#include "kernels/panels/potrf_square.cuh"

namespace panels
{

template <class number> struct potrf {
    using real = real_of<number>;
    const tb_potrf_panel &x;
    shared_squares<number> &shared;
    const letters_of_potrf<number> &letters;
    const bool by_columns; /* else what lies there is U, whose conjugate transpose is L */
    const int row, column; /* in each square; neighbours in memory are neighbours' */
    number own[squares][squares];

    __device__ potrf(const tb_potrf_panel &x, shared_squares<number> &shared,
                     const letters_of_potrf<number> &letters)
        : x(x), shared(shared), letters(letters), by_columns(x.row_step == 1),
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
        const int64_t down = reals_of<number> * x.row_step, across = reals_of<number> * x.column_step;
        real *line = static_cast<real *>(x.a) + row * down + column * across;
#pragma unroll
        for (int i = 0; i < squares; i++) {
            real *there = line;
#pragma unroll
            for (int j = 0; j <= i; j++) {
                each(own[i][j], side * i + row, side * j + column, there);
                there += side * across;
            }
            line += side * down;
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
#pragma unroll(reals_of <number> == 2 ? 1 : 2)
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
    __device__ __forceinline__ void solve_own_row(int first) const
    {
        const int mine = first + side + int(threadIdx.x);
        if (mine < side * used())
            solve_row(shared, &shared.at[0][mine], TB_POTRF_ORDER + between<number>);
    }

    /* Writes a finished column down for blocks that have rows below the triangle. */
    __device__ __forceinline__ void write_down(int step) const
    {
        if (gridDim.x == 1)
            return;
#pragma unroll
        for (int i = step; i < squares; i++)
            write(letters.of_square(i, step), own[i][step]);
        if (row == column)
            letters.reciprocals[side * step + row] = shared.reciprocals[row];
    }

    __device__ __forceinline__ void announce(uint32_t finished) const
    {
        if (gridDim.x > 1)
            between_blocks::announce(&letters.flags->finished, finished);
    }

    __device__ __forceinline__ void tell_failure() const
    {
        if (threadIdx.x == 0) {
            *x.info = x.position + shared.without_root;
            announce(TB_POTRF_NO_FACTOR);
        }
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
                tell_failure();
                return;
            }
            with_constant(step, [&](int constant) { give(constant); });
            __syncthreads();
            solve_own_row(side * step);
            __syncthreads();
            const number diagonal = of_diagonal();
            with_constant(step, [&](int constant) {
                take(constant, diagonal);
                if (constant + 1 < squares) {
                    subtract_from_next(constant);
                    give_diagonal(constant + 1);
                }
                write_down(constant);
            });
            __syncthreads();
            if (threadIdx.x == workers - warp)
                announce(uint32_t(step) + 1);
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

template <class number> struct shared_of_potrf {
    shared_squares<number> squares;
    shared_rows<number> rows;
    int block, goes_on; /* all threads are told the same of what other blocks may be writing */
};

template <class number> __device__ __forceinline__ void run_potrf(const tb_potrf_panel &x)
{
    using all = shared_of_potrf<number>;
    static_assert(sizeof(all) <= TB_POTRF_SHARED_BYTES(sizeof(number), shared_rows<number>::count), "room");
    all &shared = *reinterpret_cast<all *>(between_blocks::dynamic_shared());
    const bool works = !has_own_warp<number> || threadIdx.x < workers;
    const letters_of_potrf<number> letters(x);
    if (threadIdx.x == 0) {
        shared.block = letters.take_turn();
        shared.goes_on = *x.info == 0;
    }
    __syncthreads();
    const int block = shared.block;
    if (shared.goes_on) {
        if (block > 0 && works)
            potrf_rows<number>(x, shared.squares, shared.rows, letters, block - 1).follow();
        else if (block == 0 && works)
            potrf<number>(x, shared.squares, letters).work();
        else if (block == 0)
            potrf<number>(x, shared.squares, letters).factor_squares();
    }
    letters.leave();
}

} // namespace panels

#define TB_POTRF_STAMP(name, number)                                                                         \
    extern "C" __global__ void __launch_bounds__(TB_POTRF_THREADS(sizeof(number)))                           \
        name(const __grid_constant__ tb_potrf_panel x)                                                       \
    {                                                                                                        \
        panels::run_potrf<number>(x);                                                                        \
    }
