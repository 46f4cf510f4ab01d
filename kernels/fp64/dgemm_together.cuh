/* dgemm_mma where every warp copies and multiplies: copies stand between multiplications, and a block's warps meet once a stage.
 * The barrier of a stage stands before its last round, whose operands are in registers by then: after it the next stage is read,
 * and copies may overwrite this one.
 */
#pragma once

#include "kernels/fp64/dgemm_tile.cuh"
#include "kernels/dependent_launch.cuh"

namespace fp64
{

/* Copies of both operands' panels. They run ahead of the multiplication by all stages of the ring but one. */
template <class shape, class panel_a, class panel_b, bool vector> struct copies {
    loader<panel_a, shape::threads, vector, shape::through_l1> a;
    loader<panel_b, shape::threads, vector, shape::through_l1> b;
    const tb_dgemm_arguments &arguments;
    unsigned stage = 0; /* to be filled next */
    static constexpr int pieces = decltype(a)::count + decltype(b)::count;

    __device__ copies(const tb_dgemm_arguments &arguments, const tile &tile, int step)
        : a(tb_matrix_of(arguments.batches, TB_A, arguments.problem.a, tile.product), arguments.problem.lda,
            panel_a::outer_of(tile.m), panel_a::outer_of(arguments.problem.m), step, first_stage(),
            arguments.jump_a),
          b(tb_matrix_of(arguments.batches, TB_B, arguments.problem.b, tile.product), arguments.problem.ldb,
            panel_b::outer_of(tile.n), panel_b::outer_of(arguments.problem.n), step,
            first_stage() + shape::offset_b, arguments.jump_b),
          arguments(arguments)
    {
    }

    __device__ int steps_of_last_panel() const
    {
        return int(arguments.problem.k - (arguments.steps - 1) * shape::tile_k);
    }

    __device__ void advance()
    {
        simt::commit_copies();
        stage = stage == (shape::stages - 1) * shape::stage_bytes ? 0 : stage + shape::stage_bytes;
    }

    __device__ void note_end(const segment &part)
    {
        if (part.has_step(arguments.steps - 1, arguments.apart) && steps_of_last_panel() < shape::tile_k)
            a.mask |= a.short_end;
    }

    /* Called before the pieces of a further panel, which is ahead of what is multiplied by all stages but one. left: how many of
     * the chain's steps, or of what comes before them, are left. */
    __device__ void start_panel(int left)
    {
        if (left - (shape::stages - 1) == arguments.second_steps) {
            a.skip(arguments.to_second_a);
            b.skip(arguments.to_second_b);
        }
        if (left <= shape::stages) {
            if (left == shape::stages && a.mask & a.short_end) {
                const int last_k = steps_of_last_panel();
                a.start_guarded(stage, panel_a::steps_of(last_k));
                b.start_guarded(stage, panel_b::steps_of(last_k));
                left--;
            }
            if (left < shape::stages) {
                a.stop();
                b.stop();
            }
        }
        a.start_ragged(stage);
        b.start_ragged(stage);
    }

    __device__ void start_pieces(int first, int end)
    {
#pragma unroll
        for (int i = first; i < end; i++)
            if (i < decltype(a)::count)
                a.start_piece(stage, i);
            else
                b.start_piece(stage, i - decltype(a)::count);
    }
};

/* Copies stand between multiplications, which take longer than they do; a few at a time, since before each that does not
 * follow another one the assembler puts three instructions that do nothing. */
constexpr int copies_at_a_time = 4;

template <class shape> __device__ inline void wait_for_stage()
{
    simt::wait_for_copies<shape::stages - 2>();
    __syncthreads();
}

/* turns: every other round of 8 steps is added to `other` instead (takes_turns). */
template <bool turns, class shape, class panel_a, class panel_b, class copies>
__device__ inline void multiply_steps(sums<shape> &sum, sums<shape> &other, copies &ahead,
                                      const tb_dgemm &problem, int steps)
{
    using fragments_type = fragments<shape, panel_a, panel_b>;
    constexpr int last = fragments_type::last, of_round = fragments_type::multiplications,
                  multiplications = last * of_round; /* before the last round */
    constexpr int at_a_time =
        TB_DGEMM_LARGER(copies_at_a_time, (copies::pieces + multiplications - 1) / multiplications);
    fragments_type fragments(position<shape>(threadIdx.x), problem);
    fragments.read_first();
#pragma unroll 1
    for (int left = steps; left > 0; left--) {
        ahead.start_panel(left);
#pragma unroll
        for (int round = 0; round <= last; round++) {
            if (round == last) {
                ahead.advance();
                wait_for_stage<shape>();
                fragments.advance();
            }
            fragments.template multiply_round<true>(turns && round % 2 ? other : sum, round, [&](int i) {
                const int first = (round * of_round + i) * at_a_time;
                ahead.start_pieces(first, min(first + at_a_time, copies::pieces));
            });
        }
    }
}

/* What a block is doing, behind the ring, for when the main loop has left no register for it. */
struct work {
    segment part;
    tile at;
};
static_assert(sizeof(work) <= TB_DGEMM_WORK_BYTES, "it has room");

template <class shape> __device__ inline work &noted_work()
{
    return *reinterpret_cast<work *>(ring() + shape::stages * shape::stage_bytes / sizeof(double));
}

/* The sums of a chain. Where C ends inside the tile, warps that lie beyond it copy their share of the panels and multiply
 * nothing. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void accumulate(sums<shape> &sum, sums<shape> &total, const tb_dgemm_arguments &arguments,
                                  const work &own)
{
    using panel_a = panel_of_a<shape, transpose_a>;
    using panel_b = panel_of_b<shape, transpose_a, transpose_b>;
    const position<shape> at(threadIdx.x);
    const bool multiplies =
        own.at.m + at.row < arguments.problem.m && own.at.n + at.column < arguments.problem.n;
    copies<shape, panel_a, panel_b, vector> ahead(arguments, own.at, own.part.first);
    ahead.note_end(own.part);
#pragma unroll 1
    for (int left = own.part.count + shape::stages - 1; left > (multiplies ? own.part.count : 0); left--) {
        if (left <= own.part.count)
            wait_for_stage<shape>();
        ahead.start_panel(left);
        ahead.start_pieces(0, ahead.pieces);
        ahead.advance();
    }
    wait_for_stage<shape>();
    for_each_sum<shape>([&](int i, int j, int e) { sum[i][j][e] = 0; });
    const bool turns = takes_turns<shape>(own.part);
    if (turns)
        for_each_sum<shape>([&](int i, int j, int e) { total[i][j][e] = 0; });
    if (multiplies) {
        if (turns)
            multiply_steps<shape::has_totals, shape, panel_a, panel_b>(sum, total, ahead, arguments.problem,
                                                                       own.part.count);
        else
            multiply_steps<false, shape, panel_a, panel_b>(sum, total, ahead, arguments.problem,
                                                           own.part.count);
    }
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm_together(const tb_dgemm_arguments &arguments)
{
    dependent_launch::wait();
    if (is_spared(arguments.problem))
        return;
    sums<shape> total; /* where there is room */
    for (int done = 0;;) {
        work next;
        next.part = segment_after(arguments, done);
        if (next.part.count == 0)
            return;
        next.at = locate_tile(arguments, next.part.tile);
        if (done > 0)
            __syncthreads(); /* before the stages are filled again */
        if (threadIdx.x == 0)
            noted_work<shape>() = next;
        sums<shape> sum;
        accumulate<shape, transpose_a, transpose_b, vector>(sum, total, arguments, next);
        const work &own = noted_work<shape>();
        if (shape::has_totals)
            for_each_sum<shape>([&](int i, int j, int e) {
                sum[i][j][e] += takes_turns<shape>(own.part) || own.part.chain > 0 ? total[i][j][e] : 0;
                total[i][j][e] = sum[i][j][e];
            });
        if (shape::is_complex)
            for_each_sum<shape>([&](int i, int j, int e) {
                if (e >= 2) /* the lane's second row, imaginary parts */
                    sum[i][j][e] = with_bits(sum[i][j][e], arguments.problem.conjugate_sums, 0);
            });
        if (!shape::has_totals || own.part.ends_run()) {
            const position<shape> at(rematerialized::thread());
            if (shape::slices > 1)
                slices<shape>(rematerialized::thread()).add_up(sum, at.slice);
            if (shape::shares_tiles && arguments.cluster > 1 && !tb_dgemm_has_tile(&arguments, &own.part))
                write_together<shape>(output_to_c(arguments, own.at), sum, at, arguments.cluster);
            else
                write_tile<shape>(output_of(arguments, own.part, own.at, !shape::has_totals), sum, at);
        }
        done += own.part.count;
    }
}

} // namespace fp64
