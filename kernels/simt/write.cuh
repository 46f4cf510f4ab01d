/* What becomes of a block's sums: those of its slices and of a cluster's blocks are added up, and written. */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/cluster.cuh"
#include "kernels/simt/copy_async.cuh"
#include "kernels/simt/output.cuh"
#include "kernels/simt/shape.cuh"

namespace simt
{

template <class shape, class function> __device__ inline void visit(sums<shape> &sum, function use)
{
#pragma unroll
    for (int i = 0; i < shape::thread_m * shape::thread_n; i++)
        use(i, sum.at[i / shape::thread_n][i % shape::thread_n]);
}

/* Adds the sums of all slices up in those of the first, in a fixed order: the upper half hands its sums to the
 * lower one, until one is left. */
template <class shape> __device__ inline void add_slices(sums<shape> &sum, const position<shape> &at)
{
#pragma unroll
    for (int half = shape::slices / 2; half > 0; half /= 2) {
        float *handed = ring() + threadIdx.x - (at.slice < half ? 0 : half * shape::slice_threads);
        __syncthreads();
        if (at.slice >= half && at.slice < 2 * half)
            visit<shape>(sum, [&](int i, float &value) { handed[i * half * shape::slice_threads] = value; });
        __syncthreads();
        if (at.slice < half)
            visit<shape>(sum, [&](int i, float &value) { value += handed[i * half * shape::slice_threads]; });
    }
}

/* Writes a thread's elements of two neighbouring columns of the tile, value(i, e): the old elements of both are read before
 * the first is written, since no read can overtake a write to what might be the same address. c: where the thread's first row
 * of the first column lies. */
template <class shape, class function>
__device__ inline void write_columns(const output &out, float *c, int row, int column, bool aligned,
                                     function value)
{
    using place = position<shape>;
    const span rows[2] = {span_of(out, row, column), span_of(out, row, column + 1)};
    float4 old[2][shape::thread_m / 4];
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
        for (int i = 0; i < shape::thread_m; i += 4)
            old[e][i / 4] =
                read_piece(out, c + e * out.ldc + place::m(i), rows[e].from(place::m(i)), aligned);
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
        for (int i = 0; i < shape::thread_m; i += 4)
            write_piece(out, c + e * out.ldc + place::m(i),
                        {value(i, e), value(i + 1, e), value(i + 2, e), value(i + 3, e)}, old[e][i / 4],
                        rows[e].from(place::m(i)), aligned);
}

/* Writes a thread's share of a tile. */
template <class shape>
__device__ inline void write_tile(const output &out, const sums<shape> &sum, const position<shape> &at)
{
    const bool aligned = is_aligned(out);
    float *c = out.c + at.row + at.column * out.ldc;
#pragma unroll
    for (int j = 0; j < shape::thread_n; j += 2) {
        write_columns<shape>(out, c, at.row, at.column + at.n(j), aligned,
                             [&](int i, int e) { return sum.at[i][j + e]; });
        c += (j % 4 == 2 ? 4 * shape::lanes_n - 2 : 2) * out.ldc;
    }
}

/* The blocks of a cluster have a part of this tile each. They leave their sums in shared memory, [row][column][thread], and
 * each takes a share of the columns, two at a time, and adds up what all of them have, in their order. */
template <class shape> __device__ inline void write_together(const output &out, sums<shape> &sum, int blocks)
{
    const position<shape> at(rematerialized::thread());
    const int thread = rematerialized::thread() % shape::slice_threads;
    __syncthreads(); /* nobody reads the slices' sums any more */
    if (at.slice == 0)
        visit<shape>(sum, [&](int i, float &value) {
            store_shared<1>(first_stage() + 4 * (i * shape::slice_threads + thread), &value);
        });
    cluster::meet();
    const bool aligned = is_aligned(out);
#pragma unroll 1
    for (int pair = cluster::rank() * shape::slices + at.slice; pair < shape::thread_n / 2;
         pair += blocks * shape::slices) {
        float total[shape::thread_m][2] = {};
        const unsigned first = first_stage() + 4 * (2 * pair * shape::slice_threads + thread);
#pragma unroll 1
        for (int block = 0; block < blocks; block++) {
            const unsigned theirs = cluster::address_in(first, block);
#pragma unroll
            for (int i = 0; i < shape::thread_m; i++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    total[i][e] +=
                        cluster::load(theirs + 4 * (i * shape::thread_n + e) * shape::slice_threads);
        }
        const int column = at.column + at.n(2 * pair);
        write_columns<shape>(out, out.c + at.row + column * out.ldc, at.row, column, aligned,
                             [&](int i, int e) { return total[i][e]; });
    }
    cluster::meet(); /* nobody reads this block's shared memory any more */
}

} // namespace simt
