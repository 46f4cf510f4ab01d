/* dgemm_crt_sm90: products of residues on Hopper's tensor cores, all moduli in one launch.
 *
 *              256                   block    3 warpgroups: one thread of the first starts the copies, the
 *         +-----------+                       others multiply 64 rows of the tile each
 *      64 | consumer 0|              cluster  2 blocks, one tile above the other: each fetches half of the
 *         +-----------+                       residues of B and the copy engine hands them to both
 *      64 | consumer 1|              stage    128 steps of k of A and of B, 48 KiB, 4 stages
 *         +-----------+              grid     persistent; clusters take all tiles of a modulus, then of the next
 *
 * A sum of all of k fits an INT32. What is left of it by the modulus is stored as a byte, in the order in which
 * threads hold a tile: whoever joins the residues (join.cuh) holds it in the same way.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/cluster.cuh"
#include "kernels/crt/moduli.cuh"
#include "kernels/crt/tiles.cuh"
#include "kernels/crt/wgmma_s8.cuh"
#include "kernels/tensor/ptx.cuh"
#include "kernels/tensor/wgmma.cuh"

namespace crt_sm90
{

constexpr int tile_m = TB_CRT_TILE_M, tile_n = TB_CRT_SM90_TILE_N, stage_k = TB_CRT_STAGE_K,
              stages = TB_CRT_SM90_STAGES;
constexpr int consumers = 2, warpgroup = 128, warps = 4, threads = TB_CRT_SM90_THREADS;
constexpr int cluster_blocks = TB_CRT_SM90_CLUSTER;
constexpr int wgmma_m = 64, wgmma_k = 32, core_k = 16, core_rows = 8, row_bytes = 16;
constexpr int producer_registers = 40, consumer_registers = 232;
constexpr int bytes_a = tile_m * stage_k, bytes_b = tile_n * stage_k, stage_bytes = bytes_a + bytes_b;
constexpr int barriers_offset = stages * stage_bytes; /* full[stages], empty[stages] */
constexpr int sums = 16 * TB_CRT_VECTORS(tile_n);
static_assert(threads == (1 + consumers) * warpgroup && TB_CRT_CONSUMERS == consumers * warpgroup &&
                  tile_m == consumers * wgmma_m && stage_bytes == TB_CRT_SM90_STAGE_BYTES,
              "the block's roles");

struct ring {
    uint32_t stage = 0, parity = 0;

    __device__ void advance()
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

__device__ inline uint32_t full_barrier(uint32_t shared, int stage)
{
    return shared + barriers_offset + 8 * stage;
}
__device__ inline uint32_t empty_barrier(uint32_t shared, int stage)
{
    return full_barrier(shared, stages + stage);
}

/* A tile of C, by a modulus; numbers count pairs of tiles. */
struct work {
    int modulus, number, panel_a, panel_b;
};

__device__ inline work work_at(const tb_crt_arguments &arguments, int index)
{
    work work;
    work.modulus = index / arguments.tiles;
    work.number = index - work.modulus * arguments.tiles;
    const tb_tile_place at = crt::pair_at(arguments, work.number);
    work.panel_a = at.row;
    work.panel_b = at.column;
    return work;
}

template <int sets>
__device__ __forceinline__ void produce(const tb_crt_arguments &arguments, uint32_t shared, int works)
{
    ring at;
    const uint32_t rank = uint32_t(cluster::rank());
    for (int index = blockIdx.x / cluster_blocks * sets; index < works * sets;
         index += index % sets + 1 < sets ? 1 : gridDim.x / cluster_blocks * sets - (sets - 1)) {
        const work work = work_at(arguments, index / sets);
        const int64_t plane = work.modulus * sets + index % sets;
        constexpr int half_b = bytes_b / cluster_blocks;
        /* A panel has the rows of both tiles. */
        constexpr int steps_a = tile_m * row_bytes, panel_a = cluster_blocks * bytes_a;
        const uint8_t *a = arguments.a.residues + plane * arguments.a.plane +
                           int64_t(work.panel_a) * arguments.stages * panel_a + rank * steps_a;
        const uint8_t *b = arguments.b.residues + plane * arguments.b.plane +
                           int64_t(work.panel_b) * arguments.stages * bytes_b + rank * half_b;
#pragma unroll 1
        for (int stage = 0; stage < arguments.stages; stage++) {
            const uint32_t target = shared + at.stage * stage_bytes, full = full_barrier(shared, at.stage);
            ptx::mbarrier_wait(empty_barrier(shared, at.stage), at.parity ^ 1);
            ptx::mbarrier_arrive_expect_bytes(full, stage_bytes);
#pragma unroll
            for (int step = 0; step < stage_k / core_k; step++)
                ptx::copy_bulk(target + step * steps_a, a + step * cluster_blocks * steps_a, steps_a, full);
            ptx::copy_bulk_multicast(target + bytes_a + rank * half_b, b, half_b, full,
                                     (1 << cluster_blocks) - 1);
            a += panel_a;
            b += bytes_b;
            at.advance();
        }
    }
}

/* A stage is free again, says every warp for itself to each block that writes there. */
__device__ inline void release(uint32_t empty)
{
    if (const uint32_t lane = ptx::lane(); lane < cluster_blocks)
        ptx::mbarrier_arrive_at(empty, lane);
}

/* The compiler must not move what reads sums before the wait for them. */
__device__ inline void pin(int32_t (&sum)[sums])
{
#pragma unroll
    for (int i = 0; i < sums; i++)
        asm volatile("" : "+r"(sum[i])::"memory");
}

__device__ __forceinline__ void multiply_stage(int32_t (&sum)[sums], uint32_t a, uint32_t b, bool keep)
{
    constexpr int apart_a = tile_m * row_bytes, apart_b = tile_n * row_bytes,
                  apart_rows = core_rows * row_bytes;
    const uint64_t descriptor_a = ptx::wgmma_descriptor(a, apart_a, apart_rows),
                   descriptor_b = ptx::wgmma_descriptor(b, apart_b, apart_rows);
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < stage_k; k += wgmma_k)
        ptx::wgmma_s8_n256(sum, descriptor_a + k / core_k * apart_a / 16,
                           descriptor_b + k / core_k * apart_b / 16, keep || k > 0);
    ptx::wgmma_commit_group();
}

