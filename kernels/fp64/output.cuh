/* The way out of dgemm_mma: which tile of C a number means, and alpha and beta. */
#pragma once

#include "kernels/fp64/dgemm_mma.h"

namespace fp64
{

/* Whether another kernel has computed C. */
__device__ inline bool is_spared(const tb_dgemm &problem)
{
    return problem.unless && *problem.unless != 0;
}

/* A tile of C of one of the products. */
struct tile {
    int64_t product, m, n; /* m, n: its first row and column */
};

/* Tiles are numbered product after product, in each in columns grouped by TB_DGEMM_GROUP, within a group along n first, so
 * that the blocks in flight share panels of A and B in L2; those of a mask as mask.h says, and where there are zeros as
 * zeros.h says. */
__device__ inline tile locate_tile(const tb_dgemm_arguments &arguments, int64_t number)
{
    const bool is_masked = arguments.masked.mask != TB_FULL;
    const unsigned tiles =
        is_masked ? unsigned(arguments.masked.count) : arguments.order.lines * arguments.order.length;
    const unsigned product = arguments.batches.many ? unsigned(number) / tiles : 0,
                   own = unsigned(number) - product * tiles;
    const tb_tile_place at =
        is_masked ? tb_mask_locate(&arguments.masked, int(own)) : tb_locate_tile(&arguments.order, own);
    return {product, int64_t(at.row) * arguments.tile_m, int64_t(at.column) * arguments.tile_n};
}

/* Where sums of products go, as they are or as alpha * sum + beta * c; or, where c is an earlier sum of the same products, as
 * alpha * (c + sum). */
struct output {
    double *c;
    int64_t ldc;
    int rows, columns; /* that exist from c on, if few */
    double alpha, beta;
    tb_tile_mask mask;      /* what of these is written, and read */
    bool has_total = false; /* c is such a sum: beta is 0 */

    __device__ bool reads() const
    {
        return has_total || beta != 0;
    }

    /* Whether sums go there as they are. */
    __device__ bool is_plain() const
    {
        return alpha == 1 && !reads();
    }

    __device__ double scale(double sum, double old) const
    {
        const double product = alpha * (has_total ? old + sum : sum);
        return beta == 0 ? product : fma(beta, old, product);
    }

    /* Whether every column begins at a multiple of 16 bytes. */
    __device__ bool is_aligned() const
    {
        return ldc % 2 == 0 && reinterpret_cast<uintptr_t>(c) % 16 == 0;
    }

    /* Whether besides that so many rows and columns exist, and all are written. */
    __device__ bool is_whole(int tile_m, int tile_n) const
    {
        return is_aligned() && rows == tile_m && columns == tile_n &&
               mask.first + mask.step * (columns - 1) <= 0 && mask.end >= rows;
    }
};

__device__ inline output output_to_c(const tb_dgemm_arguments &arguments, const tile &tile)
{
    const tb_dgemm &problem = arguments.problem;
    const int rows = int(min(problem.m - tile.m, int64_t(arguments.tile_m)));
    const int columns = int(min(problem.n - tile.n, int64_t(arguments.tile_n)));
    return {
        tb_matrix_of(arguments.batches, TB_C, problem.c, tile.product) + tile.m + tile.n * problem.ldc,
        problem.ldc,
        rows,
        columns,
        problem.alpha,
        problem.beta,
        tb_mask_of_tile(problem.mask, problem.mask_step, problem.diagonal, tile.m, tile.n, rows, columns)};
}

__device__ inline output output_to_slot(const tb_dgemm_arguments &arguments, int64_t slot)
{
    const int tile_m = arguments.tile_m, tile_n = arguments.tile_n;
    return {arguments.partial + slot * tile_m * tile_n, tile_m, tile_m, tile_n, 1, 0, {-tile_n, tile_m}};
}

/* Rows of a column that are written, counted from one of them: from `first` on, before `end`. */
struct span {
    int first, end;

    __device__ bool has(int row) const
    {
        return first <= row && row < end;
    }
    __device__ bool has_pair(bool aligned) const
    {
        return aligned && first <= 0 && end >= 2;
    }
    /* Counted from a later row. */
    __device__ span from(int row) const
    {
        return {first - row, end - row};
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

/* Two neighbours of a column, if they hold something worth reading. */
__device__ inline double2 read_pair(const output &out, const double *c, const span &rows, bool aligned)
{
    if (!out.reads())
        return make_double2(0, 0);
    if (rows.has_pair(aligned))
        return *reinterpret_cast<const double2 *>(c);
    return make_double2(rows.has(0) ? c[0] : 0, rows.has(1) ? c[1] : 0);
}

__device__ inline void write_pair(const output &out, double *c, double first, double second,
                                  const double2 &old, const span &rows, bool aligned)
{
    const double2 value = make_double2(out.scale(first, old.x), out.scale(second, old.y));
    if (rows.has_pair(aligned)) {
        *reinterpret_cast<double2 *>(c) = value;
        return;
    }
    if (rows.has(0))
        c[0] = value.x;
    if (rows.has(1))
        c[1] = value.y;
}

} // namespace fp64
