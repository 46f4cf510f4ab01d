/* Joins the residues of an element of C by the Chinese remainder theorem: the sum of the integers' products, exactly; rounds it to
 * double precision, and stores alpha * sum + beta * c.
 *
 * What is added up byte by byte of the weights (moduli.cuh) is dot products of bytes; all else is integers of a few words.
 */
#pragma once

#include "kernels/crt/moduli.cuh"
#include "kernels/crt/survey.cuh"
#include "kernels/crt/tiles.cuh"

namespace crt
{

/* Bytes with a sign of a, times bytes without one of b. */
__device__ inline int32_t dot_residues(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

template <int groups>
__device__ inline int32_t dot(const uint32_t (&residues)[groups], const uint32_t (&weights)[groups_most])
{
    int32_t sum = 0;
#pragma unroll
    for (int i = 0; i < groups; i++)
        sum = dot_residues(residues[i], weights[i], sum);
    return sum;
}

/* An integer of several words, the last of which has its sign, times 2^exponent, rounded once. */
template <int words> __device__ inline double round(uint32_t (&x)[words], int exponent)
{
    const bool negative = int32_t(x[words - 1]) < 0;
    const uint32_t flip = negative ? ~0u : 0;
    uint64_t carry = negative;
#pragma unroll
    for (int i = 0; i < words; i++) {
        carry += x[i] ^ flip;
        x[i] = uint32_t(carry);
        carry >>= 32;
    }
    int left = 32 * (words - 2); /* the upper two words are worth 2^left */
#pragma unroll
    for (int i = 1; i < words; i++)
        if (x[words - 1] == 0) {
#pragma unroll
            for (int j = words - 1; j > 0; j--)
                x[j] = x[j - 1];
            x[0] = 0;
            left -= 32;
        }
    const int zeros = __clz(int(x[words - 1] | 1));
    uint32_t second = 0, third = 0, rest = 0;
    if constexpr (words > 1)
        second = x[words - 2];
    if constexpr (words > 2)
        third = x[words - 3];
#pragma unroll
    for (int i = 0; i < words - 3; i++)
        rest |= x[i];
    const uint64_t upper = uint64_t(x[words - 1]) << 32 | second;
    const uint64_t top = upper << zeros | (zeros ? third >> (32 - zeros) : 0);
    const bool more = (third << zeros | rest) != 0;
    const double value = __ull2double_rn(top | more);
    const int scale = exponent + left - zeros;
    const double scaled = scalbn(value, scale);
    return negative ? -scaled : scaled;
}

/* As many words as there are groups of moduli hold the integer. */
template <int groups>
__device__ inline double join(const joining &table, const uint32_t (&residues)[groups], int exponent)
{
    const int32_t share = dot(residues, table.shares[0]) + (dot(residues, table.shares[1]) << 8);
    const uint32_t quotient = uint32_t(((share + (1 << 15)) >> 16) + quotient_shift);
    uint32_t x[groups];
    int64_t carry = 0;
#pragma unroll
    for (int i = 0; i < groups; i++) {
        const int32_t lower =
            dot(residues, table.weights[4 * i]) + (dot(residues, table.weights[4 * i + 1]) << 8);
        const int32_t upper =
            dot(residues, table.weights[4 * i + 2]) + (dot(residues, table.weights[4 * i + 3]) << 8);
        carry += int64_t(upper) * 65536 + lower;
        carry += int64_t(uint64_t(quotient) * table.minus_p[i]) + int64_t(table.start[i]);
        x[i] = uint32_t(carry);
        carry >>= 32;
    }
    return round<groups>(x, exponent);
}

template <bool whole> struct vector_words {
    using type = uint4;
};
template <> struct vector_words<false> {
    using type = uint2;
};

/* A thread's vector of a tile. */
template <int tile_n, int groups>
__device__ inline void join_vector(const tb_crt_arguments &arguments, int count, int64_t tile, int vector)
{
    constexpr int vectors = TB_CRT_VECTORS(tile_n), most = groups * group;
    const joining &table = device_joinings.of[count];
    const tb_dgemm &p = arguments.problem;
    /* Where there are many moduli half a vector is read at a time, for want of registers. */
    using words = typename vector_words<groups <= 4>::type;
    constexpr int at_a_time = sizeof(words) / sizeof(uint32_t), words_a_vector = 4 / at_a_time;
    const int64_t plane =
        int64_t(arguments.tiles) * arguments.cluster * vectors * TB_CRT_CONSUMERS * words_a_vector;
    const words *from = reinterpret_cast<const words *>(arguments.residues_c) +
                        ((tile * vectors + vector) * TB_CRT_CONSUMERS + threadIdx.x) * words_a_vector;
    words loaded[most];
    const tb_tile_place pair = pair_at(arguments, int(tile / arguments.cluster));
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t first_row =
        (int64_t(pair.row) * arguments.cluster + tile % arguments.cluster) * TB_CRT_TILE_M +
        pieces<tile_n>::row(warp, vector) + lane / 4;
    const int64_t first_column =
        int64_t(pair.column) * tile_n + pieces<tile_n>::column(warp, vector) + lane % 4 * 2;
    int quantum_of_row[2];
#pragma unroll
    for (int half = 0; half < 2; half++)
        quantum_of_row[half] = first_row + 8 * half < p.m ? arguments.a.quantum[first_row + 8 * half] : 0;
#pragma unroll
    for (int word = 0; word < 4; word++) {
        if (word % at_a_time == 0)
#pragma unroll
            for (int i = 0; i < most; i++)
                loaded[i] = i < count ? __ldcs(from + i * plane + word / at_a_time) : words();
        uint32_t residues[4][groups];
#pragma unroll
        for (int i = 0; i < groups; i++) {
            uint32_t w[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                w[j] = reinterpret_cast<const uint32_t *>(&loaded[4 * i + j])[word % at_a_time];
            const uint32_t a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140),
                           c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
            residues[0][i] = __byte_perm(a, b, 0x5410);
            residues[1][i] = __byte_perm(a, b, 0x7632);
            residues[2][i] = __byte_perm(c, d, 0x5410);
            residues[3][i] = __byte_perm(c, d, 0x7632);
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int64_t row = first_row + 8 * (e / 2), column = first_column + 8 * word + e % 2;
            if (row >= p.m || column >= p.n || !tb_mask_has(p.mask, p.mask_step, p.diagonal, row, column))
                continue;
            const int exponent = quantum_of_row[e / 2] + arguments.b.quantum[column];
            double *to = p.c + row + column * p.ldc;
            const double product = p.alpha * join<groups>(table, residues[e], exponent);
            *to = p.beta == 0 ? product : fma(p.beta, *to, product);
        }
    }
}

template <int tile_n, int groups = 1>
__device__ inline void join_as_decided(const tb_crt_arguments &arguments, int count, int64_t tile, int vector)
{
    if (count <= groups * group)
        join_vector<tile_n, groups>(arguments, count, tile, vector);
    else if constexpr (groups < groups_most)
        join_as_decided<tile_n, groups + 1>(arguments, count, tile, vector);
}

/* A block for every vector of a tile. */
template <int tile_n> __device__ inline void join_tile(const tb_crt_arguments &arguments)
{
    const int count = arguments.decision->moduli;
    constexpr int vectors = TB_CRT_VECTORS(tile_n);
    if (count > 0)
        join_as_decided<tile_n>(arguments, count, blockIdx.x / vectors, blockIdx.x % vectors);
}

} // namespace crt
