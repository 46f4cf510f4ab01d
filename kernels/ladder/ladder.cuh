/* What the rungs share because no rung is about it: reaching an element of op(A) or op(B) wherever it lies,
 * tiles in shared memory, and writing C. One idea a rung is what stays in the rung's own file.
 *
 * Words: outer is m for A and n for B; an operand is k-contiguous when its neighbours in memory are
 * neighbours along k (A transposed, B not). A thread has a place (x, y) in its block, x along m and y along
 * n, and accumulates sum[j][i] for row i and column j of its own piece of C.
 *
 * Loops over k are unrolled as far as 128 registers a thread allow: two blocks of 256 threads then share a
 * multiprocessor.
 */
#pragma once

#include "kernels/gemm.cuh"

namespace ladder
{

/* op(A) or op(B) in global memory. */
template <bool k_contiguous> struct operand {
    const float *data;
    int64_t ld, outer_end, k_end;

    __device__ const float *at(int64_t outer, int64_t k) const
    {
        return data + (k_contiguous ? k + outer * ld : outer + k * ld);
    }

    /* Zero beyond the edges, so that a tile may overhang. */
    __device__ float get(int64_t outer, int64_t k) const
    {
        return outer < outer_end && k < k_end ? *at(outer, k) : 0;
    }

    /* Four neighbours in memory, the first at (outer, k) and 16-byte aligned. */
    __device__ float4 get4(int64_t outer, int64_t k) const
    {
        if (k_contiguous)
            return tb::load_float4(at(outer, k), outer < outer_end ? k_end - k : 0);
        return tb::load_float4(at(outer, k), k < k_end ? outer_end - outer : 0);
    }
};

template <bool transposed> __device__ inline operand<transposed> operand_a(const tb_sgemm &problem)
{
    return {problem.a, problem.lda, problem.m, problem.k};
}

template <bool transposed> __device__ inline operand<!transposed> operand_b(const tb_sgemm &problem)
{
    return {problem.b, problem.ldb, problem.n, problem.k};
}

/* A place within a tile of an operand. */
struct place {
    int outer, k;
};

/* The place of piece `number` of `width` floats, counting an outers x ks tile along the operand's memory:
 * threads that load by their number touch neighbouring addresses. */
template <bool k_contiguous, int outers, int ks, int width = 1>
__device__ inline place along_memory(int number)
{
    if (k_contiguous)
        return {number / (ks / width), number % (ks / width) * width};
    return {number % (outers / width) * width, number / (outers / width)};
}

/* Eight floats of shared memory as two float4, the second one `apart` floats after the first. */
__device__ inline void read_fragment(float (&fragment)[8], const float *first, int apart = 4)
{
    *reinterpret_cast<float4 *>(&fragment[0]) = *reinterpret_cast<const float4 *>(first);
    *reinterpret_cast<float4 *>(&fragment[4]) = *reinterpret_cast<const float4 *>(first + apart);
}

/* A tile of an operand in shared memory, laid out as the operand itself is. */
template <bool k_contiguous, int outers, int ks> struct alignas(16) stored_tile {
    float element[outers * ks];

    __device__ float &operator()(int outer, int k)
    {
        return element[k_contiguous ? outer * ks + k : outer + k * outers];
    }
};

/* A tile of an operand in shared memory with neighbours along outer, whichever way the operand lies: the one
 * that lies along k is transposed on its way in. */
template <int outers, int ks, int padding = 0> struct alignas(16) outer_tile {
    float element[ks][outers + padding];

    __device__ const float *at(int outer, int k) const
    {
        return &element[k][outer];
    }

    /* Four neighbours in the operand's memory, the first one at (outer, k). */
    template <bool k_contiguous> __device__ void put4(place to, float4 value)
    {
        if (k_contiguous) {
            element[to.k + 0][to.outer] = value.x;
            element[to.k + 1][to.outer] = value.y;
            element[to.k + 2][to.outer] = value.z;
            element[to.k + 3][to.outer] = value.w;
        } else {
            *reinterpret_cast<float4 *>(&element[to.k][to.outer]) = value;
        }
    }
};

/* One step along k for a whole 8 x 8 piece of C: 16 operands, 64 fused multiply-adds. */
__device__ inline void outer_product(float (&sum)[8][8], const float (&a)[8], const float (&b)[8])
{
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            sum[j][i] = fmaf(a[i], b[j], sum[j][i]);
}

/* A thread's place in a block of 16 x 16. */
struct xy {
    int x, y;
};

/* Eight warps as 2 x 4, in each the lanes as 8 x 4 along a Z-shaped curve: bits 0, 2 and 4 of the lane count
 * along x, bits 1 and 3 along y. */
__device__ inline xy z_order(int thread)
{
    const int warp = thread / 32, lane = thread % 32;
    return {warp % 2 * 8 + (lane & 1) + (lane >> 1 & 2) + (lane >> 2 & 4),
            warp / 2 * 4 + (lane >> 1 & 1) + (lane >> 2 & 2)};
}

/* The product of two windows for the thread at (x, y), whose 8 x 8 are quadrants of 4 x 4 `apart`. */
template <int outers, int ks, int padding>
__device__ inline void multiply(float (&sum)[8][8], const outer_tile<outers, ks, padding> &a,
                                const outer_tile<outers, ks, padding> &b, xy thread, int apart)
{
#pragma unroll 2
    for (int k = 0; k < ks; k++) {
        float fragment_a[8], fragment_b[8];
        read_fragment(fragment_a, a.at(4 * thread.x, k), apart);
        read_fragment(fragment_b, b.at(4 * thread.y, k), apart);
        outer_product(sum, fragment_a, fragment_b);
    }
}

/* C[i, j], if there is one. */
__device__ inline void write(const tb_sgemm &problem, int64_t i, int64_t j, float sum)
{
    if (i >= problem.m || j >= problem.n)
        return;
    float *c = problem.c + i + j * problem.ldc;
    *c = tb::combine(problem, sum, c);
}

/* C[i .. i + 3, j], as far as there is such, in one piece where C is aligned to it. */
__device__ inline void write4(const tb_sgemm &problem, int64_t i, int64_t j, const float *sum)
{
    const bool aligned = problem.ldc % 4 == 0 && reinterpret_cast<uintptr_t>(problem.c) % 16 == 0;
    if (!aligned || i + 4 > problem.m) {
#pragma unroll
        for (int offset = 0; offset < 4; offset++)
            write(problem, i + offset, j, sum[offset]);
    } else if (j < problem.n) {
        float4 *c = reinterpret_cast<float4 *>(problem.c + i + j * problem.ldc);
        const float4 old = problem.beta == 0 ? make_float4(0, 0, 0, 0) : *c;
        *c = make_float4(tb::combine(problem, sum[0], &old.x), tb::combine(problem, sum[1], &old.y),
                         tb::combine(problem, sum[2], &old.z), tb::combine(problem, sum[3], &old.w));
    }
}

/* A thread's 8 x 8 as 2 x 2 pieces of 4 x 4, the first at (i, j), the others `apart` rows and columns on. */
__device__ inline void write_8x8(const tb_sgemm &problem, int64_t i, int64_t j, const float (&sum)[8][8],
                                 int apart = 4)
{
#pragma unroll
    for (int column = 0; column < 8; column++) {
        const int64_t n = j + column / 4 * apart + column % 4;
        write4(problem, i, n, &sum[column][0]);
        write4(problem, i + apart, n, &sum[column][4]);
    }
}

} // namespace ladder
