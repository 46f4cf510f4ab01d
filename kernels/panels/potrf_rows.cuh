/* Rows below a triangle that another block of the launch factors (potrf.cuh): that block writes down each column of squares when it is
 * finished, and blocks that have some of the rows follow it, a column at a time: they solve for theirs, and subtract what that makes of
 * the columns behind it. Theirs are in registers until they know that the triangle has a factor.
 */
#pragma once

#include "kernels/panels/between_blocks.cuh"
#include "kernels/panels/potrf_square.cuh"

namespace panels
{

/* What the block of the triangle writes down, behind flags: reciprocals of the diagonal, and L square by square, in each of which a thread
 * finds what the same one of that block has. */
template <class number> struct letters_of_potrf {
    using real = real_of<number>;
    const tb_potrf_panel &x;
    tb_potrf_flags *const flags;
    real *const reciprocals, *const numbers;

    __device__ letters_of_potrf(const tb_potrf_panel &x)
        : x(x), flags(static_cast<tb_potrf_flags *>(x.letters)),
          reciprocals(reinterpret_cast<real *>(flags + 1)), numbers(reciprocals + TB_POTRF_ORDER)
    {
    }

    /* The thread's number of a square. */
    __device__ __forceinline__ real *of_square(int i, int j) const
    {
        return numbers + reals_of<number> * ((i * squares + j) * workers + int(threadIdx.x));
    }

    __device__ __forceinline__ number read_fresh(int i, int j) const
    {
        const real *from = of_square(i, j);
        if constexpr (reals_of<number> == 2)
            return {between_blocks::fresh(from), between_blocks::fresh(from + 1)};
        else
            return between_blocks::fresh(from);
    }

    /* Blocks are numbered as they begin, so that the one that others wait for has begun; the first one has the triangle. */
    __device__ __forceinline__ int take_turn() const
    {
        return gridDim.x == 1 ? 0 : int(between_blocks::count_in(&flags->begun));
    }

    /* The last block leaves flags as they were. */
    __device__ __forceinline__ void leave() const
    {
        if (gridDim.x > 1 && threadIdx.x == 0 && between_blocks::count_in(&flags->ended) == gridDim.x - 1)
            *flags = {0, 0, 0, 0};
    }
};

template <class number> struct shared_rows {
    static constexpr int count = reals_of<number> == 2 ? TB_POTRF_ROWS_COMPLEX : TB_POTRF_ROWS;
    number at[side][count + between<number>]; /* of a column of squares, number by number down each column */
    bool has_factor;                          /* as far as is known */
};

template <class number> struct potrf_rows {
    using real = real_of<number>;
    static constexpr int count = shared_rows<number>::count, pieces = count / side;
    static_assert(count % side == 0 && count <= workers,
                  "a thread has a number of each square, and some a row");
    const tb_potrf_panel &x;
    shared_squares<number> &shared;
    shared_rows<number> &rows;
    const letters_of_potrf<number> &letters;
    const int64_t first; /* row */
    const bool by_columns;
    const int row, column; /* in each square */
    number own[pieces][squares];

    __device__ potrf_rows(const tb_potrf_panel &x, shared_squares<number> &shared, shared_rows<number> &rows,
                          const letters_of_potrf<number> &letters, int block)
        : x(x), shared(shared), rows(rows), letters(letters), first(x.order + int64_t(block) * count),
          by_columns(x.row_step == 1), row(by_columns ? threadIdx.x % side : threadIdx.x / side),
          column(by_columns ? threadIdx.x / side : threadIdx.x % side)
    {
    }

    /* What there is of the thread's, with its place in memory. */
    template <class visit> __device__ __forceinline__ void for_each_own(visit each)
    {
        const int64_t down = reals_of<number> * x.row_step, across = reals_of<number> * x.column_step;
        real *const there = static_cast<real *>(x.a) + (first + row) * down + column * across;
#pragma unroll
        for (int i = 0; i < pieces; i++)
#pragma unroll
            for (int j = 0; j < squares; j++)
                if (first + side * i + row < x.rows && side * j + column < x.order)
                    each(own[i][j], there + side * (i * down + j * across));
    }

    __device__ __forceinline__ void load()
    {
#pragma unroll
        for (int i = 0; i < pieces; i++)
#pragma unroll
            for (int j = 0; j < squares; j++)
                own[i][j] = number_of<number>(0);
        for_each_own(
            [&](number &mine, const real *there) { mine = conjugate_if(!by_columns, read<number>(there)); });
    }

    __device__ __forceinline__ void store()
    {
        for_each_own([&](const number &mine, real *there) { write(there, conjugate_if(!by_columns, mine)); });
    }

    __device__ __forceinline__ void give(int step)
    {
#pragma unroll
        for (int i = 0; i < pieces; i++)
            rows.at[column][side * i + row] = own[i][step];
    }

    __device__ __forceinline__ void take(int step)
    {
#pragma unroll
        for (int i = 0; i < pieces; i++)
            own[i][step] = rows.at[column][side * i + row];
    }

    /* Of the triangle, a column of squares. */
    __device__ __forceinline__ void fetch(int step)
    {
        shared.diagonal[column][row] = letters.read_fresh(step, step);
#pragma unroll
        for (int i = 1; i < squares; i++)
            if (i > step)
                shared.at[column][side * i + row] = letters.read_fresh(i, step);
        if (threadIdx.x < side)
            shared.reciprocals[threadIdx.x] =
                between_blocks::fresh(letters.reciprocals + side * step + threadIdx.x);
    }

    /* Of single precision it is added up first, as it is in the triangle. */
    __device__ __forceinline__ void subtract(int step)
    {
        constexpr bool apart = sizeof(real) == sizeof(float);
        number sums[pieces][squares];
#pragma unroll
        for (int i = 0; i < pieces; i++)
#pragma unroll
            for (int j = step + 1; j < squares; j++)
                sums[i][j] = apart ? number_of<number>(0) : own[i][j];
#pragma unroll(reals_of <number> == 2 ? 1 : 2)
        for (int k = 0; k < side; k++) {
            number left[pieces];
#pragma unroll
            for (int i = 0; i < pieces; i++)
                left[i] = rows.at[k][side * i + row];
#pragma unroll
            for (int j = step + 1; j < squares; j++) {
                const number right = shared.at[k][side * j + column];
#pragma unroll
                for (int i = 0; i < pieces; i++)
                    sums[i][j] = minus_product(sums[i][j], left[i], right);
            }
        }
#pragma unroll
        for (int i = 0; i < pieces; i++)
#pragma unroll
            for (int j = step + 1; j < squares; j++)
                own[i][j] = apart ? plus(own[i][j], sums[i][j]) : sums[i][j];
    }

    __device__ __forceinline__ void await_column(int step)
    {
        if (threadIdx.x == 0) {
            between_blocks::await(&letters.flags->finished, uint32_t(step) + 1);
            rows.has_factor = between_blocks::fresh(&letters.flags->finished) != TB_POTRF_NO_FACTOR;
        }
    }

    __device__ __forceinline__ void follow()
    {
        load();
#pragma unroll 1
        for (int step = 0; side * step < x.order; step++) {
            with_constant(step, [&](int constant) { give(constant); });
            await_column(step);
            __syncthreads();
            if (!rows.has_factor)
                return;
            fetch(step);
            __syncthreads();
            if (threadIdx.x < count)
                solve_row(shared, &rows.at[0][threadIdx.x], count + between<number>);
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

} // namespace panels
