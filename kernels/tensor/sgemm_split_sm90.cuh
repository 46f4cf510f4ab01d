/* sgemm_bf16x6_sm90 and its kin: FP32 products from Hopper's tensor cores, six products of operands split in three BF16 parts, or
 * nine; three of operands split in two FP16 parts, and three of FP8 with them; fewer where parts are empty.
 *
 *            tile_n                 block    3 warpgroups: one thread of the first starts the copies, the
 *         +-----------+                      others multiply 64 rows of the tile each
 *      64 | consumer 0|             cluster  2 blocks, one tile above the other: each fetches half of the
 *         +-----------+                      chunk of B and the copy engine hands it to both
 *      64 | consumer 1|             stage    a chunk of A and a chunk of B, 32 steps of k, all parts of each
 *         +-----------+             grid     persistent; clusters take tiles in an order that shares L2
 *
 *   tile 128 x 192: 60 KiB a stage, 3 stages, 96 + 96 accumulators a thread; split in two 40 KiB, 5 stages, with FP8 70 KiB, 3
 *   tile 128 x 128: 48 KiB a stage, 4 stages, 64 + 64;                       split in two 32 KiB, 7 stages, with FP8 56 KiB, 4
 *
 * The tensor cores add with few extra bits and truncate (docs/precision.md). Within a stage their sum starts
 * from zero and takes the products smallest first; then it is added to FP32 registers by the ordinary adder,
 * which rounds. Meanwhile the other consumer has the tensor cores. After 32 stages the registers are added to
 * what the tile has in device memory, and start from zero again: so errors of long sums of one sign grow with
 * the root of k / 1024, not of k / 32.
 */
#pragma once

#include "kernels/cluster.cuh"
#include "kernels/tensor/findings.cuh"
#include "kernels/tensor/plain.cuh"
#include "kernels/tensor/ptx.cuh"
#include "kernels/tensor/sums_sm90.cuh"
#include "kernels/tensor/wgmma.cuh"

