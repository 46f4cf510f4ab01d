/* sgemm_bf16x6_sm80: FP32 products from the BF16 tensor cores of sm_80, six products of split operands, and fewer where
 * parts are empty.
 *
 *              128                  block    8 warps; each multiplies 64 x 32 of the tile, as 4 x 4 products of
 *         +--+--+--+--+                      16 x 8 by mma.sync, 64 sums and 64 totals a thread
 *      64 |w0|w1|w2|w3|             stage    a chunk of A and a chunk of B, 32 steps of k, three parts each: 48 KiB;
 *         +--+--+--+--+                      a ring of 3, filled by cp.async
 *      64 |w4|w5|w6|w7|             grid     persistent, a block on each multiprocessor; blocks take tiles in an
 *         +--+--+--+--+                      order that shares L2
 *
 * The tensor cores truncate what they add (docs/precision.md). Within a stage their sum starts from zero and takes the
 * products smallest first; then it is added to FP32 registers by the ordinary adder, which rounds. After 32 stages the
 * registers are added to what the tile has in device memory, and start from zero again.
 *
 * The barrier of a stage stands before its last step, whose operands are in registers by then: so that the copy into
 * its place in the ring can start at once, and the next stage's first operands arrive during the last step.
 */
#pragma once

#include "kernels/gemm.cuh"
#include "kernels/simt/copy_async.cuh"
#include "kernels/tensor/findings.cuh"
#include "kernels/tensor/mma.cuh"
#include "kernels/tensor/plain.cuh"
#include "kernels/tensor/split.cuh"
#include "kernels/tensor/split_sm80.h"

