/* The way out of the SIMT family: which tile of C a number means, and alpha and beta. */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/mask.h"
#include "kernels/simt/copy_async.cuh"
#include "kernels/simt/simt.h"

namespace simt
{

/* A tile of C of one of the products. */
struct tile {
    int64_t product, m, n; /* m, n: its first row and column */
};

/* Those of a mask, numbered as mask.h says. */
__device__ inline tile locate_masked_tile(const tb_simt_arguments &arguments, int64_t number, int tile_m,
                                          int tile_n)
{
    const unsigned count = unsigned(arguments.masked.count);
    const unsigned product = arguments.batches.many ? unsigned(number) / count : 0;
    const tb_tile_place at = tb_mask_locate(&arguments.masked, int(unsigned(number) - product * count));
    return {product, int64_t(at.row) * tile_m, int64_t(at.column) * tile_n};
}

/* Where zeros are left out; on others some shapes would have to keep numbers in local memory for it. */
#if __CUDA_ARCH__ >= 10 * TB_SIMT_ZEROS_FIRST
constexpr bool leaves_out_zeros = true;
#else
constexpr bool leaves_out_zeros = false;
#endif

/* Tiles are numbered product after product, in each in columns grouped by TB_SIMT_GROUP, within a group along n first, so that the
 * blocks in flight share panels of A and B in L2; where there are zeros, as zeros.h says. */
__device__ inline tile locate_tile(const tb_simt_arguments &arguments, int64_t number, int tile_m, int tile_n)
{
    if (arguments.masked.mask != TB_FULL)
        return locate_masked_tile(arguments, number, tile_m, tile_n);
    const unsigned tiles = arguments.order.lines * arguments.order.length;
    tb_tile_order order = arguments.order;
    if (!leaves_out_zeros)
        order.zeros = 0;
    const unsigned product = arguments.batches.many ? unsigned(number) / tiles : 0;
    const tb_tile_place at = tb_locate_tile(&order, unsigned(number) - product * tiles);
    return {product, int64_t(at.row) * tile_m, int64_t(at.column) * tile_n};
}

/* The same, not remembered from the first time. */
__device__ inline tile locate_tile_again(const tb_simt_arguments &arguments, int64_t number, int tile_m,
                                         int tile_n)
{
    rematerialized::uses_of(number);
    return locate_tile(arguments, number, tile_m, tile_n);
}

/* So much of C from a place on, at most a tile. */
struct extent {
    int rows, columns;
};

__device__ inline extent existing_of(const tb_sgemm &problem, const tile &tile, int tile_m, int tile_n)
{
    return {int(min(problem.m - tile.m, int64_t(tile_m))), int(min(problem.n - tile.n, int64_t(tile_n)))};
}

__device__ inline void add(float4 &sum, const float4 &term)
{
    sum.x += term.x;
    sum.y += term.y;
    sum.z += term.z;
    sum.w += term.w;
}

/* Where sums of products go, as they are or as alpha * sum + beta * c. */
struct output {
    float *c;
    int64_t ldc;
    int rows, columns; /* that exist from c on, if few */
    float alpha, beta;
    tb_tile_mask mask; /* what of these is written, and read */

    __device__ float scale(float sum, float old) const
    {
        const float product = alpha * sum;
        return beta == 0 ? product : fmaf(beta, old, product);
    }
};

__device__ inline output output_to_c(const tb_simt_arguments &arguments, const tile &tile)
{
    const tb_sgemm &problem = arguments.problem;
    const extent existing = existing_of(problem, tile, arguments.tile_m, arguments.tile_n);
    return {tb_matrix_of(arguments.batches, TB_C, problem.c, tile.product) + tile.m + tile.n * problem.ldc,
            problem.ldc,
            existing.rows,
            existing.columns,
            problem.alpha,
            problem.beta,
            tb_mask_of_tile(problem.mask, problem.mask_step, problem.diagonal, tile.m, tile.n, existing.rows,
                            existing.columns)};
}

__device__ inline output output_to_slot(const tb_simt_arguments &arguments, int64_t slot)
{
    const int tile_m = arguments.tile_m, tile_n = arguments.tile_n;
    return {arguments.partial + slot * tile_m * tile_n, tile_m, tile_m, tile_n, 1, 0, {-tile_n, tile_m}};
}

/* Asks for the old elements of a tile of tile_m rows, so that they lie in L2 when they are wanted. */
template <int tile_m, int tile_n, int threads> __device__ inline void ask_for_old(const output &out)
{
    constexpr int line = 32, lines = tile_m / line > 0 ? tile_m / line : 1; /* floats; in a column */
#pragma unroll 1
    for (int i = threadIdx.x; i < lines * tile_n; i += threads) {
        const int row = i % lines * line, column = i / lines;
        if (row < out.rows && column < out.columns)
            prefetch(out.c + row + column * out.ldc);
    }
}

/* Whether every column begins at a multiple of 16 bytes. */
__device__ inline bool is_aligned(const output &out)
{
    return out.ldc % 4 == 0 && reinterpret_cast<uintptr_t>(out.c) % 16 == 0;
}

/* Rows of a column that are written, counted from one of them: from `first` on, before `end`. */
struct span {
    int first, end;

    __device__ bool has(int row) const
    {
        return first <= row && row < end;
    }
    /* Counted from a later row. */
    __device__ span from(int row) const
    {
        return {first - row, end - row};
    }
    __device__ bool has_piece(bool aligned) const
    {
        return aligned && first <= 0 && end >= 4;
    }
};

/* The rows of a column of the tile that are written, counted from a row of the tile. */
__device__ inline span span_of(const output &out, int row, int column)
{
    if (column >= out.columns)
        return {0, 0};
    const int further = out.mask.step * column - row;
    return {out.mask.first + further, min(out.mask.end + further, out.rows - row)};
}

/* Four neighbours of a column. beta = 0 means that they hold nothing worth reading. */
__device__ inline float4 read_piece(const output &out, const float *c, const span &rows, bool aligned)
{
    if (out.beta == 0)
        return make_float4(0, 0, 0, 0);
    if (rows.has_piece(aligned))
        return *reinterpret_cast<const float4 *>(c);
    return make_float4(rows.has(0) ? c[0] : 0, rows.has(1) ? c[1] : 0, rows.has(2) ? c[2] : 0,
                       rows.has(3) ? c[3] : 0);
}

__device__ inline void write_piece(const output &out, float *c, const float4 &sum, const float4 &old,
                                   const span &rows, bool aligned)
{
    const float4 value = make_float4(out.scale(sum.x, old.x), out.scale(sum.y, old.y),
                                     out.scale(sum.z, old.z), out.scale(sum.w, old.w));
    if (rows.has_piece(aligned)) {
        *reinterpret_cast<float4 *>(c) = value;
        return;
    }
    if (rows.has(0))
        c[0] = value.x;
    if (rows.has(1))
        c[1] = value.y;
    if (rows.has(2))
        c[2] = value.z;
    if (rows.has(3))
        c[3] = value.w;
}

} // namespace simt
