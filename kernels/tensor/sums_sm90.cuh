/* What becomes of a tile's sums in sgemm_split_sm90.cuh: segments of a long k are put aside in device memory, shares of k are
 * left there for a last launch to add up, and alpha and beta are applied on the way into C.
 *
 * Words: a quadruple is four of a thread's sums, in two rows that are eight apart and two neighbouring columns.
 */
#pragma once

#include "kernels/gemm.cuh"
#include "kernels/tensor/split.cuh"
#include "kernels/tensor/tiles_sm90.cuh"

namespace split_sm90
{

template <int count> __device__ inline void clear(float (&sum)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        sum[i] = 0;
}

/* Keeps the compiler from reading accumulators before the wait that precedes this. */
template <int count> __device__ inline void pin(float (&sum)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("" : "+f"(sum[i])::"memory");
}

/* sum * 2^-(scale_row + scale_column), rounded once: by half of the exponent each time, as all of it may lie beyond FP32's.
 * The sum is zero or 2^-48 at least, the product of the smallest FP16 parts: where half of the exponent makes it subnormal, all
 * of it makes it zero. */
__device__ inline float scale_back(float sum, int scale_row, int scale_column)
{
    constexpr int bias = 127, significand_bits = 23;
    const int exponent = -scale_row - scale_column, half = exponent >> 1;
    return sum * __int_as_float((bias + max(half, 1 - bias)) << significand_bits) *
           __int_as_float((bias + max(exponent - half, 1 - bias)) << significand_bits);
}

/* Where a thread's sums belong: those of a quadruple to two columns of this row, and of the eighth after it. */
struct place {
    int64_t row, column;
};

template <class layout> __device__ inline place place_of(const tile &tile, int consuming_thread)
{
    const int lane = consuming_thread % 32;
    return {int64_t(tile.panel_a) * tile_m + consuming_thread / 32 * 16 + lane / 4,
            int64_t(tile.panel_b) * layout::tile_n + lane % 4 * 2};
}

/* What a row's sums are scaled by. */
template <class layout> struct row_scales {
    int scales[2] = {};

    __device__ row_scales(const tb_split_arguments &arguments, int64_t row)
    {
        if (layout::format::scales)
            for (int half = 0; half < 2; half++)
                scales[half] = split::scale_of(arguments.largest_a[row + 8 * half]);
    }
};

/* And the columns' of quadruples that are eight apart, from the bits of their largest magnitudes. There are as many as the panels
 * have columns. */
template <class layout> struct column_scales {
    uint32_t largest[write_batch][2] = {};

    __device__ column_scales(const tb_split_arguments &arguments, int64_t column)
    {
        if (layout::format::scales)
#pragma unroll
            for (int q = 0; q < write_batch; q++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    largest[q][i] = __ldcg(arguments.largest_b + column + q * 8 + i);
    }
};

/* Whether the mask cuts through a tile. */
template <class layout> __device__ inline bool is_cut(const tb_split_arguments &arguments, const tile &tile)
{
    const tb_sgemm &problem = arguments.problem;
    const int64_t row = int64_t(tile.panel_a) * tile_m, column = int64_t(tile.panel_b) * layout::tile_n;
    const tb_tile_mask mask = tb_mask_of_tile(problem.mask, problem.mask_step, problem.diagonal, row, column,
                                              tile_m, layout::tile_n);
    return mask.first + mask.step * (layout::tile_n - 1) > 0 || mask.end < tile_m;
}

/* Quadruples that are eight columns apart. What they need is read before anything is written, as the compiler has to
 * assume that writing changes it. */
template <class layout, bool is_cut>
__device__ inline void write_quadruples(const tb_split_arguments &arguments,
                                        const float4 (&sums)[write_batch], int64_t row, int64_t column,
                                        const row_scales<layout> &rows, const column_scales<layout> &columns)
{
    const tb_sgemm &problem = arguments.problem;
    float *c = problem.c + row + column * problem.ldc;
    const bool has_row[2] = {row < problem.m, row + 8 < problem.m};
    const tb_tile_mask mask = tb_mask_of_tile(problem.mask, problem.mask_step, problem.diagonal, row, column,
                                              2 * 8, write_batch * 8);
    const auto has = [&](int half, int right) {
        return column + right < problem.n && has_row[half] &&
               (!is_cut ||
                (half * 8 - mask.step * right >= mask.first && half * 8 - mask.step * right < mask.end));
    };
    float before[write_batch][2][2] = {};
#pragma unroll
    for (int q = 0; q < write_batch; q++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (problem.beta != 0)
                for (int half = 0; half < 2; half++)
                    if (has(half, q * 8 + i))
                        before[q][i][half] = c[(q * 8 + i) * problem.ldc + half * 8];
#pragma unroll
    for (int q = 0; q < write_batch; q++) {
        const float of[2][2] = {{sums[q].x, sums[q].z}, {sums[q].y, sums[q].w}};
#pragma unroll
        for (int i = 0; i < 2; i++)
            for (int half = 0; half < 2; half++) {
                float sum = of[i][half];
                if (layout::format::scales)
                    sum = scale_back(sum, rows.scales[half], split::scale_of(columns.largest[q][i]));
                if (has(half, q * 8 + i))
                    c[(q * 8 + i) * problem.ldc + half * 8] = tb::combine(problem, sum, &before[q][i][half]);
            }
    }
}

template <int count> __device__ inline float4 quadruple(const float (&sum)[count], int index)
{
    return make_float4(sum[4 * index], sum[4 * index + 1], sum[4 * index + 2], sum[4 * index + 3]);
}

template <class layout, bool is_cut>
__device__ inline void write_tile(const tb_split_arguments &arguments, const float (&sum)[layout::tile_n / 2],
                                  const place &place)
{
    const row_scales<layout> rows(arguments, place.row);
#pragma unroll
    for (int i = 0; i < layout::tile_n / 8; i += write_batch) {
        float4 sums[write_batch];
#pragma unroll
        for (int q = 0; q < write_batch; q++)
            sums[q] = quadruple(sum, i + q);
        const int64_t column = place.column + i * 8;
        write_quadruples<layout, is_cut>(arguments, sums, place.row, column, rows,
                                         column_scales<layout>(arguments, column));
    }
}

template <class layout>
__device__ inline void write_tile(const tb_split_arguments &arguments, const float (&sum)[layout::tile_n / 2],
                                  const tile &tile, int consuming_thread)
{
    if (is_cut<layout>(arguments, tile))
        write_tile<layout, true>(arguments, sum, place_of<layout>(tile, consuming_thread));
    else
        write_tile<layout, false>(arguments, sum, place_of<layout>(tile, consuming_thread));
}

/* A block's sums of a work, a tile and a share of k: quadruple after quadruple, of all consuming threads. */
template <class layout>
__device__ inline float4 *share_of(const tb_split_arguments &arguments, int index, int rank)
{
    return reinterpret_cast<float4 *>(arguments.shares) +
           (int64_t(index) * cluster_blocks + rank) * (tile_m * layout::tile_n / 4);
}

template <class layout>
__device__ inline void store_share(const tb_split_arguments &arguments,
                                   const float (&sum)[layout::tile_n / 2], const work &work,
                                   int consuming_thread)
{
    float4 *quadruples = share_of<layout>(arguments, work.index, cluster::rank()) + consuming_thread;
#pragma unroll
    for (int i = 0; i < layout::tile_n / 8; i++)
        __stcg(quadruples + i * consumers * warpgroup, quadruple(sum, i));
}

/* Adds up the shares of k in their order: a block some quadruples of a tile. */
template <class layout> __device__ inline void add_shares(const tb_split_arguments &arguments)
{
    constexpr int blocks = layout::tile_n / 8 / write_batch;
    if (split::out_of_range(arguments, layout::format::scales)) /* C is there already */
        return;
    const int number = blockIdx.x / blocks, first = blockIdx.x % blocks * write_batch;
    const int index = number / cluster_blocks, rank = number % cluster_blocks;
    const tile tile = tile_at(arguments, index, rank);
    const place place = place_of<layout>(tile, threadIdx.x);
    const int64_t column = place.column + first * 8;
    const row_scales<layout> rows(arguments, place.row);
    const column_scales<layout> columns(arguments, column);
    const int64_t apart = int64_t(arguments.tiles) * cluster_blocks * (tile_m * layout::tile_n / 4);
    const float4 *from =
        share_of<layout>(arguments, index, rank) + first * (consumers * warpgroup) + threadIdx.x;
    float4 sums[write_batch] = {};
    for (int share = 0; share < arguments.shares_of_k; share++, from += apart)
#pragma unroll
        for (int i = 0; i < write_batch; i++) {
            const float4 more = __ldcg(from + i * consumers * warpgroup);
            sums[i].x += more.x;
            sums[i].y += more.y;
            sums[i].z += more.z;
            sums[i].w += more.w;
        }
    if (arguments.problem.mask == TB_FULL)
        write_quadruples<layout, false>(arguments, sums, place.row, column, rows, columns);
    else
        write_quadruples<layout, true>(arguments, sums, place.row, column, rows, columns);
}

/* The segments' sum so far, in device memory: 16 bytes a thread and piece, read and written by it alone. Where they lie
 * is found anew each time, as the accumulators leave no registers to remember it. */
template <int count> struct segments {
    const tb_split_arguments &arguments;

    __device__ float4 *pieces() const
    {
        int64_t first = int64_t(blockIdx.x) * (count * consumers * warpgroup / 4) + threadIdx.x - warpgroup;
        asm volatile("" : "+l"(first));
        return reinterpret_cast<float4 *>(arguments.segments) + first;
    }

    __device__ void add_to(float (&total)[count]) const
    {
        const float4 *pieces = this->pieces();
#pragma unroll
        for (int i = 0; i < count / 4; i++) {
            const float4 piece = __ldcg(pieces + i * consumers * warpgroup);
            total[4 * i] += piece.x;
            total[4 * i + 1] += piece.y;
            total[4 * i + 2] += piece.z;
            total[4 * i + 3] += piece.w;
        }
    }

    /* Takes the total over and leaves zero; the first takes it as it is. */
    __device__ void take(float (&total)[count], bool first) const
    {
        if (!first)
            add_to(total);
        float4 *pieces = this->pieces();
#pragma unroll
        for (int i = 0; i < count / 4; i++)
            __stcg(pieces + i * consumers * warpgroup,
                   make_float4(total[4 * i], total[4 * i + 1], total[4 * i + 2], total[4 * i + 3]));
        clear(total);
    }
};

} // namespace split_sm90
