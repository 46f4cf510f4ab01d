/* The SIMT family's shapes: a block's tile of C and how its threads share it. */
#pragma once

#include "kernels/simt/simt.h"

namespace simt
{

/* In which products aligned operands along k move word by word, where they would have to be turned in registers
 * otherwise: what is faster, on an H200, depends on how many registers and threads there are. */
enum class words { never, both_along_k, a_along_k, always };

template <int tile_m_, int tile_n_, int tile_k_, int thread_m_, int thread_n_, int lanes_m_, int slices_,
          int stages_, int blocks_, words words_ = words::never, int words_at_a_time_ = 4,
          bool cuts_chains_ = false>
struct shape {
    static constexpr int tile_m = tile_m_, tile_n = tile_n_, tile_k = tile_k_;
    static constexpr int thread_m = thread_m_, thread_n = thread_n_;
    static constexpr int lanes_m = lanes_m_, lanes_n = 32 / lanes_m_;
    static constexpr int warp_m = lanes_m * thread_m, warp_n = lanes_n * thread_n;
    static constexpr int warps_m = tile_m / warp_m, warps_n = tile_n / warp_n;
    static constexpr int slices = slices_, slice_threads = 32 * warps_m * warps_n;
    static constexpr int slice_k = tile_k / slices;
    static constexpr int threads = slice_threads * slices;
    /* Copies that follow each other in the loop, of what moves word by word: what is fastest has no rule but measuring. */
    static constexpr int words_at_a_time = words_at_a_time_;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr int stages = 2;
#else
    static constexpr int stages = stages_;
#endif
    /* The launch bound. Before sm_80 shared memory holds no more blocks than that; from sm_100 on the same
     * code takes more registers. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1000)
    static constexpr int blocks = blocks_ > 1 ? blocks_ / 2 : 1;
#else
    static constexpr int blocks = blocks_;
#endif
    /* Panels on their way at a time: in the stages that are not being multiplied, or one of them in
     * registers. */
    static constexpr int ahead = stages > 2 ? stages - 1 : 2;
    static constexpr int offset_b = TB_SIMT_PANEL_FLOATS(tile_m, tile_k, slices);
    static constexpr int stage_floats = offset_b + TB_SIMT_PANEL_FLOATS(tile_n, tile_k, slices);
    /* What takes more than 99 KiB or 256 threads is for compute capability 9.0, whose assembler has the registers for it. */
    static constexpr bool large = threads > 256 || stages_ *stage_floats *int(sizeof(float)) > 99 * 1024;
    /* Blocks of a cluster may share a tile, where its sums fit where the stages were: see tb_simt_plan. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr bool clusters = false;
#else
    static constexpr bool clusters = tile_m * tile_n <= stages_ * stage_floats;
#endif
    /* Whether chains are cut: see simt.h. A shape that is no row of the catalog may say so itself. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1000)
    static constexpr bool cuts_chains = false;
#else
    static constexpr bool cuts_chains =
        cuts_chains_ ||
        TB_SIMT_TOTALS_BYTES(tile_m, tile_n, slices, stages_ *stage_floats *int(sizeof(float)), blocks_) > 0;
#endif
    /* What leaves few registers for anything else, for 8.0 to 11.x. */
    static constexpr bool broad = thread_m * thread_n > 64;
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1200)
    static constexpr bool runs = !large && !broad;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1000)
    static constexpr bool runs = !large;
#else
    static constexpr bool runs = true;
#endif
    /* Whether aligned operands that are contiguous along k are kept by rows, or turned. That takes registers: with fewer, the
     * assembler mixes the steps' FMAs, and they run at 85%. */
    static constexpr bool by_rows = 65536 / (threads * blocks_) >= 4 * thread_m * thread_n;
    static __device__ constexpr bool by_words(bool transpose_a, bool transpose_b)
    {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
        return false;
#else
        return !by_rows && (words_ == words::always || (words_ == words::a_along_k && transpose_a) ||
                            (words_ == words::both_along_k && transpose_a && !transpose_b));
#endif
    }
    static_assert(tile_m % warp_m == 0 && tile_n % warp_n == 0, "warps tile the block");
    static_assert(thread_m % 4 == 0 && thread_n % 4 == 0, "fragments are read in 16-byte pieces");
    static_assert(slice_k % (by_rows ? 8 : 2) == 0, "fragments alternate");
    static_assert(slices / 2 * tile_m * tile_n <= stages_ * stage_floats,
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