namespace split_sm90
{

/* Walks the ring of stages; the parity is that of the round's phase. */
template <int stages> struct ring {
    uint32_t stage = 0, parity = 0;

    __device__ void advance()
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

template <class layout> __device__ inline uint32_t full_barrier(uint32_t shared, int stage)
{
    return shared + layout::barriers_offset + 8 * stage;
}
template <class layout> __device__ inline uint32_t empty_barrier(uint32_t shared, int stage)
{
    return full_barrier<layout>(shared, layout::stages + stage);
}

/* All products of parts, smallest first: of part a of A and part b of B. Those of which both
 * parts hold something, and whose order a + b is wanted, are computed: others change no bit. */
struct pair_of_parts {
    int a, b;
};
template <int parts> __device__ constexpr pair_of_parts pair_at(int product)
{
    constexpr pair_of_parts of_three[] = {{2, 2}, {2, 1}, {1, 2}, {2, 0}, {1, 1},
                                          {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    constexpr pair_of_parts of_two[] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}};
    return parts == 3 ? of_three[product] : of_two[product];
}

/* Bit by bit, the wanted ones. */
template <int parts> __device__ constexpr uint32_t list_products(int parts_a, int parts_b, int last_order)
{
    uint32_t list = 0;
#pragma unroll
    for (int i = 0; i < parts * parts; i++) {
        const pair_of_parts pair = pair_at<parts>(i);
        if (pair.a < parts_a && pair.b < parts_b && pair.a + pair.b <= last_order)
            list |= 1u << i;
    }
    return list;
}

/* Parts that hold anything in a chunk: the most of its pieces. */
template <int rows>
__device__ inline int used_parts(const uint8_t *used, uint32_t panel, uint32_t stages, uint32_t stage)
{
    constexpr int pieces = rows / TB_SPLIT_BLOCK_ROWS;
    int most = 0;
#pragma unroll
    for (int piece = 0; piece < pieces; piece++)
        most = max(most, int(used[(panel * pieces + piece) * stages + stage]));
    return most;
}

/* Parts of a tile's chunks that hold anything. */
template <class layout>
__device__ inline pair_of_parts used_parts(const tb_split_arguments &arguments, const tile &tile,
                                           uint32_t stage)
{
    const uint32_t stages = uint32_t(arguments.stages);
    return {used_parts<tile_m>(arguments.used_a, tile.panel_a, stages, stage),
            used_parts<layout::tile_n>(arguments.used_b, tile.panel_b, stages, stage)};
}

template <int bytes>
__device__ inline const char *chunk(const void *parts, uint32_t panel, uint32_t stages, uint32_t stage)
{
    return static_cast<const char *>(parts) + int64_t(panel * stages + stage) * bytes;
}

/* A cluster's place among the others. */
struct pace {
    bool waits = true;

    /* Called before so many stages of the tile with this index, of all works, are begun. */
    __device__ void keep(const tb_split_arguments &arguments, int index, uint32_t stage, int works)
    {
        const uint32_t clusters = gridDim.x / cluster_blocks, wave = uint32_t(index) / clusters;
        const uint32_t each = (uint32_t(arguments.stages) + TB_SPLIT_PACE_STAGES - 1) / TB_SPLIT_PACE_STAGES;
        const uint32_t now = wave * each + stage / TB_SPLIT_PACE_STAGES;
        if (now > 0 && waits) {
            const uint32_t wanted = min(clusters, uint32_t(works) - (now - 1) / each * clusters);
            volatile uint32_t *before = arguments.pace + now - 1;
            int looks = 0;
            while (*before < wanted && ++looks < TB_SPLIT_PACE_LOOKS)
                __nanosleep(200);
            waits = looks < TB_SPLIT_PACE_LOOKS;
        }
        atomicAdd(arguments.pace + now, 1);
    }
};

/* With `usual` all parts are copied, whatever they hold. Otherwise a chunk's first, as many as hold anything. */
template <class layout, bool usual>
__device__ __forceinline__ void produce(const tb_split_arguments &arguments, uint32_t shared, int works)
{
    ring<layout::stages> at;
    const uint32_t rank = uint32_t(cluster::rank()), stages = uint32_t(arguments.stages);
    const bool paced = arguments.pace_words > 0 && rank == 0;
    pace pace;
    for (int index = blockIdx.x / cluster_blocks; index < works; index += gridDim.x / cluster_blocks) {
        const work work = work_at(arguments, index);
        const tile tile = work.tile;
        const auto parts_of_stage = [&](uint32_t stage) {
            if (usual)
                return pair_of_parts{layout::parts, layout::parts};
            return used_parts<layout>(arguments, tile, stage);
        };
        pair_of_parts next =
            parts_of_stage(min(work.first, int(stages) - 1)); /* an empty share's is not used */
#pragma unroll 1
        for (uint32_t stage = work.first; stage < work.end; stage++) {
            const pair_of_parts parts = next;
            next = parts_of_stage(min(stage + 1, work.end - 1)); /* on its way while this waits */
            const uint32_t bytes_a = layout::format::row_bytes_of(parts.a) * tile_m;
            const uint32_t half_b = layout::format::row_bytes_of(parts.b) * layout::tile_n / cluster_blocks;
            const uint32_t target = shared + at.stage * layout::stage_bytes;
            const uint32_t full = full_barrier<layout>(shared, at.stage);
            if (paced && stage % TB_SPLIT_PACE_STAGES == 0)
                pace.keep(arguments, index, stage, works);
            ptx::mbarrier_wait(empty_barrier<layout>(shared, at.stage), at.parity ^ 1);
            ptx::mbarrier_arrive_expect_bytes(full, bytes_a + cluster_blocks * half_b);
            if (usual || bytes_a)
                ptx::copy_bulk(target, chunk<layout::bytes_a>(arguments.parts_a, tile.panel_a, stages, stage),
                               bytes_a, full);
            if (usual || half_b)
                ptx::copy_bulk_multicast(
                    target + layout::bytes_a + rank * half_b,
                    chunk<layout::bytes_b>(arguments.parts_b, tile.panel_b, stages, stage) + rank * half_b,
                    half_b, full, (1 << cluster_blocks) - 1);
            at.advance();
        }
    }
}

/* Products of a stage, in a sum that starts from zero. Which they are is known to the compiler: otherwise it would have
 * each wgmma wait for the one before. */
template <class layout, uint32_t known>
__device__ __forceinline__ void multiply_stage(float (&sum)[layout::tile_n / 2], uint32_t a, uint32_t b)
{
    using format = typename layout::format;
    constexpr int apart_a = tile_m * row_bytes, apart_b = layout::tile_n * row_bytes,
                  apart_rows = core_rows * row_bytes;
    const uint64_t descriptor_a = ptx::wgmma_descriptor(a, apart_a, apart_rows);
    const uint64_t descriptor_b = ptx::wgmma_descriptor(b, apart_b, apart_rows);
    ptx::wgmma_fence();
    bool other_shape = false;
#pragma unroll
    for (int product = 0; product < layout::parts * layout::parts; product++) {
        const uint32_t bit = 1u << product;
        if (!(known & bit))
            continue;
        const pair_of_parts pair = pair_at<layout::parts>(product);
        const bool keep = known & (bit - 1);
        /* Descriptors count in 16 bytes, as much as a row has in a core matrix. */
        if constexpr (format::has_bytes)
            if (pair.a + pair.b == format::last_order) {
                ptx::wgmma<layout::tile_n, __nv_fp8_e5m2>::multiply(
                    sum, descriptor_a + format::first_small_byte(pair.a) * tile_m / 16,
                    descriptor_b + format::first_small_byte(pair.b) * layout::tile_n / 16, keep);
                other_shape = true;
                continue;
            }
        if (other_shape) /* only products of one shape wait for each other's sums by themselves */
            ptx::wgmma_fence();
        other_shape = false;
#pragma unroll
        for (int k = 0; k < stage_k; k += wgmma_k) {
            const int core_a = format::first_byte(pair.a) / row_bytes + k / core_k,
                      core_b = format::first_byte(pair.b) / row_bytes + k / core_k;
            ptx::wgmma<layout::tile_n, typename format::element>::multiply(
                sum, descriptor_a + core_a * apart_a / 16, descriptor_b + core_b * apart_b / 16,
                keep || k > 0);
        }
    }
    ptx::wgmma_commit_group();
}

/* The usual products: those whose order is less than the number of parts. */
template <class layout>
__device__ __forceinline__ void multiply_usual(float (&sum)[layout::tile_n / 2], uint32_t a, uint32_t b)
{
    constexpr int parts = layout::parts;
    multiply_stage<layout, list_products<parts>(parts, parts, parts - 1)>(sum, a, b);
}

/* Those of chunks of which so many parts are in use, if they are the listed ones; else of chunks of fewer. */
template <class layout, int parts_a, int parts_b, int last_order>
__device__ __forceinline__ void multiply_parts(float (&sum)[layout::tile_n / 2], uint32_t a, uint32_t b,
                                               uint32_t list)
{
    constexpr int parts = layout::parts;
    constexpr uint32_t known = list_products<parts>(parts_a, parts_b, last_order);
    constexpr int most = layout::format::last_order;
    if (list == known || (parts_a == parts && parts_b == parts && last_order == most))
        multiply_stage<layout, known>(sum, a, b);
    else if constexpr (parts_a < parts)
        multiply_parts<layout, parts_a + 1, parts_b, last_order>(sum, a, b, list);
    else if constexpr (parts_b < parts)
        multiply_parts<layout, 1, parts_b + 1, last_order>(sum, a, b, list);
    else if constexpr (last_order < most)
        multiply_parts<layout, 1, 1, most>(sum, a, b, list);
}

/* Two named barriers pass the tensor cores from one consumer to the other. Barrier numbers are constants:
 * the compiler reserves all sixteen for one that it does not know. */
__device__ inline void wait_for_turn(int consumer)
{
    if (consumer == 0)
        ptx::named_barrier_synchronize<1>(consumers * warpgroup);
    else
        ptx::named_barrier_synchronize<2>(consumers * warpgroup);
}

__device__ inline void give_turn(int consumer)
{
    if (consumer == 0)
        ptx::named_barrier_arrive<1>(consumers * warpgroup);
    else
        ptx::named_barrier_arrive<2>(consumers * warpgroup);
}

/* A stage is free again. Every warp says so for itself, as its wait says nothing of the others; to each block that writes
 * there. */
__device__ inline void release(uint32_t empty)
{
    if (const uint32_t lane = ptx::lane(); lane < cluster_blocks)
        ptx::mbarrier_arrive_at(empty, lane);
}

/* A warp's list of products for a stage of the segment. Every warp makes its own, in shared memory, as the accumulators
 * leave no register for it. */
template <class layout> __device__ inline uint32_t list_at(uint32_t shared, int stage)
{
    return shared + layout::lists_offset +
           (rematerialized::thread() / 32 - warps) * (TB_SPLIT_SEGMENT_STAGES * uint32_t(sizeof(uint32_t))) +
           uint32_t(sizeof(uint32_t)) * stage;
}

/* Called before a segment: a lane lists the products of each stage. */
template <class layout>
__device__ inline void list_segment(const tb_split_arguments &arguments, uint32_t shared, const work &work,
                                    int done)
{
    const int stage = min(work.first + done + int(ptx::lane()), work.end - 1);
    const pair_of_parts parts = used_parts<layout>(arguments, work.tile, stage);
    __syncwarp();
    ptx::store_shared(list_at<layout>(shared, ptx::lane()),
                      list_products<layout::parts>(parts.a, parts.b, arguments.last_order));
    __syncwarp();
}
static_assert(TB_SPLIT_SEGMENT_STAGES == 32, "list_segment: a lane for every stage");

/* With `usual` the products are known to the compiler. */
template <class layout, bool usual>
__device__ __forceinline__ void consume(const tb_split_arguments &arguments, uint32_t shared, int works,
                                        int consumer)
{
    constexpr int count = layout::tile_n / 2;
    ring<layout::stages> at;
    if (consumer == 1)
        give_turn(0);
    for (int index = blockIdx.x / cluster_blocks; index < works; index += gridDim.x / cluster_blocks) {
        float total[count] = {};
        const segments<count> before = {arguments};
        const int stages = work_stages(arguments, index);
        for (int done = 0; done < stages; done++) {
            const int within = done % TB_SPLIT_SEGMENT_STAGES;
            if (within == 0 && done > 0)
                before.take(total, done == TB_SPLIT_SEGMENT_STAGES);
            if (within == 0 && !usual)
                list_segment<layout>(arguments, shared, work_again(arguments, index), done);
            const uint32_t a = shared + at.stage * layout::stage_bytes + consumer * wgmma_m * row_bytes;
            const uint32_t b = shared + at.stage * layout::stage_bytes + layout::bytes_a;
            ptx::mbarrier_wait(full_barrier<layout>(shared, at.stage), at.parity);
            /* The same in all threads, and the compiler knows it; otherwise it would have wgmma wait for wgmma. */
            const uint32_t list =
                usual ? ~0u : __shfl_sync(~0u, ptx::load_shared(list_at<layout>(shared, within)), 0);
            wait_for_turn(consumer);
            if (list) {
                float sum[count];
                if (usual)
                    multiply_usual<layout>(sum, a, b);
                else
                    multiply_parts<layout, 1, 1, layout::parts - 1>(sum, a, b, list);
                give_turn(1 - consumer);
                ptx::wgmma_wait_group<0>();
                pin(sum);
                release(empty_barrier<layout>(shared, at.stage));
#pragma unroll
                for (int i = 0; i < count; i++)
                    total[i] += sum[i];
            } else {
                give_turn(1 - consumer);
                release(empty_barrier<layout>(shared, at.stage));
            }
            at.advance();
        }
        if (stages > TB_SPLIT_SEGMENT_STAGES)
            before.add_to(total);
        const work work = work_again(arguments, index);
        const int thread = rematerialized::thread() - warpgroup;
        if (arguments.shares_of_k > 1)
            store_share<layout>(arguments, total, work, thread);
        else
            write_tile<layout>(arguments, total, work.tile, thread);
    }
    if (consumer == 0)
        wait_for_turn(0);
}

/* Whether all products of the lowest orders are wanted, and few pieces of the operands lack a part. */
template <class format> __device__ inline bool multiplies_all(const tb_split_arguments &arguments)
{
    constexpr int rows = TB_SPLIT_BLOCK_ROWS;
    const tb_sgemm &p = arguments.problem;
    const int64_t pieces = ((p.m + rows - 1) / rows + (p.n + rows - 1) / rows) * arguments.stages;
    const int64_t lacking = int64_t(arguments.findings->a.lacking[format::has_bytes]) +
                            split::range_of_b(arguments).lacking[format::has_bytes];
    return pieces == 0 ||
           (arguments.last_order == format::parts - 1 && lacking * TB_SPLIT_LACKING_SHARE <= pieces);
}

/* The operands are within the format's range. */
template <class layout> __device__ __forceinline__ void multiply_in_range(const tb_split_arguments &arguments)
{
    extern __shared__ __align__(128) char memory[];
    const uint32_t shared = ptx::shared_address(memory);
    const int works = arguments.tiles * arguments.shares_of_k;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < layout::stages; stage++) {
            ptx::mbarrier_init(full_barrier<layout>(shared, stage), 1);
            ptx::mbarrier_init(empty_barrier<layout>(shared, stage), consumers * warps * cluster_blocks);
        }
        ptx::fence_mbarrier_init();
    }
    cluster::meet_in_warps();

