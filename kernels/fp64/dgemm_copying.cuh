/* dgemm_mma where some warps copy and the others multiply. Nothing but multiplying stands between two multiplications of a warp;
 * warps wait for stages, not for each other, and copies run ahead past the ends of chains and tiles.
 *
 * Behind its panels a stage of the ring has two barriers: full, at which the copying threads arrive as their copies do, and
 * empty, at which each multiplying warp arrives when it has read its last fragments, before its last round.
 */
#pragma once

#include "kernels/fp64/dgemm_tile.cuh"
#include "kernels/dependent_launch.cuh"

namespace fp64
{

/* Waits for a barrier in a warp that multiplies next: its lanes have to be together for that. */
__device__ inline void barrier_wait_together(unsigned barrier, unsigned parity)
{
    barrier_wait(barrier, parity);
    __syncwarp();
}

/* A warp's place in the ring: the stage, as its offset in bytes, and the parity of the phases that its barriers are in. */
template <class shape> struct ring_place {
    unsigned stage = 0, parity = 0;

    __device__ unsigned full() const
    {
        return first_stage() + stage + shape::barriers;
    }
    __device__ unsigned empty() const
    {
        return full() + 8;
    }
    __device__ void advance()
    {
        stage += shape::stage_bytes;
        if (stage == shape::stages * shape::stage_bytes) {
            stage = 0;
            parity ^= 1;
        }
    }
};

template <class shape> __device__ inline void init_ring(int thread)
{
    if (thread < shape::stages) {
        const unsigned full = first_stage() + thread * shape::stage_bytes + shape::barriers;
        barrier_init(full, shape::copying * 32);
        barrier_init(full + 8, shape::warps);
    }
    __syncthreads();
}

/* Copying threads keep few of the registers with which a block is launched, and the others share what they give away. Were it
 * launched with fewer, the others would wait for ever: tests/ptxas sees to that. */
template <class shape> struct registers {
    static constexpr int at_launch = TB_DGEMM_REGISTERS_AT_LAUNCH(shape::threads, shape::blocks),
                         kept = shape::has_totals ? 40 : 24;
    static constexpr int taken = (at_launch + (at_launch - kept) * shape::copying / shape::warps) / 8 * 8;

    static __device__ void give_away()
    {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kept));
#endif
    }
    static __device__ void take()
    {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(taken));
#endif
    }
};

/* Copies one operand's panels: `count` pieces a copying thread, of `width` elements each, in lines from end to end. */
template <class panel, int threads, bool vector> struct panel_source {
    static constexpr int width = vector ? 2 : 1, of_line = panel::line / width; /* pieces */
    static constexpr int at_a_time = threads / of_line, count = panel::lines / at_a_time;
    static_assert(threads % of_line == 0 && panel::lines % (4 * at_a_time) == 0,
                  "threads share a panel evenly, in fours of pieces");

    const char *address; /* of the thread's first piece of the next panel */
    const int64_t &ld;   /* among the kernel's arguments, so that it takes no register */
    unsigned target;     /* shared address of the first piece in the first stage */
    int outer_left; /* rows or columns from the thread's first one on; where all of the panel's exist, as many as it has */

    static __device__ int first_line()
    {
        return threadIdx.x % threads / of_line;
    }
    static __device__ int first_in_line()
    {
        return threadIdx.x % of_line * width;
    }

    /* Panels of the rows or columns from `outer` on, the first at a step of k. */
    __device__ panel_source(const double *operand, const int64_t &ld, int64_t outer, int64_t extent,
                            int64_t step, unsigned first)
        : ld(ld)
    {
        const int own_outer = panel::k_contiguous ? first_line() : first_in_line();
        const int own_k = panel::k_contiguous ? first_in_line() : first_line();
        const int64_t k = step * panel::tile_k + own_k;
        address = reinterpret_cast<const char *>(
            operand + (panel::k_contiguous ? (outer + own_outer) * ld + k : outer + own_outer + k * ld));
        target = first + 8 * panel::at(own_outer, own_k);
        const int existing = int(min(extent - outer, int64_t(panel::tile_outer)));
        outer_left = existing == panel::tile_outer ? existing : existing - own_outer;
    }

    /* The next panel, of which so many steps of k exist; beyond them, and beyond the operand, it is zero. */
    __device__ void start(unsigned stage, int k_left)
    {
        constexpr int apart = 8 * panel::pitch * at_a_time;
        const int64_t line = 8 * at_a_time * ld;
        const char *piece = address;
        unsigned to = target + stage;
        if (outer_left == panel::tile_outer && k_left >= panel::tile_k) {
#pragma unroll
            for (int i = 0; i < count; i += vector ? 4 : 1, piece += (vector ? 4 : 1) * line)
                if (vector)
                    copy_four_async<apart>(to + apart * i, piece, piece + line, piece + 2 * line,
                                           piece + 3 * line);
                else
                    copy_async_if<8, true>(1, to + apart * i, reinterpret_cast<const double *>(piece));
            return;
        }
        k_left -= panel::k_contiguous ? first_in_line() : first_line();
        const int valid = 8 * max(0, min(width, panel::k_contiguous ? k_left : outer_left));
        int lines_left = panel::k_contiguous ? outer_left : k_left;
#pragma unroll 2
        for (int i = 0; i < count; i++, piece += line, to += apart, lines_left -= at_a_time)
            copy_async<8 * width, true>(to, reinterpret_cast<const double *>(piece),
                                        lines_left > 0 ? valid : 0);
    }

    /* Past so many steps. */
    __device__ void skip(int steps)
    {
        address += 8 * int64_t(steps) * panel::tile_k * (panel::k_contiguous ? 1 : ld);
    }
};

