/* The SIMT family: FP32 fused multiply-adds from registers, operands through a ring of shared-memory stages.
 * One template; shapes.def has a row for each shape of tile.
 *
 *              n  tile_n                     block  `slices` groups of warps, each a grid over the tile; a
 *         +-------------------+                     group multiplies its share of every stage
 *  m      |  warp   |  warp   |              warp   lanes_m x lanes_n lanes, each thread_m x thread_n of C
 *  tile_m |---------+---------|                     in 4 x 4 pieces that are lanes_m * 4 and lanes_n * 4
 *         |  warp   |  warp   |                     apart
 *         +-------------------+              k      tile_k a stage; while one stage is multiplied, copies of
 *                                                   the next ones are in flight (cp.async, sm_80 and later)
 *                                                   or wait in registers (what has to be turned; sm_75)
 *
 * With 128 lanes a multiprocessor issues one FMA for each of its schedulers a cycle, so whatever else is
 * issued costs FMAs. Hence large thread tiles, copies spread over the multiplications instead of a burst
 * that leaves the schedulers without an FMA to issue, and no guard in the main loop but a bit mask.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/simt/panel.cuh"
#include "kernels/simt/write.cuh"
#include "kernels/dependent_launch.cuh"

namespace simt
{

/* With a longer k, old elements of C asked for at the start would be gone from L2 when they are wanted. */
static constexpr int ASK_FOR_OLD_K = 2048;

/* A thread's `count` elements of one operand along the outer dimension, in pieces of four that lie `lanes` * 4 apart, for the
 * present step of k and the next: from a panel of columns a step at a time, from one of rows four. */
template <class layout, int count, int lanes> struct fragment {
    static constexpr bool by_rows = layout::by_rows;
    static constexpr int steps = by_rows ? 4 : 1;
    alignas(16) float value[2][count * steps];
    unsigned address; /* shared address of the first element in the first stage */

    /* of the thread's first element along the outer dimension, in the panel that begins at so many floats */
    __device__ fragment(int panel, int slice, int outer)
        : address(first_stage() + 4 * (panel + slice * layout::floats + layout::at(outer, 0)))
    {
        keep(address);
    }

    template <int k> __device__ float at(int i) const
    {
        return value[k / steps % 2][by_rows ? i * 4 + k % 4 : i];
    }

    /* Before step k, if it needs that. */
    template <int k> __device__ void read(unsigned stage)
    {
        if (k % steps == 0)
#pragma unroll
            for (int i = 0; i < count; i += by_rows ? 1 : 4)
                *reinterpret_cast<float4 *>(&value[k / steps % 2][i * steps]) =
                    load_shared(address + stage + 4 * layout::at(i / 4 * lanes * 4 + i % 4, k));
    }
};

/* The multiplications of step k. Back and forth along one operand, so that from one FMA to the next the other one stays the
 * same and comes from the register file's reuse cache: it cannot deliver three new registers a cycle. What stays is the
 * operand that is held by rows: its registers for one step are all even, or all odd, and so would meet C's in one bank. */
template <class shape, int k, class fragment_a, class fragment_b>
__device__ inline void multiply(sums<shape> &sum, const fragment_a &a, const fragment_b &b)
{
    constexpr bool a_stays = fragment_a::by_rows || !fragment_b::by_rows;
    constexpr int count = a_stays ? shape::thread_m : shape::thread_n;
    constexpr int along = a_stays ? shape::thread_n : shape::thread_m;
#pragma unroll
    for (int x = 0; x < count; x++)
#pragma unroll
        for (int step = 0; step < along; step++) {
            const int y = x % 2 ? along - 1 - step : step;
            const int i = a_stays ? x : y, j = a_stays ? y : x;
            sum.at[i][j] = fmaf(a.template at<k>(i), b.template at<k>(j), sum.at[i][j]);
        }
}

/* Does what is to be done for one operand beside step k of a stage's multiplications. A piece that waits in
 * registers is put into its stage just before the registers are needed for the next panel's: a whole stage
 * of multiplications hides the way from global memory. Asynchronous copies come a few at a time, since before each
 * that does not follow another one the assembler puts three instructions that do nothing. */
template <class shape, int i = 0, class loader>
__device__ inline void move_pieces(loader &from, unsigned stage, unsigned stage_before, int k)
{
    constexpr int at_a_time = loader::holds ? 1 : loader::width == 4 ? 4 : shape::words_at_a_time;
    if (i / at_a_time * at_a_time * shape::slice_k / loader::count == k) {
        from.store(stage_before, i);
        from.template fetch<i>(stage);
    }
    if constexpr (i + 1 < loader::count)
        move_pieces<shape, i + 1>(from, stage, stage_before, k);
}

