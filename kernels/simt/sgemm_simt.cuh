/* The SIMT family: FP32 fused multiply-adds from registers, operands through a ring of shared-memory stages.
 * One template; a file per shape of tile.
 *
 *              n  tile_n                     block  warps in a grid over the tile
 *         +-------------------+              warp   lanes_m x lanes_n lanes, each thread_m x thread_n of C
 *  m      |  warp   |  warp   |                     in 4 x 4 pieces that are lanes_m * 4 and lanes_n * 4
 * apart tile_m |---------+---------|              k      tile_k a stage; while one stage is multiplied, the
 * copies |  warp   |  warp   |                     of the next ones are in flight (cp.async, sm_80 and later)
 *         +-------------------+                     or wait in registers (sm_75)
 *
 * Shared memory holds both operands as [k][outer], so that a thread reads its fragments in 16-byte pieces. A
 * row is padded by 4 floats: the eight k and four outer elements that a warp stores at a time when it
 * transposes on the way then fall into 32 different banks.
 *
 * Aligned operands move 16 bytes at a time (the vector kernels), others 4 bytes at a time, which takes any
 * address. An operand that is contiguous along k is transposed on the way.
 */
#pragma once

#include "kernels/gemm.cuh"
#include "kernels/simt/simt.h"

namespace simt
{

template <int tile_m_, int tile_n_, int tile_k_, int thread_m_, int thread_n_, int lanes_m_, int stages_,
          int blocks_>
struct shape {
    static constexpr int tile_m = tile_m_, tile_n = tile_n_, tile_k = tile_k_;
    static constexpr int thread_m = thread_m_, thread_n = thread_n_;
    static constexpr int lanes_m = lanes_m_, lanes_n = 32 / lanes_m_;
    static constexpr int warp_m = lanes_m * thread_m, warp_n = lanes_n * thread_n;
    static constexpr int warps_m = tile_m / warp_m, warps_n = tile_n / warp_n;
    static constexpr int threads = 32 * warps_m * warps_n;
    static constexpr int blocks = blocks_;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr int stages = 2;
#else
    static constexpr int stages = stages_;
#endif
    static constexpr int pitch_m = tile_m + 4, pitch_n = tile_n + 4;
    static constexpr int stage_floats = tile_k * (pitch_m + pitch_n);
    static_assert(tile_m % warp_m == 0 && tile_n % warp_n == 0, "warps tile the block");
    static_assert(thread_m % 4 == 0 && thread_n % 4 == 0, "fragments are read in 16-byte pieces");
};

/* Copies `bytes` (4 or 16) to shared memory; only the first `valid` bytes are read, the rest become zero. An
 * address of which nothing is read may be any. */
template <int bytes> __device__ inline void copy_async(float *shared, const float *global, int valid)
{
#if __CUDA_ARCH__ >= 800
    const unsigned target = unsigned(__cvta_generic_to_shared(shared));
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(valid));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(global), "r"(valid));
#endif
}

template <int bytes> __device__ inline void copy_async(float *shared, const float *global)
{
#if __CUDA_ARCH__ >= 800
    const unsigned target = unsigned(__cvta_generic_to_shared(shared));
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(global));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(target), "l"(global));
#endif
}

__device__ inline void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/* Until at most `pending` of the latest groups of copies are still in flight. */
template <int pending> __device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending));
#endif
}

/* How a panel of tile_outer x tile_k is shared out among the threads: every thread moves `count` pieces of
 * width_outer x width_k elements, piece i at (outer0 + outer(i), k0 + k(i)).
 *
 * A warp that transposes covers 4 rows x 8 k of single elements, or 16 rows x 2 k of 16-byte pieces: either
 * way its stores meet every bank once. One that does not runs along the outer dimension. */