/* The copying warps' part of a chain. */
template <class shape, class panel_a, class panel_b, bool vector>
__device__ inline void copy_chain(const tb_dgemm_arguments &arguments, const segment &part,
                                  ring_place<shape> &place)
{
    const tb_dgemm &problem = arguments.problem;
    const tile tile = locate_tile(arguments, part.tile);
    panel_source<panel_a, 32 * shape::copying, vector> a(
        tb_matrix_of(arguments.batches, TB_A, problem.a, tile.product), problem.lda, tile.m, problem.m,
        part.first, first_stage());
    panel_source<panel_b, 32 * shape::copying, vector> b(
        tb_matrix_of(arguments.batches, TB_B, problem.b, tile.product), problem.ldb, tile.n, problem.n,
        part.first, first_stage() + shape::offset_b);
    int step = part.first;
#pragma unroll 1
    for (int left = part.count; left > 0; left--, step += arguments.apart) {
        const int existing = int(min(problem.k - int64_t(step) * shape::tile_k, int64_t(shape::tile_k)));
        barrier_wait(place.empty(), place.parity ^ 1);
        a.start(place.stage, existing);
        b.start(place.stage, existing);
        barrier_arrive_after_copies(place.full());
        place.advance();
        a.skip(arguments.apart);
        b.skip(arguments.apart);
    }
}

template <class shape> __device__ inline void give_back(const ring_place<shape> &place)
{
    __syncwarp();
    if (rematerialized::thread() % 32 == 0)
        barrier_arrive(place.empty());
}

/* A stage of a chain; where it is not the last one, the next stage's first fragments are read at its end. */
template <bool last_of_chain, class shape, class panel_a, class panel_b>
__device__ inline void multiply_stage(sums<shape> &sum, fragments<shape, panel_a, panel_b> &fragments,
                                      ring_place<shape> &place)
{
    constexpr int last = fragments.last;
#pragma unroll
    for (int round = 0; round < last; round++)
        fragments.template multiply_round<true>(sum, round, [](int) {});
    give_back(place);
    place.advance();
    fragments.stage = place.stage;
    if (!last_of_chain)
        barrier_wait_together(place.full(), place.parity);
    fragments.template multiply_round<!last_of_chain>(sum, last, [](int) {});
}

/* A multiplying warp's part of a chain. Where C ends inside the tile, warps that lie beyond it multiply nothing. Lanes
 * may come apart from writing what the chain before made. */
template <class shape, class panel_a, class panel_b>
__device__ inline void multiply_chain(sums<shape> &sum, const tb_dgemm_arguments &arguments,
                                      const segment &part, ring_place<shape> &place)
{
    __syncwarp();
    const tile tile = locate_tile(arguments, part.tile);
    const position<shape> at(rematerialized::thread());
    for_each_sum<shape>([&](int i, int j, int e) { sum[i][j][e] = 0; });
    if (tile.m + at.row >= arguments.problem.m || tile.n + at.column >= arguments.problem.n) {
        for (int left = part.count; left > 0; left--) {
            barrier_wait(place.full(), place.parity);
            give_back(place);
            place.advance();
        }
        return;
    }
    fragments<shape, panel_a, panel_b> fragments(at, arguments.problem);
    barrier_wait_together(place.full(), place.parity);
    fragments.stage = place.stage;
    fragments.read_first();
#pragma unroll 1
    for (int left = part.count; left > 1; left--)
        multiply_stage<false>(sum, fragments, place);
    multiply_stage<true>(sum, fragments, place);
}

template <class shape, class panel_a, class panel_b, bool vector>
__device__ inline void copy(const tb_dgemm_arguments &arguments)
{
    ring_place<shape> place;
    for (int done = 0;;) {
        const segment part = segment_after(arguments, done);
        if (part.count == 0)
            break;
        done += part.count;
        copy_chain<shape, panel_a, panel_b, vector>(arguments, part, place);
    }
    wait_for_all_copies(); /* no thread ends with copies on their way */
}

template <class shape, class panel_a, class panel_b>
__device__ inline void multiply_and_write(const tb_dgemm_arguments &arguments)
{
    ring_place<shape> place;
    sums<shape> total; /* where there is room */
    for (int done = 0, count = segment_after(arguments, 0).count; count > 0;) {
        sums<shape> sum;
        multiply_chain<shape, panel_a, panel_b>(sum, arguments, segment_after(arguments, done), place);
        const segment part = segment_after(arguments, done);
        if (shape::has_totals)
            for_each_sum<shape>([&](int i, int j, int e) {
                sum[i][j][e] += part.chain > 0 ? total[i][j][e] : 0;
                total[i][j][e] = sum[i][j][e];
            });
        if (!shape::has_totals || part.ends_run())
            write_tile<shape>(
                output_of(arguments, part, locate_tile(arguments, part.tile), !shape::has_totals), sum,
                position<shape>(rematerialized::thread()));
        done += part.count;
        count = segment_after(arguments, done).count;
    }
}

/* The two kinds of warps part for good: only so does the assembler count their registers apart. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm_copying(const tb_dgemm_arguments &arguments)
{
    using panel_a = panel_of_a<shape, transpose_a>;
    using panel_b = panel_of_b<shape, transpose_a, transpose_b>;
    init_ring<shape>(threadIdx.x);
    dependent_launch::wait();
    if (is_spared(arguments.problem))
        return;
    if (threadIdx.x >= 32 * shape::warps) {
        registers<shape>::give_away();
        copy<shape, panel_a, panel_b, vector>(arguments);
    } else {
        registers<shape>::take();
        multiply_and_write<shape, panel_a, panel_b>(arguments);
    }
}

} // namespace fp64
