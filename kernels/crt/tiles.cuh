/* The order in which tiles are taken, where their elements lie, and how their residues are stored.
 *
 * A thread's sums come four by four: two neighbours of a row of C, and two of the row 8 further down. Such a word of residues is of
 * a piece of C, 16 x 8, which a warp has; a vector is four words, of pieces side by side.
 */
#pragma once

#include "kernels/crt/moduli.cuh"

namespace crt
{

/* Down a group of columns of C: TB_CRT_GROUP panels of A, or pairs, and as many of B are in flight, whose stages of the same k meet
 * in L2. In tiles, of A of clusters. */
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

/* What is left of sums by a modulus. Tiles are numbered in clusters. */
template <int sums>
__device__ __forceinline__ void store_residues(const tb_crt_arguments &arguments, const int32_t (&sum)[sums],
                                               int modulus_number, int tile, int thread)
{
    const reduction &by = device_reductions.of[modulus_number];
    const int64_t number = int64_t(modulus_number) * arguments.tiles * arguments.cluster + tile;
    uint4 *to =
        reinterpret_cast<uint4 *>(arguments.residues_c) + number * (sums / 16) * TB_CRT_CONSUMERS + thread;
    const uint32_t halves = by.halves;
    const int32_t start = by.start_s, modulus = by.modulus;
    const float inverse = by.inverse;
#pragma unroll
    for (int vector = 0; vector < sums / 16; vector++) {
        uint32_t words[4];
#pragma unroll
        for (int word = 0; word < 4; word++) {
            uint32_t residue[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                residue[i] =
                    reduce(dot_halves(uint32_t(sum[16 * vector + 4 * word + i]) ^ 0x80000000u, halves, start),
                           inverse, modulus);
            words[word] = pack(residue[0], residue[1], residue[2], residue[3]);
        }
        to[vector * TB_CRT_CONSUMERS] = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

} // namespace crt