/* The sums of a tile. */
__device__ __forceinline__ void multiply_tile(int32_t (&sum)[sums], const tb_crt_arguments &arguments,
                                              ring &at, uint32_t shared, int consumer)
{
    uint32_t before = 0;
#pragma unroll 1
    for (int stage = 0; stage < arguments.stages; stage++) {
        const uint32_t a = shared + at.stage * stage_bytes + consumer * wgmma_m * row_bytes,
                       b = shared + at.stage * stage_bytes + bytes_a;
        ptx::mbarrier_wait(full_barrier(shared, at.stage), at.parity);
        multiply_stage(sum, a, b, stage > 0);
        ptx::wgmma_wait_group<1>();
        if (stage > 0)
            release(before);
        before = empty_barrier(shared, at.stage);
        at.advance();
    }
    ptx::wgmma_wait_group<0>();
    pin(sum);
    release(before);
}

template <int sets>
__device__ __forceinline__ void consume(const tb_crt_arguments &arguments, uint32_t shared, int works,
                                        int consumer)
{
    ring at;
    for (int index = blockIdx.x / cluster_blocks; index < works; index += gridDim.x / cluster_blocks) {
        int32_t sum[sums];
        crt::pairs<sums> pairs;
#pragma unroll 1
        for (int set = 0; set < sets; set++) {
            multiply_tile(sum, arguments, at, shared, consumer);
            asm volatile("" : "+r"(index));
            const work work = work_at(arguments, index);
            const int tile = work.number * cluster_blocks + cluster::rank(),
                      thread = rematerialized::thread() - warpgroup;
            if (sets == 1)
                crt::store_residues(arguments, sum, work.modulus, tile, thread);
            else
                pairs.take(arguments, sum, set, work.modulus, tile, thread);
        }
    }
}

/* sets: of complex numbers, which are multiplied one after the other. */
template <int sets> __device__ __forceinline__ void multiply(const tb_crt_arguments &arguments)
{
    extern __shared__ __align__(128) char memory[];
    const uint32_t shared = ptx::shared_address(memory);
    const int works = arguments.tiles * arguments.decision->moduli;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; stage++) {
            ptx::mbarrier_init(full_barrier(shared, stage), 1);
            ptx::mbarrier_init(empty_barrier(shared, stage), consumers * warps * cluster_blocks);
        }
        ptx::fence_mbarrier_init();
    }
    cluster::meet_in_warps();
    /* The same in all threads of a warp, and the compiler knows it: descriptors stay in uniform registers. */
    const int role = __shfl_sync(0xffffffff, int(threadIdx.x) / warpgroup, 0);
    if (role == 0) {
        ptx::lower_registers<producer_registers>();
        if (threadIdx.x == 0)
            produce<sets>(arguments, shared, works);
    } else {
        ptx::raise_registers<consumer_registers>();
        consume<sets>(arguments, shared, works, role - 1);
    }
    /* A block's shared memory is written by its neighbour until both are done. */
    __syncwarp();
    cluster::meet_in_warps();
}

} // namespace crt_sm90