template <bool k_contiguous, bool vector, int tile_outer, int tile_k, int threads> struct share {
    static constexpr int width = vector ? 4 : 1;
    static constexpr int width_outer = k_contiguous ? 1 : width, width_k = k_contiguous ? width : 1;
    static constexpr int pieces_outer = tile_outer / width_outer;
    static constexpr int lanes_wanted = !k_contiguous ? threads : vector ? threads / 2 : threads / 8;
    static constexpr int lanes_outer = pieces_outer < lanes_wanted ? pieces_outer : lanes_wanted;
    static constexpr int lanes_k = threads / lanes_outer;
    static constexpr int outer_step = lanes_outer * width_outer, k_step = lanes_k * width_k;
    static constexpr int outer_count = tile_outer / outer_step, count = outer_count * (tile_k / k_step);
    static_assert(outer_count > 0 && tile_outer % outer_step == 0 && tile_k % k_step == 0,
                  "the panel is covered");

    static __device__ int outer0()
    {
        return k_contiguous ? threadIdx.x / lanes_k : threadIdx.x % lanes_outer * width_outer;
    }
    static __device__ int k0()
    {
        return k_contiguous ? threadIdx.x % lanes_k * width_k : threadIdx.x / lanes_outer;
    }
    static __device__ constexpr int outer(int i)
    {
        return outer_step * (i % outer_count);
    }
    static __device__ constexpr int k(int i)
    {
        return k_step * (i / outer_count);
    }
};

/* Moves one operand's panels into the stages, one after the other along k. A 16-byte piece that has to be
 * transposed, and every piece before sm_80, waits in registers between fetch and store. */
template <bool k_contiguous, bool vector, int tile_outer, int tile_k, int threads> struct loader {
    using share = simt::share<k_contiguous, vector, tile_outer, tile_k, threads>;
    static constexpr int pitch = tile_outer + 4;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr bool holds = true;
#else
    static constexpr bool holds = k_contiguous && vector;
#endif

    const float *address; /* of this thread's first piece in the next panel */
    int64_t leading_dimension, panel_step;
    int outer_left; /* how many elements the operand has from that piece on along the outer dimension, if few
                     */
    bool inside;    /* the whole panel, not only this thread's share, lies within the outer dimension */
    float held[holds ? share::count * share::width : 1];

    __device__ loader(const float *operand, int64_t ld, int64_t first, int64_t extent)
        : leading_dimension(ld), panel_step(k_contiguous ? tile_k : tile_k * ld)
    {
        const int64_t outer = first + share::outer0(), k = share::k0();
        address = operand + (k_contiguous ? outer * ld + k : outer + k * ld);
        outer_left = int(min(extent - first, int64_t(tile_outer))) - share::outer0();
        inside = extent - first >= tile_outer;
    }

    __device__ const float *piece_address(int i) const
    {
        const int64_t outer = share::outer(i), k = share::k(i);
        return address + (k_contiguous ? outer * leading_dimension + k : outer + k * leading_dimension);
    }

    /* Elements of piece i that exist, when only the first k_left steps of the panel do. */
    __device__ int elements(int i, int k_left) const
    {
        const int outer = outer_left - share::outer(i), k = k_left - share::k0() - share::k(i);
        return outer <= 0 || k <= 0 ? 0 : min(share::width, k_contiguous ? k : outer);
    }

    template <bool guarded> __device__ void fetch_piece(float *target, int i, int elements)
    {
        if (holds) {
            const float *source = piece_address(i);
            float *value = &held[i * share::width];
            if (vector && (!guarded || elements == 4)) {
                *reinterpret_cast<float4 *>(value) = *reinterpret_cast<const float4 *>(source);
            } else {
#pragma unroll
                for (int e = 0; e < share::width; e++)
                    value[e] = !guarded || e < elements ? source[e] : 0;
            }
        } else {
            float *shared = target + share::k(i) * pitch + share::outer(i);
            if (guarded)
                copy_async<4 * share::width>(shared, piece_address(i), 4 * elements);
            else
                copy_async<4 * share::width>(shared, piece_address(i));
        }
    }

    /* Starts moving the next panel, of which only the first k_left steps exist. */
    __device__ void fetch(float *stage, int k_left)
    {
        float *target = stage + share::k0() * pitch + share::outer0();
        if (inside && k_left >= tile_k) {
#pragma unroll
            for (int i = 0; i < share::count; i++)
                fetch_piece<false>(target, i, share::width);
        } else {
#pragma unroll
            for (int i = 0; i < share::count; i++)
                fetch_piece<true>(target, i, elements(i, k_left));
        }
        address += panel_step;
    }

    /* Puts what waits in registers into the stage. */
    __device__ void store(float *stage) const
    {
        if (!holds)
            return;
        float *target = stage + share::k0() * pitch + share::outer0();
#pragma unroll
        for (int i = 0; i < share::count; i++)
#pragma unroll
            for (int e = 0; e < share::width; e++)
                target[(share::k(i) + (k_contiguous ? e : 0)) * pitch + share::outer(i) +
                       (k_contiguous ? 0 : e)] = held[i * share::width + e];
    }
};

