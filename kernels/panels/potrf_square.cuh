/* The square on the diagonal of POTRF's panels, and what threads of a block tell each other (potrf.cuh).
 *
 * Columns wait for each other's pivots, and a warp that factors the square for its lanes' numbers. So each lane factors a small triangle
 * on the square's diagonal for itself, beside its own row of the square.
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

/* ---- Behind it ------------------------------------------------------------------------------------------------ */

/* A row of 16 numbers that are so far apart, beside or below a square that is factored. */
template <class number>
__device__ __forceinline__ void solve_row(const shared_squares<number> &shared, number *first, int distance)
{
    number line[side];
#pragma unroll
    for (int j = 0; j < side; j++)
        line[j] = first[j * distance];
#pragma unroll
    for (int j = 0; j < side; j++) {
        line[j] = times(line[j], shared.reciprocals[j]);
#pragma unroll
        for (int k = j + 1; k < side; k++)
            line[k] = minus_product(line[k], line[j], shared.diagonal[j][k]);
    }
#pragma unroll
    for (int j = 0; j < side; j++)
        first[j * distance] = line[j];
}

/* Steps have one code but for what is in registers, whose numbers are the compiler's. */
template <class visit> __device__ __forceinline__ void with_constant(int step, visit go_on)
{
#pragma unroll
    for (int i = 0; i < squares; i++)
        if (i == step)
            go_on(i);
}

} // namespace panels