/* All steps that a tile needs. */
__device__ inline tb_simt_segment whole_tile(const tb_simt_arguments &arguments, int number)
{
    if (leaves_out_zeros && arguments.order.zeros)
        return tb_simt_needed(&arguments, number);
    return {number, 0, int(arguments.steps), 0, 0};
}

template <int value_> struct constant {
    static constexpr int value = value_;
};

/* use(constant<0>()), use(constant<1>()), ... Unrolled so, a long loop takes fewer registers than by #pragma unroll. */
template <int count, int i = 0, class function> __device__ inline void unroll(function use)
{
    use(constant<i>());
    if constexpr (i + 1 < count)
        unroll<count, i + 1>(use);
}

/* A slice's threads wait for each other, and for no other slice. */
template <class shape> __device__ inline void meet_in_slice(int slice)
{
    if (shape::slices == 1)
        __syncthreads();
    else if (shape::slice_threads == 32)
        __syncwarp();
    else
        meet<shape::slice_threads>(slice + 1);
}

/* Stages that are left when a chain ends that begins with so many: see simt.h. */
template <class shape> __device__ inline int end_of_chain(int left)
{
    constexpr int least = TB_SIMT_CHAIN_LEAST / shape::slice_k, most = TB_SIMT_CHAIN_MOST / shape::slice_k;
    if (left <= 2 * most)
        return left <= least ? 0 : left / 2;
    int chain = most;
    for (int64_t many = TB_SIMT_CHAIN_MANY / shape::slice_k; left >= many; many *= 4)
        chain *= 2;
    return left - chain;
}

/* A thread's totals in shared memory, behind the stages: what its sums were when their chains were cut. They are read four
 * pieces at a time, whose ways overlap, to where fragments are in the loop; by registers of their own, since sums that had to
 * lie in aligned quads would meet in one bank. */
template <class shape> struct totals {
    static constexpr int quads = shape::thread_m * shape::thread_n / 4, at_a_time = 4;

    static __device__ unsigned address(int quad)
    {
        return first_stage() + 4 * (shape::stages * shape::stage_floats +
                                    4 * (shape::threads * quad + rematerialized::thread()));
    }

    static __device__ float *of(sums<shape> &sum, int quad)
    {
        return &sum.at[4 * quad / shape::thread_n][4 * quad % shape::thread_n];
    }

    /* use(the totals of a quad, its sums, its number) */
    template <class function> static __device__ void visit(sums<shape> &sum, bool first, function use)
    {
#pragma unroll
        for (int i = 0; i < quads; i += at_a_time) {
            float4 old[at_a_time] = {};
            if (!first)
#pragma unroll
                for (int j = 0; j < at_a_time; j++)
                    old[j] = load_shared(address(i + j));
#pragma unroll
            for (int j = 0; j < at_a_time; j++)
                use(old[j], of(sum, i + j), i + j);
        }
    }

    static __device__ void add(sums<shape> &sum, bool first)
    {
        visit(sum, first, [](const float4 &old, float *sums, int quad) {
            const float total[4] = {old.x + sums[0], old.y + sums[1], old.z + sums[2], old.w + sums[3]};
            store_shared<4>(address(quad), total);
            sums[0] = sums[1] = sums[2] = sums[3] = 0;
        });
    }

    static __device__ void take(sums<shape> &sum)
    {
        visit(sum, false, [](const float4 &old, float *sums, int) {
            sums[0] = old.x + sums[0];
            sums[1] = old.y + sums[1];
            sums[2] = old.z + sums[2];
            sums[3] = old.w + sums[3];
        });
    }
};

/* Where C ends inside the tile, warps that lie beyond it copy their share of the panels and leave the multiplications
 * to the others, and so the schedulers. */
