/* Joins the residues of an element of C by the Chinese remainder theorem: the sum of the integers' products, exactly;
 * rounds it to double precision, and stores alpha * sum + beta * c.
 *
 * What is added up byte by byte of the weights (moduli.cuh) is dot products of bytes; all else is integers of a few words.
 */
#pragma once

#include "kernels/crt/moduli.cuh"
#include "kernels/crt/survey.cuh"
#include "kernels/crt/tiles.cuh"

namespace crt
{

/* Dot products of the residues of four elements with the same bytes of the weights, which are read once. */
template <int groups>
__device__ inline void dots(const uint32_t (&residues)[4][groups], const uint32_t (&weights)[groups_most],
                            int32_t (&sums)[4])
{
#pragma unroll
    for (int e = 0; e < 4; e++)
        sums[e] = 0;
#pragma unroll
    for (int i = 0; i < groups; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            sums[e] = dot_residues(residues[e][i], weights[i], sums[e]);
}

/* value * 2^exponent, rounded once if it is subnormal. */
__device__ inline double scale(double value, int exponent)
{
    const int half = exponent / 2, rest = exponent - half;
    return value * __longlong_as_double(int64_t(exponent_bias + half) << mantissa_bits) *
           __longlong_as_double(int64_t(exponent_bias + rest) << mantissa_bits);
}

/* An integer of several words, the last of which has its sign, times 2^exponent, rounded once. */
template <int words> __device__ inline double round(const uint32_t (&x)[words], int exponent)
{
    if constexpr (words == 1)
        return scale(double(int32_t(x[0])), exponent);
    else if constexpr (words == 2)
        return scale(__ll2double_rn(int64_t(uint64_t(x[1]) << 32 | x[0])), exponent);
    else {
        /* The magnitude as 128 bits, of 2^exponent each; of more words' what is lost is in the last bit. */
        const bool negative = int32_t(x[words - 1]) < 0;
        const uint32_t flip = negative ? ~0u : 0;
        uint32_t y[words];
        uint64_t carry = negative;
#pragma unroll
        for (int i = 0; i < words; i++) {
            carry += x[i] ^ flip;
            y[i] = uint32_t(carry);
            carry >>= 32;
        }
        uint64_t lower = uint64_t(y[1]) << 32 | y[0], upper = y[2];
        if constexpr (words > 3)
            upper |= uint64_t(y[3]) << 32;
        if constexpr (words > 4)
            if (y[4] != 0) {
                lower = uint64_t(y[2]) << 32 | y[1] | (y[0] != 0);
                upper = uint64_t(y[4]) << 32 | y[3];
                exponent += 32;
            }
        const bool fits = upper == 0;
        upper = fits ? lower : upper;
        lower = fits ? 0 : lower;
        exponent -= fits ? 64 : 0;
        const int zeros = __clzll(int64_t(upper | 1));
        const uint64_t top = upper << zeros | lower >> 1 >> (63 - zeros), rest = lower << zeros;
        const double value = scale(__ull2double_rn(top | (rest != 0)), exponent + 64 - zeros);
        return negative ? -value : value;
    }
}

/* The sums of four elements, as integers. They take as many words as there are groups of moduli. */
template <int groups>
__device__ inline void join(const joining &table, const uint32_t (&residues)[4][groups],
                            uint32_t (&x)[4][groups])
{
    uint32_t quotient[4];
    int32_t low[4], high[4];
    int64_t carry[4] = {};
    dots(residues, table.shares[0], low);
    dots(residues, table.shares[1], high);
#pragma unroll
    for (int e = 0; e < 4; e++)
        quotient[e] = uint32_t(((low[e] + (high[e] << 8) + (1 << 15)) >> 16) + quotient_shift);
#pragma unroll
    for (int i = 0; i < groups; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            dots(residues, table.weights[4 * i + 2 * half], low);
            dots(residues, table.weights[4 * i + 2 * half + 1], high);
#pragma unroll
            for (int e = 0; e < 4; e++)
                carry[e] += int64_t(low[e] + (high[e] << 8)) << (16 * half);
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            carry[e] += int64_t(uint64_t(quotient[e]) * table.minus_p[i]) + int64_t(table.start[i]);
            x[e][i] = uint32_t(carry[e]);
            carry[e] >>= 32;
        }
    }
}

/* A bit for each of a thread's 16 elements, from (row, column) on, which C has and the mask leaves; `lower`: how far below
 * the first row the second one is. */
__device__ inline uint32_t kept_elements(const tb_dgemm &p, int64_t row, int lower, int64_t column)
{
    if (p.mask == TB_FULL && row + lower < p.m && column + 25 < p.n)
        return 0xffff;
    uint32_t kept = 0;
#pragma unroll 1
    for (int e = 0; e < 16; e++) {
        const int64_t own_row = row + e % 4 / 2 * lower, own_column = column + e / 4 * 8 + e % 2;
        if (own_row < p.m && own_column < p.n &&
            tb_mask_has(p.mask, p.mask_step, p.diagonal, own_row, own_column))
            kept |= 1u << e;
    }
    return kept;
}

template <bool whole> struct vector_words {
    using type = uint4;
};
template <> struct vector_words<false> {
    using type = uint2;
};

__device__ inline uint32_t word_of(const uint2 &words, int word)
{
    return word == 0 ? words.x : words.y;
}
__device__ inline uint32_t word_of(const uint4 &words, int word)
{
    return word < 2 ? word == 0 ? words.x : words.y : word == 2 ? words.z : words.w;
}

/* A thread's vector of a tile; tiles are numbered in clusters, and parts of complex numbers in tiles. */
template <int tile_n, int groups>
__device__ inline void join_vector(const tb_crt_arguments &arguments, int count, int tile, int vector)
{
    constexpr int vectors = TB_CRT_VECTORS(tile_n), most = groups * group;
    const tb_dgemm &p = arguments.problem;
    /* Where there are many moduli half a vector is read at a time, for want of registers. */
    using words = typename vector_words<groups <= 2>::type;
    constexpr int at_a_time = sizeof(words) / sizeof(uint32_t), words_a_vector = 4 / at_a_time;
    const int64_t plane = int64_t(arguments.tiles) * arguments.cluster * arguments.parts * vectors *
                          TB_CRT_CONSUMERS * words_a_vector;
    const words *from =
        reinterpret_cast<const words *>(arguments.residues_c) +
        ((int64_t(tile) * vectors + vector) * TB_CRT_CONSUMERS + threadIdx.x) * words_a_vector;
    words loaded[most];
    const int parts = arguments.parts, of_cluster = arguments.cluster * parts;
    const tb_tile_place pair = pair_at(arguments, tile / of_cluster);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t own = (int64_t(pair.row) * arguments.cluster + tile % of_cluster / parts) * TB_CRT_TILE_M +
                        pieces<tile_n>::row(warp, vector) + lane / 4;
    const int64_t row = own * parts + tile % parts;
    const int lower = 8 * parts;
    const int64_t column =
        int64_t(pair.column) * tile_n + pieces<tile_n>::column(warp, vector) + lane % 4 * 2;
    const uint32_t kept = kept_elements(p, row, lower, column);
    const int *quantum_of_row = arguments.a.quantum + own;
    const int *quantum_of_column = arguments.b.quantum + column;
    double *to = p.c + row + column * p.ldc;
    const bool reads_c = p.beta != 0;
#pragma unroll 1
    for (int first = 0; first < 4; first += at_a_time) {
#pragma unroll
        for (int i = 0; i < most; i++)
            loaded[i] = i < count ? __ldcs(from + i * plane + first / at_a_time) : words();
#pragma unroll(groups <= 4 ? at_a_time : 1)
        for (int next = 0; next < at_a_time; next++) {
            const int word = first + next;
            const joining &table = device_joinings.of[__shfl_sync(0xffffffff, count, 0)];
            uint32_t residues[4][groups];
#pragma unroll
            for (int i = 0; i < groups; i++) {
                uint32_t w[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    w[j] = word_of(loaded[4 * i + j], next);
                const uint32_t a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140),
                               c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
                residues[0][i] = __byte_perm(a, b, 0x5410);
                residues[1][i] = __byte_perm(a, b, 0x7632);
                residues[2][i] = __byte_perm(c, d, 0x5410);
                residues[3][i] = __byte_perm(c, d, 0x7632);
            }
            uint32_t x[4][groups];
            join<groups>(table, residues, x);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                if (!(kept >> (4 * word + e) & 1))
                    continue;
                const int exponent = quantum_of_row[e / 2 * 8] + quantum_of_column[8 * word + e % 2];
                double *element = to + e % 2 * p.ldc + lower * (e / 2);
                const double product = p.alpha * round<groups>(x[e], exponent);
                *element = reads_c ? fma(p.beta, *element, product) : product;
            }
            to += 8 * p.ldc;
        }
    }
}

template <int tile_n, int groups = 1>
__device__ inline void join_as_decided(const tb_crt_arguments &arguments, int count, int tile, int vector)
{
    if (count <= groups * group)
        join_vector<tile_n, groups>(arguments, count, tile, vector);
    else if constexpr (groups < groups_most)
        join_as_decided<tile_n, groups + 1>(arguments, count, tile, vector);
}

/* A block for every vector of a tile. */
template <int tile_n> __device__ inline void join_tile(const tb_crt_arguments &arguments)
{
    /* The same in all threads of a warp, and the compiler knows it: weights come through uniform registers. */
    const int count = __shfl_sync(0xffffffff, arguments.decision->moduli, 0);
    constexpr int vectors = TB_CRT_VECTORS(tile_n);
    if (count > 0)
        join_as_decided<tile_n>(arguments, count, int(blockIdx.x) / vectors, int(blockIdx.x) % vectors);
}

} // namespace crt
