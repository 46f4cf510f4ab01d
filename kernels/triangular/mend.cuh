/* mend: C := alpha L W in the columns that hold numbers which are not finite, of W, a copy of C (mend.h).
 *
 *     block    256 threads, 32 columns of C, an eighth of L's rows at most; ends at once where no column is noted
 *     thread   a row of L, of which it reads what is stored, and four noted columns at a time
 *
 * The product that came before multiplied zeros in place of what is not stored, by infinities too.
 */
#pragma once

#include "kernels/triangular/mend.h"
#include "kernels/triangular/number.cuh"
#include "kernels/dependent_launch.cuh"

namespace mend
{

constexpr int threads = TB_MEND_THREADS, at_a_time = 4;

using triangular::number;

/* Multiplies by a real alpha as the product does. */
template <class value> __device__ inline value scaled(const tb_mend &x, value sum)
{
    using real = typename value::real;
    value alpha = {real(x.alpha_re)}, result = {};
    if (x.alpha_im == 0) {
        for (int part = 0; part < value::parts; part++)
            result.part[part] = alpha.part[0] * sum.part[part];
        return result;
    }
    alpha.part[value::parts - 1] = real(x.alpha_im);
    add(result, alpha, sum);
    return result;
}

template <class value> struct rows {
    const tb_mend &mend;

    static __device__ value *at(const tb_mend_matrix &matrix, int64_t row, int64_t column)
    {
        return static_cast<value *>(matrix.first) + row * matrix.row_step + column * matrix.column_step;
    }

    __device__ value l_at(int64_t row, int64_t column) const
    {
        value a = *at(mend.l, row, column);
        if (mend.conjugated)
            a.part[value::parts - 1] = -a.part[value::parts - 1];
        return a;
    }

    /* A row, of columns of which some may be the same. */
    __device__ void compute(int64_t row, const int64_t (&columns)[at_a_time]) const
    {
        value sums[at_a_time] = {};
        for (int64_t l = 0; l < row + !mend.unit_diagonal; l++) {
            const value a = l_at(row, l);
#pragma unroll
            for (int j = 0; j < at_a_time; j++)
                add(sums[j], a, *at(mend.copy, l, columns[j]));
        }
#pragma unroll
        for (int j = 0; j < at_a_time; j++) {
            const value own = *at(mend.copy, row, columns[j]);
            for (int part = 0; part < value::parts && mend.unit_diagonal; part++)
                sums[j].part[part] += own.part[part];
            *at(mend.c, row, columns[j]) = scaled(mend, sums[j]);
        }
    }
};

/* A bit for each of the block's columns. */
__device__ inline unsigned noted_columns(const tb_mend &mend, int64_t group)
{
    __shared__ unsigned noted;
    unsigned found = 0;
    if (threadIdx.x == 0)
        noted = 0;
    for (int64_t note = threadIdx.x; note < mend.notes_of_columns; note += threads)
        found |= mend.notes[group * mend.group_step + note * mend.note_step];
    __syncthreads();
    if (found != 0)
        atomicOr(&noted, found);
    __syncthreads();
    return noted;
}

template <class real, int parts> __device__ inline void run(const tb_mend &mend)
{
    dependent_launch::wait();
    const int64_t group = blockIdx.x % mend.groups, piece = blockIdx.x / mend.groups,
                  pieces = gridDim.x / mend.groups;
    const rows<number<real, parts>> rows = {mend};
    unsigned left = noted_columns(mend, group);
    while (left != 0) {
        int64_t columns[at_a_time];
#pragma unroll
        for (int j = 0; j < at_a_time; j++) {
            columns[j] = left == 0 ? columns[0] : group * TB_MEND_COLUMNS + __ffs(int(left)) - 1;
            left &= left - 1;
        }
        for (int64_t row = piece * threads + threadIdx.x; row < mend.order; row += pieces * threads)
            rows.compute(row, columns);
    }
}

} // namespace mend

#define TB_MEND_STAMP(symbol, real, parts)                                                                   \
    extern "C" __global__ void __launch_bounds__(TB_MEND_THREADS)                                            \
        symbol(const __grid_constant__ tb_mend arguments)                                                    \
    {                                                                                                        \
        mend::run<real, parts>(arguments);                                                                   \
    }