template <class shape, class loader_a, class loader_b>
__device__ inline void accumulate(sums<shape> &sum, loader_a &a, loader_b &b, const tb_simt_segment &part,
                                  int64_t steps, int64_t k, bool ascends, const extent &existing,
                                  bool has_totals)
{
    const position<shape> at(threadIdx.x);
    fragment<typename loader_a::layout, shape::thread_m, shape::lanes_m> fragment_a(0, at.slice, at.row);
    fragment<typename loader_b::layout, shape::thread_n, shape::lanes_n> fragment_b(shape::offset_b, at.slice,
                                                                                    at.column);
    constexpr unsigned stage_bytes = 4 * shape::stage_floats, offset_b = 4 * shape::offset_b;
    /* Where the panel of step 0 begins, and that of step 1: see tb_simt_segment. */
    const int64_t short_k = k - (steps - 1) * shape::tile_k;
    const int64_t of_0 = ascends ? 0 : k - short_k,
                  of_1 = ascends ? short_k : int64_t(part.left_out) * shape::tile_k;
    const int64_t first_k = part.first == 0 ? of_0 : of_1 + int64_t(part.first - 1) * shape::tile_k;
    a.skip(first_k);
    b.skip(first_k);
    int k_left = part.first == 0 ? int(short_k) : shape::tile_k;

    unsigned read = 0, write = 0, write_before = 0;
    auto advance = [](unsigned &stage) {
        stage = stage == (shape::stages - 1) * stage_bytes ? 0 : stage + stage_bytes;
    };

    /* The last of the first panels may wait in registers as all later ones do; those before it go straight to their stages,
     * where the device can, so that they arrive together. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    constexpr bool directly = false;
#else
    constexpr bool directly = true;
#endif
#pragma unroll 1
    for (int i = 0; i < shape::ahead; i++) {
        if (i > 0 && !directly) {
            a.store(write_before);
            b.store(write_before + offset_b);
        }
        if (i < part.count) {
            if (directly && i < shape::ahead - 1) {
                a.fetch_guarded_directly(write, k_left);
                b.fetch_guarded_directly(write + offset_b, k_left);
            } else {
                a.fetch_guarded(write, k_left);
                b.fetch_guarded(write + offset_b, k_left);
            }
        }
        if (i == 0 && part.first == 0) {
            a.skip(of_1 - shape::tile_k - of_0);
            b.skip(of_1 - shape::tile_k - of_0);
            k_left = shape::tile_k;
        }
        commit_copies();
        write_before = write;
        advance(write);
    }
    wait_for_copies<shape::ahead - 1>();
    meet_in_slice<shape>(at.slice);

    auto go_through = [&](auto multiplies) {
        constexpr bool multiplying = decltype(multiplies)::value;
        if (multiplying) {
            fragment_a.template read<0>(read);
            fragment_b.template read<0>(read);
        }
        auto go_through_chain = [&](int &left, int end) {
            for (; left > end; left--) {
                if (left <= shape::ahead) {
                    a.stop();
                    b.stop();
                }
                a.fetch_ragged(write);
                b.fetch_ragged(write + offset_b);
                unroll<shape::slice_k>([&](auto step) {
                    constexpr int k = decltype(step)::value;
                    move_pieces<shape>(a, write, write_before, k);
                    move_pieces<shape>(b, write + offset_b, write_before + offset_b, k);
                    if (k + 1 == shape::slice_k) {
                        /* The last fragments of this stage are in registers, so that it may be written again after
                     * the barrier; those of the next stage are read while the last are multiplied. */
                        commit_copies();
                        wait_for_copies<shape::ahead - 1>();
                        meet_in_slice<shape>(at.slice);
                        advance(read);
                        write_before = write;
                        advance(write);
                    }
                    constexpr int next = (k + 1) % shape::slice_k;
                    if (multiplying) {
                        fragment_a.template read<next>(read);
                        fragment_b.template read<next>(read);
                        multiply<shape, k>(sum, fragment_a, fragment_b);
                    }
                });
            }
        };
        int left = part.count;
        if constexpr (shape::cuts_chains) {
            bool cut = false;
            while (true) {
                go_through_chain(left, has_totals ? end_of_chain<shape>(left) : 0);
                if (left == 0)
                    break;
                if (multiplying)
                    totals<shape>::add(sum, !cut);
                cut = true;
            }
            if (multiplying && cut)
                totals<shape>::take(sum);
        } else {
            go_through_chain(left, 0);
        }
    };
    if (__any_sync(0xffffffff, at.row < existing.rows && at.column < existing.columns))
        go_through(constant<1>());
    else
        go_through(constant<0>());
}