namespace split_sm80
{

constexpr int tile_side = TB_SPLIT_SM80_TILE, threads = TB_SPLIT_SM80_THREADS, parts = split::bf16x3::parts;
constexpr int ring_stages = TB_SPLIT_SM80_RING_STAGES;
/* A stage is A's chunk, then B's. */
constexpr int chunk_bytes = TB_SPLIT_SM80_CHUNK_BYTES, stage_bytes = 2 * chunk_bytes;
constexpr int warp_m = 64, warp_n = 32, warps_n = tile_side / warp_n;
constexpr int mma_m = 16, mma_n = 8, mma_k = 16, pieces_m = warp_m / mma_m, pieces_n = warp_n / mma_n;
/* Within a chunk: rows of core matrices, and what lies between neighbours along k and between parts. */
constexpr int core_k = 8, row_bytes = 16, apart_k = tile_side * row_bytes;
constexpr int part_bytes = TB_SPLIT_STAGE_K / core_k * apart_k;
static_assert(threads / 32 == tile_side / warp_m * warps_n, "warps cover the tile");
static_assert(part_bytes * parts == chunk_bytes && part_bytes % (threads * 16) == 0,
              "threads share copies evenly");

struct tile {
    int panel_a, panel_b;
};

/* Blocks go down a group of columns of C: about as many panels of A as of B are in flight, 12 x 9 on the 108
 * multiprocessors of an A100, whose chunks of the same k meet in L2. With a mask as mask.h says. */
template <int group = TB_SPLIT_SM80_GROUP>
__device__ inline tile tile_at(const tb_split_arguments &arguments, int index)
{
    if (arguments.masked.mask != TB_FULL) {
        const tb_tile_place at = tb_mask_locate(&arguments.masked, index);
        return {at.row, at.column};
    }
    const int panels = arguments.panels_b;
    const int first = index / (group * panels) * group, height = min(group, arguments.panels_a - first);
    const int within = index - first * panels;
    return {first + within % height, within / height};
}

/* A thread's share of the copies of a tile; they walk along k ahead of the multiplication. */
template <bool all_six> struct copies {
    char *const target; /* in the ring's first stage */
    const int parts_a, parts_b;
    const char *a, *b;
    int left;

    __device__ copies(const tb_split_arguments &arguments, char *ring)
        : target(ring + threadIdx.x * 16), parts_a(split::parts_of(arguments.findings->a)),
          parts_b(split::parts_of(arguments.findings->b))
    {
    }

    /* Copies the parts of one operand that are in use. */
    __device__ static void start_chunk(char *to, const char *from, int in_use)
    {
#pragma unroll
        for (int offset = 0; offset < chunk_bytes; offset += threads * 16)
            if (all_six || offset / part_bytes < in_use)
                simt::copy_async(unsigned(__cvta_generic_to_shared(to + offset)), from + offset);
    }

    /* The next stage, or no copies where there is none left: a group either way. */
    __device__ void start(int offset)
    {
        if (left > 0) {
            start_chunk(target + offset, a, parts_a);
            start_chunk(target + offset + chunk_bytes, b, parts_b);
            a += chunk_bytes;
            b += chunk_bytes;
            left--;
        }
        simt::commit_copies();
    }

    __device__ void fill_ring(const tb_split_arguments &arguments, tile tile)
    {
        const int64_t panel_bytes = arguments.stages * chunk_bytes, own = threadIdx.x * 16;
        a = static_cast<const char *>(arguments.parts_a) + tile.panel_a * panel_bytes + own;
        b = static_cast<const char *>(arguments.parts_b) + tile.panel_b * panel_bytes + own;
        left = int(arguments.stages);
        for (int stage = 0; stage < ring_stages; stage++)
            start(stage * stage_bytes);
    }
};

/* A step multiplies one part of A by one part of B along 16 of k. Smallest products first; of equal ones, those whose
 * operands are in registers already. */
struct step {
    int part_a, part_b, k;
};
constexpr int steps = 12;
__device__ constexpr step stage_steps[steps] = {{2, 0, 0},  {1, 1, 0},  {0, 2, 0},  {2, 0, 16},
                                                {1, 1, 16}, {0, 2, 16}, {1, 0, 16}, {0, 1, 16},
                                                {1, 0, 0},  {0, 1, 0},  {0, 0, 0},  {0, 0, 16}};

/* What a warp needs of a part, 16 of k: core matrices as mma.sync wants them, of B for two pieces at a time. */
struct operand_a {
    uint32_t pieces[pieces_m][4];
};
struct operand_b {
    uint32_t pairs[pieces_n / 2][4];
};

/* Where the thread's row of the first core matrices lies: the third and fourth of A are the next along k, of B the
 * second and fourth. */
__device__ inline uint32_t first_row_a(int warp, int lane)
{
    return (warp / warps_n * warp_m + lane % 16) * row_bytes + lane / 16 * apart_k;
}
__device__ inline uint32_t first_row_b(int warp, int lane)
{
    return chunk_bytes + (warp % warps_n * warp_n + lane / 16 * 8 + lane % 8) * row_bytes +
           lane / 8 % 2 * apart_k;
}

__device__ inline void load(operand_a &operand, uint32_t row, int part, int k)
{
#pragma unroll
    for (int i = 0; i < pieces_m; i++)
        ptx::load_matrices(operand.pieces[i],
                           row + part * part_bytes + k / core_k * apart_k + i * mma_m * row_bytes);
}
__device__ inline void load(operand_b &operand, uint32_t row, int part, int k)
{
#pragma unroll
    for (int i = 0; i < pieces_n / 2; i++)
        ptx::load_matrices(operand.pairs[i],
                           row + part * part_bytes + k / core_k * apart_k + i * 2 * mma_n * row_bytes);
}

using accumulators = float[pieces_m][pieces_n][4];

__device__ inline void multiply(accumulators &sum, const operand_a &a, const operand_b &b)
{
#pragma unroll
    for (int i = 0; i < pieces_m; i++)
#pragma unroll
        for (int j = 0; j < pieces_n; j++)
            ptx::multiply_matrices(sum[i][j], a.pieces[i], b.pairs[j / 2][j % 2 * 2],
                                   b.pairs[j / 2][j % 2 * 2 + 1]);
}

template <class function> __device__ inline void for_each(accumulators &sums, function body)
{
#pragma unroll
    for (int i = 0; i < pieces_m; i++)
#pragma unroll
        for (int j = 0; j < pieces_n; j++)
            body(sums[i][j], i * pieces_n + j);
}

__device__ inline void clear(accumulators &sums)
{
    for_each(sums, [](float(&piece)[4], int) { piece[0] = piece[1] = piece[2] = piece[3] = 0; });
}

__device__ inline void add(float (&piece)[4], const float (&addend)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        piece[i] += addend[i];
}

/* The operands of a stage by part, and which 16 of k they hold. Where all six products are computed the compiler knows
 * that at every step, and loads nothing twice in a row. */
template <bool all_six> struct operands {
    operand_a a[parts];
    operand_b b[parts];
    int k_of_a[parts], k_of_b[parts];

    __device__ void forget()
    {
#pragma unroll
        for (int part = 0; part < parts; part++)
            k_of_a[part] = k_of_b[part] = -1;
    }

    __device__ void provide(const step &step, uint32_t row_a, uint32_t row_b)
    {
        if (!all_six || k_of_a[step.part_a] != step.k)
            load(a[step.part_a], row_a, step.part_a, step.k);
        if (!all_six || k_of_b[step.part_b] != step.k)
            load(b[step.part_b], row_b, step.part_b, step.k);
        k_of_a[step.part_a] = k_of_b[step.part_b] = step.k;
    }
};

/* All steps of a stage but the last. */
template <bool all_six>
__device__ inline void multiply_stage(accumulators &sum, operands<all_six> &held, uint32_t row_a,
                                      uint32_t row_b, const copies<all_six> &in_use)
{
    clear(sum);
#pragma unroll
    for (int i = 0; i < steps - 1; i++) {
        const step step = stage_steps[i];
        if (!all_six && (step.part_a >= in_use.parts_a || step.part_b >= in_use.parts_b))
            continue;
        held.provide(step, row_a, row_b);
        multiply(sum, held.a[step.part_a], held.b[step.part_b]);
    }
}

/* The segments' sum so far, in device memory: 16 bytes a thread and piece, read and written by it alone. */
struct segments {
    float4 *const pieces;
    bool any = false;