/* A thread's share of the block's tile: where its first 4 x 4 piece lies. */
template <class shape> struct position {
    int row, column;

    __device__ position()
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        row = warp % shape::warps_m * shape::warp_m + lane % shape::lanes_m * 4;
        column = warp / shape::warps_m * shape::warp_n + lane / shape::lanes_m * 4;
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

template <int count, int apart>
__device__ inline void read_fragment(float (&fragment)[count], const float *shared)
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        *reinterpret_cast<float4 *>(&fragment[i]) = *reinterpret_cast<const float4 *>(shared + i / 4 * apart);
}

/* A thread's operands for one step of k. */
template <class shape> struct fragments {
    float a[shape::thread_m], b[shape::thread_n];

    __device__ void read(const float *stage, const position<shape> &at, int k)
    {
        read_fragment<shape::thread_m, shape::lanes_m * 4>(a, stage + k * shape::pitch_m + at.row);
        read_fragment<shape::thread_n, shape::lanes_n * 4>(b, stage + shape::tile_k * shape::pitch_m +
                                                                  k * shape::pitch_n + at.column);
    }

    __device__ void multiply(float (&sum)[shape::thread_n][shape::thread_m]) const
    {
#pragma unroll
        for (int j = 0; j < shape::thread_n; j++)
#pragma unroll
            for (int i = 0; i < shape::thread_m; i++)
                sum[j][i] = fmaf(a[i], b[j], sum[j][i]);
    }
};

/* Four neighbours of a column of C, of which the first `left` exist. */
__device__ inline void write_piece(const tb_problem &problem, float *c, const float *sum, int left,
                                   bool aligned)
{
    if (aligned && left >= 4) {
        const float4 old = problem.beta == 0 ? make_float4(0, 0, 0, 0) : *reinterpret_cast<float4 *>(c);
        *reinterpret_cast<float4 *>(c) =
            make_float4(tb::combine(problem, sum[0], &old.x), tb::combine(problem, sum[1], &old.y),
                        tb::combine(problem, sum[2], &old.z), tb::combine(problem, sum[3], &old.w));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < left)
                c[i] = tb::combine(problem, sum[i], c + i);
    }
}

template <class shape>
__device__ inline void write_tile(const tb_problem &problem,
                                  const float (&sum)[shape::thread_n][shape::thread_m], const tb::tile &tile,
                                  const position<shape> &at)
{
    const bool aligned = problem.ldc % 4 == 0 && reinterpret_cast<uintptr_t>(problem.c) % 16 == 0;
    const int64_t first_m = tile.m + at.row, first_n = tile.n + at.column;
    const int left_m = int(min(problem.m - first_m, int64_t(shape::tile_m)));
    const int left_n = int(min(problem.n - first_n, int64_t(shape::tile_n)));
    float *c = problem.c + first_m + first_n * problem.ldc;
#pragma unroll
    for (int j = 0; j < shape::thread_n; j++)
        if (at.n(j) < left_n)
#pragma unroll
            for (int i = 0; i < shape::thread_m; i += 4)
                write_piece(problem, c + at.m(i) + at.n(j) * problem.ldc, &sum[j][i], left_m - at.m(i),
                            aligned);
}

