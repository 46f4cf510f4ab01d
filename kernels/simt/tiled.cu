/* tiled: the classic shared-memory kernel. Panels of A and B move through two shared buffers in 16-byte
 * pieces; while one is multiplied, the next is on its way from global memory into registers.
 *
 *               n 128                     block  256 threads = 8 warps as 2 (m) x 4 (n)
 *         +----+----+----+----+           warp   64 x 32 of C, lanes as 8 (m) x 4 (n)
 *         | w0 | w2 | w4 | w6 |           lane   8 x 8 as four 4 x 4 quadrants, 32 and 16 apart, so that
 *  m 128  +----+----+----+----+                  its float4 reads of shared memory meet no bank twice
 *         | w1 | w3 | w5 | w7 |           k      8 a step; shared rows are padded by 4 floats, which keeps
 *         +----+----+----+----+                  transposing stores free of conflicts and float4 aligned
 *
 * Demands 16-byte aligned A and B and leading dimensions in multiples of 4; C may lie anywhere.
 */
#include "kernels/gemm.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256;
constexpr int pitch = 128 + 4;

using buffer = float[tile_k][pitch];

/* Moves a 128 x 8 piece of an operand from global memory through one float4 of registers into a shared buffer
 * indexed [k][outer]. */
template <bool k_contiguous> struct loader {
    const float *address;
    int64_t leading_dimension;
    int64_t outer_left, k_left; /* how far the operand reaches beyond this thread's first element */
    int outer, k;               /* that element within the piece */
    float4 value;

    __device__ loader(const float *operand, int64_t ld, int64_t first, int64_t extent, int64_t k_extent)
        : leading_dimension(ld)
    {
        if (k_contiguous) {
            outer = threadIdx.x / 2;
            k = threadIdx.x % 2 * 4;
            address = operand + (first + outer) * ld + k;
        } else {
            outer = threadIdx.x % 32 * 4;
            k = threadIdx.x / 32;
            address = operand + first + outer + k * ld;
        }
        outer_left = extent - first - outer;
        k_left = k_extent - k;
    }

    __device__ void fetch()
    {
        if (k_contiguous)
            value = tb::load_float4(address, outer_left > 0 ? k_left : 0);
        else
            value = tb::load_float4(address, k_left > 0 ? outer_left : 0);
        address += k_contiguous ? tile_k : tile_k * leading_dimension;
        k_left -= tile_k;
    }

    __device__ void store(buffer &shared) const
    {
        if (k_contiguous) {
            shared[k + 0][outer] = value.x;
            shared[k + 1][outer] = value.y;
            shared[k + 2][outer] = value.z;
            shared[k + 3][outer] = value.w;
        } else {
            *reinterpret_cast<float4 *>(&shared[k][outer]) = value;
        }
    }
};

__device__ inline void read_fragment(float (&fragment)[8], const float *row, int apart)
{
    *reinterpret_cast<float4 *>(&fragment[0]) = *reinterpret_cast<const float4 *>(row);
    *reinterpret_cast<float4 *>(&fragment[4]) = *reinterpret_cast<const float4 *>(row + apart);
}

__device__ inline void multiply(float (&sum)[8][8], const buffer &a, const buffer &b, int row, int column)
{
    /* Unrolled whole, ptxas hoists so many fragments for sm_75 and sm_80 that registers spill. */
#pragma unroll 2
    for (int k = 0; k < tile_k; k++) {
        float fragment_a[8], fragment_b[8];
        read_fragment(fragment_a, &a[k][row], 32);
        read_fragment(fragment_b, &b[k][column], 16);
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[j][i] = fmaf(fragment_a[i], fragment_b[j], sum[j][i]);
    }
}

/* Four neighbours in a column of C, of which the first `remaining` exist. */
__device__ inline void write_float4(const tb_sgemm &problem, float *c, const float *sum, int64_t remaining,
                                    bool aligned)
{
    if (aligned && remaining >= 4) {
        const float4 old = problem.beta == 0 ? make_float4(0, 0, 0, 0) : *reinterpret_cast<float4 *>(c);
        *reinterpret_cast<float4 *>(c) =
            make_float4(tb::combine(problem, sum[0], &old.x), tb::combine(problem, sum[1], &old.y),
                        tb::combine(problem, sum[2], &old.z), tb::combine(problem, sum[3], &old.w));
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < remaining)
            c[i] = tb::combine(problem, sum[i], c + i);
}

template <bool transpose_a, bool transpose_b> __device__ void tiled(const tb_sgemm &problem)
{
    __shared__ __align__(16) buffer shared_a[2], shared_b[2];

    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp % 2 * 64 + lane % 8 * 4;
    const int column = warp / 2 * 32 + lane / 8 * 4;

    loader<transpose_a> a(problem.a, problem.lda, tile.m, problem.m, problem.k);
    loader<!transpose_b> b(problem.b, problem.ldb, tile.n, problem.n, problem.k);
    float sum[8][8] = {}; /* [n][m] */

    const int64_t steps = (problem.k + tile_k - 1) / tile_k;
    if (steps > 0) {
        a.fetch();
        b.fetch();
        a.store(shared_a[0]);
        b.store(shared_b[0]);
        __syncthreads();
    }
    for (int64_t step = 0; step < steps; step++) {
        const int current = step % 2;
        const bool more = step + 1 < steps;
        if (more) {
            a.fetch();
            b.fetch();
        }
        multiply(sum, shared_a[current], shared_b[current], row, column);
        if (more) {
            a.store(shared_a[current ^ 1]);
            b.store(shared_b[current ^ 1]);
            __syncthreads();
        }
    }

    const bool aligned = problem.ldc % 4 == 0 && reinterpret_cast<uintptr_t>(problem.c) % 16 == 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const int64_t n = tile.n + column + j / 4 * 16 + j % 4;
        if (n >= problem.n)
            break;
#pragma unroll
        for (int quadrant = 0; quadrant < 2; quadrant++) {
            const int64_t m = tile.m + row + quadrant * 32;
            write_float4(problem, problem.c + m + n * problem.ldc, &sum[j][quadrant * 4], problem.m - m,
                         aligned);
        }
    }
}

} // namespace

TB_STAMP_TRANSPOSITIONS(tiled, tiled, threads, 2)