    __device__ segments(const tb_split_arguments &arguments)
        : pieces(reinterpret_cast<float4 *>(arguments.segments) +
                 int64_t(blockIdx.x) * (pieces_m * pieces_n * threads) + threadIdx.x)
    {
    }

    __device__ void add_to(accumulators &total) const
    {
        for_each(total, [this](float(&piece)[4], int index) {
            const float4 before = __ldcg(pieces + index * threads);
            add(piece, {before.x, before.y, before.z, before.w});
        });
    }

    /* Takes the total over and leaves zero. */
    __device__ void take(accumulators &total)
    {
        if (any)
            add_to(total);
        any = true;
        for_each(total, [this](float(&piece)[4], int index) {
            __stcg(pieces + index * threads, make_float4(piece[0], piece[1], piece[2], piece[3]));
        });
        clear(total);
    }
};

/* The tile whose first stages are being copied. */
template <bool all_six>
__device__ inline void sum_tile(const tb_split_arguments &arguments, uint32_t ring, copies<all_six> &copies,
                                accumulators &total)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t first_a = ring + first_row_a(warp, lane), first_b = ring + first_row_b(warp, lane);
    accumulators sum;
    operands<all_six> held;
    segments before(arguments);
    uint32_t offset = 0; /* of the stage in the ring */