/* The sums of one segment. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void accumulate(sums<shape> &sum, const tb_simt_arguments &arguments,
                                  const tb_simt_segment &part)
{
    const tb_sgemm &problem = arguments.problem;
    const tile tile = locate_tile(arguments, part.tile, shape::tile_m, shape::tile_n);
    constexpr bool by_rows = shape::by_rows && vector;
    constexpr bool vector_along_k = vector && !shape::by_words(transpose_a, transpose_b);
    loader<transpose_a, transpose_a ? vector_along_k : vector, by_rows && transpose_a, shape::tile_m,
           shape::tile_k, shape::slices, shape::slice_threads>
        a(tb_matrix_of(arguments.batches, TB_A, problem.a, tile.product), problem.lda, tile.m, problem.m,
          arguments.jump_a);
    loader<!transpose_b, transpose_b ? vector : vector_along_k, by_rows && !transpose_b, shape::tile_n,
           shape::tile_k, shape::slices, shape::slice_threads>
        b(tb_matrix_of(arguments.batches, TB_B, problem.b, tile.product), problem.ldb, tile.n, problem.n,
          arguments.jump_b);
    accumulate<shape>(sum, a, b, part, arguments.steps, problem.k, arguments.ascending,
                      existing_of(problem, tile, shape::tile_m, shape::tile_n), arguments.totals);
}

/* Computes one segment, for C if it is all of its tile, else for the cluster or the second pass. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void compute(const tb_simt_arguments &arguments, const tb_simt_segment &part)
{
    const bool has_tile = (leaves_out_zeros && arguments.order.zeros) || part.count >= arguments.steps;
    const int slot =
        has_tile ? -1 : int(tb_workspace_slot(int64_t(blockIdx.x) - arguments.whole, part.first == 0));
    sums<shape> sum;
    accumulate<shape, transpose_a, transpose_b, vector>(sum, arguments, part);
    /* Found anew, what is wanted from here on takes no registers before. */
    const position<shape> at(rematerialized::thread());
    if (shape::slices > 1)
        add_slices<shape>(sum, at);
    if constexpr (shape::clusters)
        if (arguments.cluster > 1 && slot >= 0) {
            const tile tile = locate_tile_again(arguments, part.tile, shape::tile_m, shape::tile_n);
            write_together<shape>(output_to_c(arguments, tile), sum, arguments.cluster);
            return;
        }
    if (at.slice > 0)
        return;
    const output out =
        slot >= 0
            ? output_to_slot(arguments, slot)
            : output_to_c(arguments, locate_tile_again(arguments, part.tile, shape::tile_m, shape::tile_n));
    write_tile<shape>(out, sum, at);
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void sgemm(const tb_simt_arguments &arguments)
{
    dependent_launch::wait();
    /* A whole tile, or one of the pieces into which the steps of the other tiles are dealt. */
    const bool whole = blockIdx.x < arguments.whole;
    if (arguments.problem.beta != 0 && whole && arguments.steps <= ASK_FOR_OLD_K / shape::tile_k)
        ask_for_old<shape::tile_m, shape::tile_n, shape::threads>(
            output_to_c(arguments, locate_tile_again(arguments, blockIdx.x, shape::tile_m, shape::tile_n)));
    tb_simt_segment part = whole ? whole_tile(arguments, int(blockIdx.x))
                                 : tb_simt_begin(&arguments, blockIdx.x - arguments.whole);
    while (true) {
        compute<shape, transpose_a, transpose_b, vector>(arguments, part);
        if (part.behind == 0)
            break;
        __syncthreads(); /* before the stages are filled again */
        part = tb_simt_continue(&arguments, &part);
    }
}

} // namespace simt

#define TB_SIMT_STAMP(symbol, shape, transpose_a, transpose_b, vector)                                       \
    extern "C" __global__ void __launch_bounds__(shape::threads, shape::blocks)                              \
        symbol(const __grid_constant__ tb_simt_arguments arguments)                                          \
    {                                                                                                        \
        if constexpr (shape::runs)                                                                           \
            simt::sgemm<shape, transpose_a, transpose_b, vector>(arguments);                                 \
    }

/* The kernels of one shape: four transpositions, for operands of any alignment and for aligned ones. */
#define TB_SIMT_STAMP_ALL(name, shape)                                                                       \
    TB_SIMT_STAMP_WIDTH(name, , shape, false)                                                                \
    TB_SIMT_STAMP_WIDTH(name, _vector, shape, true)

#define TB_SIMT_STAMP_WIDTH(name, suffix, shape, vector)                                                     \
    TB_SIMT_STAMP(name##_nn##suffix, shape, false, false, vector)                                            \
    TB_SIMT_STAMP(name##_nt##suffix, shape, false, true, vector)                                             \
    TB_SIMT_STAMP(name##_tn##suffix, shape, true, false, vector)                                             \
    TB_SIMT_STAMP(name##_tt##suffix, shape, true, true, vector)
