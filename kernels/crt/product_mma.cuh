/* dgemm_crt_sm80 and dgemm_crt_sm75: products of residues by mma.sync, a block for each tile and modulus.
 *
 *         32  32  32  32               block    8 warps, two by four: 64 x 32 elements of the tile each
 *       +---+---+---+---+              stage    64 steps of k of A and of B, 16 KiB; 3 stages, or 2 where copies are not
 *    64 | 0 | 2 | 4 | 6 |                       asynchronous: two blocks a multiprocessor
 *       +---+---+---+---+
 *    64 | 1 | 3 | 5 | 7 |
 *       +---+---+---+---+
 *
 * In memory and in shared memory 8 rows of 16 steps lie in one piece, as ldmatrix reads them.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/crt/copies.cuh"
#include "kernels/crt/instructions.cuh"
#include "kernels/crt/tiles.cuh"

namespace crt_mma
{

constexpr int tile_m = TB_CRT_TILE_M, tile_n = TB_CRT_MMA_TILE_N, threads = TB_CRT_CONSUMERS;
constexpr int copy_k = TB_CRT_MMA_COPY_K, stage_bytes = TB_CRT_MMA_STAGE_BYTES;
constexpr int bytes_a = tile_m * copy_k, bytes_b = tile_n * copy_k, row_bytes = 16;
constexpr int warp_m = 64, warp_n = 32, mma_m = 16, mma_n = 8, mma_k = 32;
constexpr int pieces_m = warp_m / mma_m, pieces_n = warp_n / mma_n, sums = 4 * pieces_m * pieces_n;
static_assert(sums == 16 * TB_CRT_VECTORS(tile_n) && pieces_n == 4, "a vector is a row of pieces");

/* m16 n8 k32. A thread's registers are those of four smaller products: of a the upper rows, the lower ones, and both of
 * the next 16 steps of k; of b the first steps and the next; of the sums two of an upper row and two of a lower one. */
__device__ inline void multiply_add(int32_t *sum, const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
    crt::multiply_add_k32(sum, a, b0, b1);
#else
    crt::multiply_add_k16(sum, a[0], b0);
    crt::multiply_add_k16(sum + 2, a[1], b0);
    crt::multiply_add_k16(sum, a[2], b1);
    crt::multiply_add_k16(sum + 2, a[3], b1);
#endif
}

/* A thread's share of a stage on its way. */
constexpr int round_bytes = threads * row_bytes, rounds_a = bytes_a / round_bytes,
              rounds_b = bytes_b / round_bytes;
struct stage_copy {
    copies::copy_16 a[rounds_a], b[rounds_b];
};

/* Residues of a tile's panels by a modulus, and the ring that they are copied to. */
template <int stages> struct copier {
    const uint8_t *a, *b;
    uint32_t shared;
    int stage; /* that is copied next */

    __device__ uint32_t target() const
    {
        return shared + stage * stage_bytes + threadIdx.x * row_bytes;
    }

    __device__ void begin(stage_copy &copy)
    {
#pragma unroll
        for (int i = 0; i < rounds_a; i++)
            copy.a[i].begin(target() + i * round_bytes, a + i * round_bytes + threadIdx.x * row_bytes);
#pragma unroll
        for (int i = 0; i < rounds_b; i++)
            copy.b[i].begin(target() + bytes_a + i * round_bytes,
                            b + i * round_bytes + threadIdx.x * row_bytes);
        a += bytes_a;
        b += bytes_b;
    }

    __device__ void end(const stage_copy &copy)
    {
#pragma unroll
        for (int i = 0; i < rounds_a; i++)
            copy.a[i].end(target() + i * round_bytes);
#pragma unroll
        for (int i = 0; i < rounds_b; i++)
            copy.b[i].end(target() + bytes_a + i * round_bytes);
    }

    __device__ void pass()
    {
        stage = stage + 1 == stages ? 0 : stage + 1;
        copies::commit(); /* an empty group, too: waits count them */
    }
};

