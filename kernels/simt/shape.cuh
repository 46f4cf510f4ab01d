/* A shape of the SIMT family: a block's tile of C and how its threads share it, from a row of shapes.def. */
#pragma once

#include "kernels/simt/simt.h"

namespace simt
{

/* In which products aligned operands along k move word by word: the field words of shapes.def. */
enum class words { never, both_along_k, a_along_k, always };

/* row: a struct with the fields of shapes.def that device code is made of, as sgemm_simt.cu.in has them. Whether chains are
 * cut (simt.h) follows from them; cuts_chains_ is for a shape that is no row of the catalog. */
template <class row, bool cuts_chains_ = false> struct shape {
    static constexpr int tile_m = row::tile_m, tile_n = row::tile_n, tile_k = row::tile_k;
    static constexpr int thread_m = row::thread_m, thread_n = row::thread_n;
    static constexpr int lanes_m = row::lanes_m, lanes_n = 32 / lanes_m;
    static constexpr int warp_m = lanes_m * thread_m, warp_n = lanes_n * thread_n;
    static constexpr int warps_m = tile_m / warp_m, warps_n = tile_n / warp_n;
    static constexpr int slices = row::slices, slice_threads = 32 * warps_m * warps_n;
    static constexpr int slice_k = tile_k / slices;
    static constexpr int threads = slice_threads * slices;
    static constexpr int words_at_a_time = row::words_at_a_time;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr int stages = 2;
#else
    static constexpr int stages = row::stages;
#endif
    /* The launch bound. Before sm_80 shared memory holds no more blocks than that; from sm_100 on the same
     * code takes more registers. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1000)
    static constexpr int blocks = row::launch_bound > 1 ? row::launch_bound / 2 : 1;
#else
    static constexpr int blocks = row::launch_bound;
#endif
    /* Panels on their way at a time: in the stages that are not being multiplied, or one of them in
     * registers. */
    static constexpr int ahead = stages > 2 ? stages - 1 : 2;
    static constexpr int offset_b = TB_SIMT_PANEL_FLOATS(tile_m, tile_k, slices);
    static constexpr int stage_floats = offset_b + TB_SIMT_PANEL_FLOATS(tile_n, tile_k, slices);
    static constexpr int all_stages_bytes = row::stages * stage_floats * int(sizeof(float));
    /* Blocks of a cluster may share a tile, where its sums fit where the stages were: see tb_simt_plan. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr bool clusters = false;
#else
    static constexpr bool clusters = tile_m * tile_n <= row::stages * stage_floats;
#endif
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1000)
    static constexpr bool cuts_chains = false;
#else
    static constexpr bool cuts_chains =
        cuts_chains_ || TB_SIMT_TOTALS_BYTES(tile_m, tile_n, slices, all_stages_bytes, row::launch_bound) > 0;
#endif
    /* Elsewhere its kernels are empty. A chip of 7.5 also runs code for 7.0. */
#ifdef __CUDA_ARCH__
    static constexpr bool runs = (row::first_chip <= 75 || __CUDA_ARCH__ >= 10 * row::first_chip) &&
                                 (row::end_chip == 0 || __CUDA_ARCH__ < 10 * row::end_chip);
#else
    static constexpr bool runs = true;
#endif
    /* Whether aligned operands that are contiguous along k are kept by rows, or turned. That takes registers: with fewer, the
     * assembler mixes the steps' FMAs, and they run at 85%. */
    static constexpr bool by_rows = 65536 / (threads * row::launch_bound) >= 4 * thread_m * thread_n;
    static __device__ constexpr bool by_words(bool transpose_a, bool transpose_b)
    {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
        return false;
#else
        return !by_rows && (row::words == words::always || (row::words == words::a_along_k && transpose_a) ||
                            (row::words == words::both_along_k && transpose_a && !transpose_b));
#endif
    }
    static_assert(threads == TB_SIMT_THREADS(tile_m, tile_n, thread_m, thread_n, slices),
                  "the catalog's threads");
    static_assert(row::first_chip == 90 || (threads <= 256 && all_stages_bytes <= 99 * 1024),
                  "more is for 9.0, whose assembler has the registers and whose blocks the shared memory");
    static_assert((row::first_chip >= 80 && row::end_chip > 0 && row::end_chip <= 120) ||
                      thread_m * thread_n <= 64,
                  "more of C leaves too few registers for panels on their way, and for 12.0's assembler");
    static_assert(tile_m % warp_m == 0 && tile_n % warp_n == 0, "warps tile the block");
    static_assert(thread_m % 4 == 0 && thread_n % 4 == 0, "fragments are read in 16-byte pieces");
    static_assert(slice_k % (by_rows ? 8 : 2) == 0, "fragments alternate");
    static_assert(slices / 2 * tile_m * tile_n <= row::stages * stage_floats,
                  "the slices' sums fit where the stages were");
};

/* A thread's share of the block's tile: where its first 4 x 4 piece lies, and in which slice. Warps go round four schedulers;
 * those along one edge of the tile, which may be the only ones with something to multiply, are not on a single one where
 * there are two columns of warps or more. */
template <class shape> struct position {
    int row, column, slice;

    __device__ explicit position(int thread)
    {
        const int warp = thread % shape::slice_threads / 32, lane = thread % 32;
        const int warp_m = warp / shape::warps_n;
        const int warp_n = (warp + 2 * warp_m) % shape::warps_n;
        row = warp_m * shape::warp_m + lane % shape::lanes_m * 4;
        column = warp_n * shape::warp_n + lane / shape::lanes_m * 4;
        slice = thread / shape::slice_threads;
    }
    static __device__ constexpr int m(int i)
    {
        return i / 4 * shape::lanes_m * 4 + i % 4;
    }
    static __device__ constexpr int n(int j)
    {
        return j / 4 * shape::lanes_n * 4 + j % 4;
    }
};

/* A thread's share of C. */
template <class shape> struct sums {
    float at[shape::thread_m][shape::thread_n] = {};
};

} // namespace simt
