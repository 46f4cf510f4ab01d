/* The order in which tiles are taken, where their elements lie, and how their residues are stored.
 *
 * A thread's sums come four by four: two neighbours of a row of C, and two of the row 8 further down. Such a word
 * of residues is of a piece of C, 16 x 8, which a warp has; a vector is four words, of pieces side by side.
 */
#pragma once

#include "kernels/crt/moduli.cuh"

namespace crt
{

/* Down a group of columns of C: TB_CRT_GROUP panels of A, or pairs, and as many of B are in flight, whose stages
 * of the same k meet in L2. In tiles, of A of clusters. */
__device__ inline tb_tile_place pair_at(const tb_crt_arguments &arguments, int number)
{
    if (arguments.masked.mask != TB_FULL)
        return tb_mask_locate(&arguments.masked, number);
    const int first = number / (TB_CRT_GROUP * arguments.tiles_n) * TB_CRT_GROUP,
              height = min(TB_CRT_GROUP, arguments.tiles_m - first);
    const int within = number - first * arguments.tiles_n;
    return {first + within % height, within / height};
}

/* Where in a tile the first piece of a thread's vector begins: warps lie one below the other, each with all of its
 * columns; or two by four, each with 64 rows and 32 columns. */
template <int tile_n> struct pieces {
    static constexpr bool side_by_side = tile_n == TB_CRT_SM90_TILE_N;

    __device__ static int row(int warp, int vector)
    {
        return side_by_side ? warp * 16 : warp % 2 * 64 + vector * 16;
    }
    __device__ static int column(int warp, int vector)
    {
        return side_by_side ? vector * 32 : warp / 2 * 32;
    }
};

/* Where a thread's vectors of a tile by a modulus go. Tiles are numbered in clusters. */
template <int sums>
__device__ __forceinline__ uint4 *vectors_at(const tb_crt_arguments &arguments, int modulus, int tile,
                                             int part, int thread)
{
    const int64_t number =
        (int64_t(modulus) * arguments.tiles * arguments.cluster + tile) * arguments.parts + part;
    return reinterpret_cast<uint4 *>(arguments.residues_c) + number * (sums / 16) * TB_CRT_CONSUMERS + thread;
}

/* What is left of a sum by a modulus, in bits as `reduce` takes them. */
__device__ __forceinline__ int32_t bits_of_sum(int32_t sum, const reduction &by)
{
    return dot_halves(uint32_t(sum) ^ 0x80000000u, by.halves, by.start_s);
}

/* Four residues. */
__device__ __forceinline__ uint32_t reduce_word(const int32_t (&bits)[4], const reduction &by)
{
    return pack(reduce(bits[0], by.inverse, by.modulus), reduce(bits[1], by.inverse, by.modulus),
                reduce(bits[2], by.inverse, by.modulus), reduce(bits[3], by.inverse, by.modulus));
}

/* What is left of sums is stored as vectors, four words of `word_of`. */
template <int sums, class operation>
__device__ __forceinline__ void store_vectors(uint4 *to, operation word_of)
{
#pragma unroll
    for (int vector = 0; vector < sums / 16; vector++)
        to[vector * TB_CRT_CONSUMERS] = make_uint4(word_of(4 * vector), word_of(4 * vector + 1),
                                                   word_of(4 * vector + 2), word_of(4 * vector + 3));
}

template <int sums>
__device__ __forceinline__ void store_residues(const tb_crt_arguments &arguments, const int32_t (&sum)[sums],
                                               int modulus, int tile, int thread)
{
    const reduction by = device_reductions.of[modulus];
    store_vectors<sums>(vectors_at<sums>(arguments, modulus, tile, 0, thread), [&](int word) {
        int32_t bits[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            bits[i] = bits_of_sum(sum[4 * word + i], by);
        return reduce_word(bits, by);
    });
}

/* Complex numbers: with the sums of products of real parts, of imaginary ones, and of the sums of both,
 *     real = first - second,  imaginary = third - (first + second).
 * A thread keeps what is left of the first, then of the first and the second, as bytes. */
template <int sums> struct pairs {
    uint32_t kept[sums / 4];

    __device__ __forceinline__ void take(const tb_crt_arguments &arguments, const int32_t (&sum)[sums],
                                         int set, int modulus, int tile, int thread)
    {
        const reduction by = device_reductions.of[modulus];
        if (set == 0) {
#pragma unroll
            for (int word = 0; word < sums / 4; word++) {
                int32_t bits[4];
#pragma unroll
                for (int i = 0; i < 4; i++)
                    bits[i] = bits_of_sum(sum[4 * word + i], by);
                kept[word] = reduce_word(bits, by);
            }
            return;
        }
        store_vectors<sums>(vectors_at<sums>(arguments, modulus, tile, set - 1, thread), [&](int word) {
            int32_t bits[4], both[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int32_t left = int8_t(kept[word] >> (8 * i)), own = bits_of_sum(sum[4 * word + i], by);
                bits[i] = set == 1 ? magic + left - (own - magic) : own - left;
                both[i] = left + own;
            }
            kept[word] = reduce_word(both, by);
            return reduce_word(bits, by);
        });
    }
};

} // namespace crt