    simt::wait_for_copies<ring_stages - 1>();
    __syncthreads();
    held.forget();
    if (all_six)
        held.provide(stage_steps[0], first_a, first_b);
    int left = TB_SPLIT_SEGMENT_STAGES;
    for (int stages = int(arguments.stages); stages > 0; stages--) {
        multiply_stage(sum, held, first_a + offset, first_b + offset, copies);
        const step last = stage_steps[steps - 1];
        held.provide(last, first_a + offset, first_b + offset);
        const operand_a last_a = held.a[last.part_a];
        const operand_b last_b = held.b[last.part_b];

        simt::wait_for_copies<ring_stages - 2>();
        __syncthreads(); /* the next stage is there for all, and all have read this one */
        copies.start(offset);
        offset = offset == (ring_stages - 1) * stage_bytes ? 0 : offset + stage_bytes;
        held.forget();
        if (all_six) /* after the last stage nobody asks what this reads */
            held.provide(stage_steps[0], first_a + offset, first_b + offset);
        multiply(sum, last_a, last_b);

        for_each(total, [&sum](float(&piece)[4], int index) {
            add(piece, sum[index / pieces_n][index % pieces_n]);
        });
        if (--left == 0 && stages > 1) {
            before.take(total);
            left = TB_SPLIT_SEGMENT_STAGES;
        }
    }
    if (before.any)
        before.add_to(total);
}

/* A thread has 8 rows, 8 apart, of two columns in each piece. Their old elements are read before any of them is
 * written, not in a chain. */
__device__ inline void write_tile(const tb_sgemm &problem, const accumulators &total, tile tile)
{
    constexpr int rows = warp_m / 8;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t row = int64_t(tile.panel_a) * tile_side + warp / warps_n * warp_m + lane / 4;
    const int64_t column = int64_t(tile.panel_b) * tile_side + warp % warps_n * warp_n + lane % 4 * 2;
    const int rows_left = int(min(problem.m - row, int64_t(warp_m)));
    const int columns_left = int(min(problem.n - column, int64_t(warp_n)));
    const tb_tile_mask mask =
        tb_mask_of_tile(problem.mask, problem.mask_step, problem.diagonal, row, column, warp_m, warp_n);
    const auto has = [&](int below, int right) {
        return right < columns_left && below < rows_left && below >= mask.first + mask.step * right &&
               below < mask.end + mask.step * right;
    };
    float *c = problem.c + row + column * problem.ldc;
    float old[2][rows] = {};
#pragma unroll
    for (int j = 0; j < pieces_n; j++) {
        if (problem.beta != 0)
#pragma unroll
            for (int i = 0; i < 2 * rows; i++)
                if (has(i % rows * 8, j * mma_n + i / rows))
                    old[i / rows][i % rows] = c[i / rows * problem.ldc + i % rows * 8];
#pragma unroll
        for (int i = 0; i < 2 * rows; i++)
            if (has(i % rows * 8, j * mma_n + i / rows))
                c[i / rows * problem.ldc + i % rows * 8] = tb::combine(
                    problem, total[i % rows / 2][j][i % 2 * 2 + i / rows], &old[i / rows][i % rows]);
        c += mma_n * problem.ldc;
    }
}

template <bool all_six>
__device__ inline void multiply_tiles(const tb_split_arguments &arguments, char *memory)
{
    const uint32_t ring = uint32_t(__cvta_generic_to_shared(memory));
    const int tiles = arguments.tiles;
    copies<all_six> copies(arguments, memory);
    copies.fill_ring(arguments, tile_at(arguments, blockIdx.x));
    for (int index = blockIdx.x; index < tiles; index += gridDim.x) {
        accumulators total = {};
        sum_tile<all_six>(arguments, ring, copies, total);
        __syncthreads(); /* nobody reads the ring any more: the next tile arrives while this one is written */
        if (index + int(gridDim.x) < tiles)
            copies.fill_ring(arguments, tile_at(arguments, index + gridDim.x));
        write_tile(arguments.problem, total, tile_at(arguments, index));
    }
}

__device__ inline void sgemm(const tb_split_arguments &arguments)
{
    extern __shared__ __align__(128) char memory[];
    static_assert(ring_stages * stage_bytes >= split::plain_bytes && threads >= split::plain_shape::threads,
                  "room for FP32 multiply-adds");
    if (split::out_of_range(arguments, false)) {
        split::sgemm_plainly(arguments);
        return;
    }
    if (split::parts_of(arguments.findings->a) == parts && split::parts_of(arguments.findings->b) == parts)
        multiply_tiles<true>(arguments, memory);
    else
        multiply_tiles<false>(arguments, memory);
}

} // namespace split_sm80
