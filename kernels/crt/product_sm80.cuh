/* dgemm_crt_sm80: products of residues by mma.sync, a block for each tile and modulus.
 *
 *         32  32  32  32               block    8 warps, two by four: 64 x 32 elements of the tile each
 *       +---+---+---+---+              stage    64 steps of k of A and of B, 16 KiB, 3 stages: two blocks a multiprocessor
 *    64 | 0 | 2 | 4 | 6 |
 *       +---+---+---+---+
 *    64 | 1 | 3 | 5 | 7 |
 *       +---+---+---+---+
 *
 * In memory and in shared memory 8 rows of 16 steps lie in one piece, as ldmatrix reads them.
 */
#pragma once

#include "kernels/crt/copies.cuh"
#include "kernels/crt/tiles.cuh"

namespace crt_sm80
{

constexpr int tile_m = TB_CRT_TILE_M, tile_n = TB_CRT_SM80_TILE_N, threads = TB_CRT_CONSUMERS;
constexpr int copy_k = TB_CRT_SM80_COPY_K, stages = TB_CRT_SM80_STAGES, stage_bytes = TB_CRT_SM80_STAGE_BYTES;
constexpr int bytes_a = tile_m * copy_k, bytes_b = tile_n * copy_k, row_bytes = 16;
constexpr int warp_m = 64, warp_n = 32, mma_m = 16, mma_n = 8, mma_k = 32;
constexpr int pieces_m = warp_m / mma_m, pieces_n = warp_n / mma_n, sums = 4 * pieces_m * pieces_n;
static_assert(sums == 16 * TB_CRT_VECTORS(tile_n) && pieces_n == 4, "a vector is a row of pieces");

__device__ inline void load_matrices(uint32_t (&to)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

__device__ inline void multiply_add(int32_t *sum, const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Residues of a tile's panels by a modulus, and the ring that they are copied to. */
struct copier {
    const uint8_t *a, *b;
    uint32_t shared;
    int left; /* to be begun */
    int stage;

    __device__ void begin_stage()
    {
        if (left > 0) {
            const uint32_t target = shared + stage * stage_bytes;
#pragma unroll
            for (int at = 0; at < bytes_a; at += threads * row_bytes)
                copies::take_16(target + at + threadIdx.x * row_bytes, a + at + threadIdx.x * row_bytes);
#pragma unroll
            for (int at = 0; at < bytes_b; at += threads * row_bytes)
                copies::take_16(target + bytes_a + at + threadIdx.x * row_bytes,
                                b + at + threadIdx.x * row_bytes);
            a += bytes_a;
            b += bytes_b;
            left--;
        }
        stage = stage + 1 == stages ? 0 : stage + 1;
        copies::commit(); /* an empty one, too: waits count them */
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
            load_matrices(a[i], own_a + k * tile_m + i * mma_m * row_bytes);
#pragma unroll
        for (int j = 0; j < pieces_n / 2; j++)
            load_matrices(b[j], own_b + k * tile_n + j * 2 * mma_n * row_bytes);
#pragma unroll
        for (int i = 0; i < pieces_m; i++)
#pragma unroll
            for (int j = 0; j < pieces_n; j++)
                multiply_add(&sum[4 * (i * pieces_n + j)], a[i], b[j / 2][j % 2 * 2],
                             b[j / 2][j % 2 * 2 + 1]);
    }
}

/* sets: of complex numbers, which are multiplied one after the other. */
template <int sets> __device__ inline void multiply(const tb_crt_arguments &arguments)
{
    extern __shared__ __align__(128) char memory[];
    const int modulus = int(blockIdx.x) / arguments.tiles, tile = int(blockIdx.x) % arguments.tiles;
    if (modulus >= arguments.decision->moduli)
        return;
    const tb_tile_place at = crt::pair_at(arguments, tile);
    const int copies = arguments.stages * (TB_CRT_STAGE_K / copy_k);
    const uint32_t shared = uint32_t(__cvta_generic_to_shared(memory));
    crt::pairs<sums> pairs;
#pragma unroll 1
    for (int set = 0; set < sets; set++) {
        const int64_t plane = modulus * sets + set;
        copier copier = {
            arguments.a.residues + plane * arguments.a.plane + int64_t(at.row) * copies * bytes_a,
            arguments.b.residues + plane * arguments.b.plane + int64_t(at.column) * copies * bytes_b, shared,
            copies, 0};
#pragma unroll
        for (int i = 0; i < stages - 1; i++)
            copier.begin_stage();
        int32_t sum[sums] = {};
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        int stage = 0;
#pragma unroll 1
        for (int done = 0; done < copies; done++) {
            copies::wait<stages - 2>();
            __syncthreads(); /* and all are done with the stage that is begun next */
            copier.begin_stage();
            multiply_stage(sum, shared + stage * stage_bytes, warp, lane);
            stage = stage + 1 == stages ? 0 : stage + 1;
        }
        if (sets == 1)
            crt::store_residues(arguments, sum, modulus, tile, threadIdx.x);
        else
            pairs.take(arguments, sum, set, modulus, tile, threadIdx.x);
        __syncthreads(); /* before the ring is filled again */
    }
}

} // namespace crt_sm80