/* The part of the batch and of k that a block works on, as a problem of its own. */
__device__ inline tb_problem part_of_block(const tb_simt_arguments &arguments, unsigned part)
{
    tb_problem problem = arguments.problem;
    const int64_t batch = part / unsigned(arguments.splits), split = part % unsigned(arguments.splits);
    problem.a += batch * arguments.stride_a;
    problem.b += batch * arguments.stride_b;
    problem.c += batch * arguments.stride_c;
    if (arguments.splits > 1) {
        const int64_t first = split * arguments.chunk;
        problem.a += problem.transpose_a ? first : first * problem.lda;
        problem.b += problem.transpose_b ? first * problem.ldb : first;
        problem.k = min(problem.k - first, arguments.chunk);
        problem.c = arguments.partial + int64_t(part) * problem.m * problem.n;
        problem.ldc = problem.m;
        problem.alpha = 1;
        problem.beta = 0;
    }
    return problem;
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void sgemm(const tb_simt_arguments &arguments)
{
    extern __shared__ __align__(16) float stages[];
    constexpr int offset_b = shape::tile_k * shape::pitch_m;
    const unsigned tiles = gridDim.x / unsigned(arguments.batches * arguments.splits);
    const tb_problem problem = part_of_block(arguments, blockIdx.x / tiles);
    const tb::tile tile = tb::tile_at<shape::tile_m, shape::tile_n>(problem, blockIdx.x % tiles);
    const position<shape> at;

    loader<transpose_a, vector, shape::tile_m, shape::tile_k, shape::threads> a(problem.a, problem.lda,
                                                                                tile.m, problem.m);
    loader<!transpose_b, vector, shape::tile_n, shape::tile_k, shape::threads> b(problem.b, problem.ldb,
                                                                                 tile.n, problem.n);
    float sum[shape::thread_n][shape::thread_m] = {};

    int64_t k_left = problem.k; /* not yet fetched */
    float *read = stages, *write = stages;
    auto advance = [](float *&stage) {
        stage += shape::stage_floats;
        if (stage == stages + shape::stages * shape::stage_floats)
            stage = stages;
    };
    auto fetch = [&] {
        if (k_left > 0) {
            const int k = int(min(k_left, int64_t(shape::tile_k)));
            a.fetch(write, k);
            b.fetch(write + offset_b, k);
        }
        commit_copies();
    };
    auto store = [&] {
        if (k_left > 0) {
            a.store(write);
            b.store(write + offset_b);
        }
        k_left -= shape::tile_k;
        advance(write);
    };

    for (int i = 0; i < shape::stages - 1; i++) {
        fetch();
        store();
    }
    wait_for_copies<shape::stages - 2>();
    __syncthreads();
    fragments<shape> fragment[2];
    fragment[0].read(read, at, 0);
    for (int64_t step = 0; step < problem.k; step += shape::tile_k) {
        fetch();
#pragma unroll
        for (int k = 0; k < shape::tile_k; k++) {
            if (k + 1 < shape::tile_k) {
                fragment[(k + 1) % 2].read(read, at, k + 1);
            } else {
                /* The last fragments of this stage are in registers, so that it may be written again after
                 * the barrier; those of the next stage are read while the last are multiplied. */
                store();
                wait_for_copies<shape::stages - 2>();
                __syncthreads();
                advance(read);
                fragment[0].read(read, at, 0);
            }
            fragment[k % 2].multiply(sum);
        }
    }
    write_tile<shape>(problem, sum, tile, at);
}

} // namespace simt

#define TB_SIMT_STAMP(symbol, shape, transpose_a, transpose_b, vector)                                       \
    extern "C" __global__ void __launch_bounds__(shape::threads, shape::blocks)                              \
        symbol(const __grid_constant__ tb_simt_arguments arguments)                                          \
    {                                                                                                        \
        simt::sgemm<shape, transpose_a, transpose_b, vector>(arguments);                                     \
    }

/* The kernels of one shape: four transpositions, for operands of any alignment and for aligned ones. */
#define TB_SIMT_STAMP_ALL(name, shape)                                                                       \
    TB_SIMT_STAMP(name##_nn, shape, false, false, false)                                                     \
    TB_SIMT_STAMP(name##_nt, shape, false, true, false)                                                      \
    TB_SIMT_STAMP(name##_tn, shape, true, false, false)                                                      \
    TB_SIMT_STAMP(name##_tt, shape, true, true, false)                                                       \
    TB_SIMT_STAMP(name##_nn_vector, shape, false, false, true)                                               \
    TB_SIMT_STAMP(name##_nt_vector, shape, false, true, true)                                                \
    TB_SIMT_STAMP(name##_tn_vector, shape, true, false, true)                                                \
    TB_SIMT_STAMP(name##_tt_vector, shape, true, true, true)