    /* The same in all threads of a warp, and the compiler knows it: descriptors stay in uniform registers. */
    const int group = __shfl_sync(0xffffffff, int(threadIdx.x) / warpgroup, 0);
    const bool usual = multiplies_all<typename layout::format>(arguments);
    if (group == 0) {
        ptx::lower_registers<producer_registers>();
        if (threadIdx.x == 0 && usual)
            produce<layout, true>(arguments, shared, works);
        else if (threadIdx.x == 0)
            produce<layout, false>(arguments, shared, works);
    } else {
        ptx::raise_registers<consumer_registers>();
        if (usual)
            consume<layout, true>(arguments, shared, works, group - 1);
        else
            consume<layout, false>(arguments, shared, works, group - 1);
    }
    /* A block's shared memory is written by its neighbour until both are done. */
    __syncwarp();
    cluster::meet_in_warps();
}

template <class layout> __device__ __forceinline__ void sgemm(const tb_split_arguments &arguments)
{
    static_assert(layout::barriers_offset >= split::plain_bytes && threads >= split::plain_shape::threads,
                  "room for FP32 multiply-adds");
    if (split::out_of_range(arguments, layout::format::scales))
        split::sgemm_plainly(arguments);
    else
        multiply_in_range<layout>(arguments);
}

} // namespace split_sm90

/* Kernels around body(arguments). */
#define TB_SPLIT_STAMP_ADD(symbol, ...)                                                                      \
    extern "C" __global__ void __launch_bounds__(TB_SPLIT_CONSUMERS)                                         \
        symbol(const __grid_constant__ tb_split_arguments arguments)                                         \
    {                                                                                                        \
        dependent_launch::launch_dependents_and_wait();                                                      \
        __VA_ARGS__(arguments);                                                                              \
    }

#define TB_SPLIT_STAMP(symbol, ...)                                                                          \
    extern "C" __global__ void __cluster_dims__(split_sm90::cluster_blocks, 1, 1)                            \
        __launch_bounds__(split_sm90::threads, 1)                                                            \
            symbol(const __grid_constant__ tb_split_arguments arguments)                                     \
    {                                                                                                        \
        dependent_launch::launch_dependents_and_wait();                                                      \
        __VA_ARGS__(arguments);                                                                              \
    }