/* A warp's products of a stage. */
__device__ inline void multiply_stage(int32_t (&sum)[sums], uint32_t stage, int warp, int lane)
{
    const uint32_t own_a =
        stage + (warp % 2 * warp_m + lane % 16) * row_bytes + lane / 16 * tile_m * row_bytes;
    const uint32_t own_b = stage + bytes_a + (warp / 2 * warp_n + lane / 16 * 8 + lane % 8) * row_bytes +
                           lane / 8 % 2 * tile_n * row_bytes;
#pragma unroll
    for (int k = 0; k < copy_k; k += mma_k) {
        uint32_t a[pieces_m][4], b[pieces_n / 2][4];
#pragma unroll
        for (int i = 0; i < pieces_m; i++)
            crt::load_matrices(a[i], own_a + k * tile_m + i * mma_m * row_bytes);
#pragma unroll
        for (int j = 0; j < pieces_n / 2; j++)
            crt::load_matrices(b[j], own_b + k * tile_n + j * 2 * mma_n * row_bytes);
#pragma unroll
        for (int i = 0; i < pieces_m; i++)
#pragma unroll
            for (int j = 0; j < pieces_n; j++)
                multiply_add(&sum[4 * (i * pieces_n + j)], a[i], b[j / 2][j % 2 * 2],
                             b[j / 2][j % 2 * 2 + 1]);
    }
}

/* What a block computes. It is asked for anew where it is wanted, since registers are short. */
struct work {
    int modulus, tile;
};
__device__ inline work work_of_block(const tb_crt_arguments &arguments)
{
    const int number = int(rematerialized::block());
    return {number / arguments.tiles, number % arguments.tiles};
}

/* What copies the panels' residues, from their first stage on. */
template <int stages>
__device__ inline copier<stages> copier_of(const tb_crt_arguments &arguments, int sets, int set, int copies,
                                           uint32_t shared)
{
    const work work = work_of_block(arguments);
    const tb_tile_place at = crt::pair_at(arguments, work.tile);
    const int64_t plane = work.modulus * sets + set;
    return {arguments.a.residues + plane * arguments.a.plane + int64_t(at.row) * copies * bytes_a,
            arguments.b.residues + plane * arguments.b.plane + int64_t(at.column) * copies * bytes_b, shared,
            0};
}

/* sets: of complex numbers, which are multiplied one after the other. */
template <int stages, int sets> __device__ inline void multiply(const tb_crt_arguments &arguments)
{
    if (work_of_block(arguments).modulus >= arguments.decision->moduli)
        return;
    const int copies = arguments.stages * (TB_CRT_STAGE_K / copy_k);
    const uint32_t shared = copies::dynamic_shared();
    crt::pairs<sums> pairs;
#pragma unroll 1
    for (int set = 0; set < sets; set++) {
        copier<stages> copier = copier_of<stages>(arguments, sets, set, copies, shared);
#pragma unroll
        for (int i = 0; i < stages - 1; i++) {
            stage_copy copy;
            if (i < copies) {
                copier.begin(copy);
                copier.end(copy);
            }
            copier.pass();
        }
        int32_t sum[sums] = {};
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        int stage = 0;
#pragma unroll 1
        for (int done = 0; done < copies; done++) {
            copies::wait<stages - 2>();
            __syncthreads(); /* and all are done with the stage that is copied next */
            const bool more = done + stages - 1 < copies;
            stage_copy copy;
            if (more)
                copier.begin(copy);
            if (sets > 1 && more) /* registers hold residues of other sets, too */
                copier.end(copy);
            multiply_stage(sum, shared + stage * stage_bytes, warp, lane);
            if (sets == 1 && more)
                copier.end(copy);
            copier.pass();
            stage = stage + 1 == stages ? 0 : stage + 1;
        }
        const work work = work_of_block(arguments);
        if (sets == 1)
            crt::store_residues(arguments, sum, work.modulus, work.tile, threadIdx.x);
        else
            pairs.take(arguments, sum, set, work.modulus, work.tile, threadIdx.x);
        __syncthreads(); /* before the ring is filled again */
    }
}

} // namespace crt_mma

/* All kernels of a row, with so many stages. */
#define TB_CRT_STAMP_MMA(name, stages)                                                                       \
    TB_CRT_STAMP(name, TB_CRT_MMA_TILE_N)                                                                    \
    TB_CRT_STAMP_ONE(name##_multiply, TB_CRT_CONSUMERS, TB_CRT_MMA_BLOCKS, (crt_mma::multiply<stages, 1>))   \
    TB_CRT_STAMP_ONE(name##_multiply_pairs, TB_CRT_CONSUMERS, TB_CRT_MMA_BLOCKS,                             \
                     (crt_mma::multiply<stages, TB_CRT_SETS>))
