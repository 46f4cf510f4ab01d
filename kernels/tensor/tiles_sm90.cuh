/* The shapes that the kernels of sgemm_split_sm90.cuh share: a block's roles, its shared memory, the tile of C that it
 * computes and the share of k that it sums up at a time.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/cluster.cuh"
#include "kernels/tensor/ptx.cuh"
#include "kernels/tensor/split.h"

namespace split_sm90
{

constexpr int tile_m = TB_SPLIT_TILE_M, consumers = 2, warpgroup = 128, warps = 4, threads = TB_SPLIT_THREADS;
constexpr int cluster_blocks = TB_SPLIT_CLUSTER_BLOCKS;
constexpr int stage_k = TB_SPLIT_STAGE_K, wgmma_m = 64, wgmma_k = 16;
/* A core matrix of wgmma's operands: 8 rows of 8 numbers of 2 bytes. */
constexpr int core_k = 8, core_rows = 8, row_bytes = 16;
/* Registers, of the 65536, in multiples of 8: what the consumers can have when the producer keeps 40. */
constexpr int producer_registers = 40, consumer_registers = 232;
static_assert(threads == (1 + consumers) * warpgroup && TB_SPLIT_CONSUMERS == consumers * warpgroup &&
                  tile_m == consumers * wgmma_m,
              "the block's roles");

template <int n, class split_format> struct layout {
    using format = split_format;
    static constexpr int tile_n = n, parts = format::parts;
    static constexpr int bytes_a = format::row_bytes * tile_m, bytes_b = format::row_bytes * tile_n;
    static constexpr int stage_bytes = bytes_a + bytes_b;
    static constexpr int stages = TB_SPLIT_RING_STAGES(format::row_bytes, tile_n);
    static constexpr int barriers_offset = stages * stage_bytes;          /* full[stages], empty[stages] */
    static constexpr int lists_offset = barriers_offset + 2 * 8 * stages; /* [warp][stage], consumers' */
};

/* Quadruples of a thread's sums that are written at a time. */
constexpr int write_batch = TB_SPLIT_WRITE_QUADRUPLES;

struct tile {
    int panel_a, panel_b;
};

/* Clusters go down a group of columns of C: 8 pairs of panels of A by 8 of B are in flight, whose chunks of
 * the same k meet in L2; with a mask as mask.h says, where there are zeros as zeros.h does. The tile of a block of the
 * cluster. */
template <int group = TB_SPLIT_GROUP>
__device__ inline tile tile_at(const tb_split_arguments &arguments, int index, int rank)
{
    if (arguments.masked.mask != TB_FULL) {
        const tb_tile_place at = tb_mask_locate(&arguments.masked, index);
        return {at.row * cluster_blocks + rank, at.column};
    }
    const int pairs = arguments.panels_a / cluster_blocks, panels = arguments.panels_b;
    if (arguments.order.zeros) {
        const tb_tile_place at = tb_locate_tile(&arguments.order, index);
        return {at.row * cluster_blocks + rank, at.column};
    }
    const int first = index / (group * panels) * group, height = min(group, pairs - first);
    const int within = index - first * panels;
    return {(first + within % height) * cluster_blocks + rank, within / height};
}

/* A tile's share of the stages. All tiles of a share come before the next share's. */
struct work {
    struct tile tile;
    int index, first, end;
};

__device__ inline work work_with_zeros(const tb_split_arguments &arguments, int index)
{
    const tb_split_work work = tb_split_work_with_zeros(&arguments, int(gridDim.x) / cluster_blocks, index);
    return {{work.place.row * cluster_blocks + cluster::rank(), work.place.column},
            work.share * arguments.tiles + work.number,
            work.first,
            work.end};
}

__device__ inline work work_at(const tb_split_arguments &arguments, int index)
{
    if (arguments.order.zeros)
        return work_with_zeros(arguments, index);
    const int share = index / arguments.tiles;
    const int64_t first = share * arguments.share_stages;
    return {tile_at(arguments, index - share * arguments.tiles, cluster::rank()), index, int(first),
            int(min(first + arguments.share_stages, arguments.stages))};
}

__device__ inline int work_stages(const tb_split_arguments &arguments, int index)
{
    const work work = work_at(arguments, index);
    return work.end - work.first;
}

/* Found anew where it is wanted, like the thread's number: the accumulators leave no registers to remember them. */
__device__ inline work work_again(const tb_split_arguments &arguments, int index)
{
    asm volatile("" : "+r"(index));
    return work_at(arguments, index);
}

} // namespace split_sm90
