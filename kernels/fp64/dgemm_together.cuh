/* dgemm_mma where every warp copies and multiplies: copies stand between multiplications, and a block's warps meet once a stage.
 * The barrier of a stage stands before its last round, whose operands are in registers by then: after it the next stage is read,
 * and copies may overwrite this one.
 */
#pragma once

#include "kernels/fp64/dgemm_tile.cuh"
#include "kernels/turn.cuh"

namespace fp64
{

/* Copies of both operands' panels. They run ahead of the multiplication by all stages of the ring but one, and from chain to chain
 * of a run where chains are that long. */
template <class shape, class panel_a, class panel_b, bool vector> struct copies {
    loader<panel_a, shape::threads, vector> a;
    loader<panel_b, shape::threads, vector> b;
    const tb_dgemm_arguments &arguments;
    unsigned stage = 0; /* to be filled next */
    static constexpr int pieces = decltype(a)::count + decltype(b)::count;

    __device__ copies(const tb_dgemm_arguments &arguments, const tile &tile, int step)
        : a(tb_matrix_of(arguments.batches, TB_A, arguments.problem.a, tile.product), arguments.problem.lda,
            tile.m, arguments.problem.m, step, first_stage(), arguments.jump_a),
          b(tb_matrix_of(arguments.batches, TB_B, arguments.problem.b, tile.product), arguments.problem.ldb,
            tile.n, arguments.problem.n, step, first_stage() + shape::offset_b, arguments.jump_b),
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

    /* Of the chain whose panels are copied: what its end is like. */
    __device__ void note_end(const segment &part)
    {
        if (part.has_step(arguments.steps - 1) && steps_of_last_panel() < shape::tile_k)
            a.mask |= a.short_end;
        if (part.goes_on(shape::stages))
            a.mask |= a.goes_on;
    }

    __device__ int left_of_a(const tile &tile) const
    {
        return a.outer_left(tile.m, arguments.problem.m);
    }
    __device__ int left_of_b(const tile &tile) const
    {
        return b.outer_left(tile.n, arguments.problem.n);
    }

    __device__ void start_guarded(const tile &tile, int k_left)
    {
        a.start_guarded(stage, k_left, left_of_a(tile));
        b.start_guarded(stage, k_left, left_of_b(tile));
    }

    /* The chain's first panels. */
    __device__ void fill_ring(const tile &tile, const segment &part)
    {
        int64_t k_left = arguments.problem.k - int64_t(part.first()) * shape::tile_k;
#pragma unroll 1
        for (int i = 0; i < shape::stages - 1; i++, k_left -= int64_t(arguments.chains) * shape::tile_k) {
            if (i < part.count && k_left >= shape::tile_k) {
                start_ragged();
                start_pieces(0, pieces);
            } else if (i < part.count) {
                start_guarded(tile, int(k_left));
            }
            advance();
        }
        note_end(part);
        if (part.count < shape::stages)
            stop();
    }

    __device__ void stop()
    {
        a.stop();
        b.stop();
    }

    __device__ void start_ragged() const
    {
        a.start_ragged(stage);
        b.start_ragged(stage);
    }

    __device__ tile tile_of(int done) const
    {
        return locate_tile(arguments, segment_after(arguments, done).tile);
    }

    /* Before the pieces of a further panel, while the chain is multiplied that begins behind so many of the block's steps, of which
     * `left` are not yet. */
    __device__ void start_panel(int done, int left)
    {
        if (left == shape::stages && a.mask & a.short_end) {
            start_guarded(tile_of(done), steps_of_last_panel());
            stop();
        } else if (left == shape::stages - 1) {
            if (a.mask & a.goes_on) {
                const int steps = segment_after(arguments, done).count;
                a.turn_back(steps, left_of_a(tile_of(done)));
                b.turn_back(steps, left_of_b(tile_of(done)));
                note_end(segment_after(arguments, done + steps));
            } else {
                stop();
            }
        }
        start_ragged();
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

template <class shape, class panel_a, class panel_b, class copies>
__device__ inline void multiply_steps(sums<shape> &sum, copies &ahead, int done, int steps)
{
    using fragments_type = fragments<shape, panel_a, panel_b>;
    constexpr int last = fragments_type::last, of_round = fragments_type::multiplications,
                  multiplications = last * of_round; /* before the last round */
    constexpr int at_a_time =
        TB_DGEMM_LARGER(copies_at_a_time, (copies::pieces + multiplications - 1) / multiplications);
    fragments_type fragments(position<shape>(again::thread()));
    fragments.take_stage_after(ahead.stage);
    fragments.read_first();
#pragma unroll 1
    for (int left = steps; left > 0; left--) {
        ahead.start_panel(done, left);
#pragma unroll
        for (int round = 0; round <= last; round++) {
            if (round == last) {
                ahead.advance();
                wait_for_stage<shape>();
                fragments.take_stage_after(ahead.stage);
            }
            fragments.template multiply_round<true>(sum, round, [&](int i) {
                const int first = (round * of_round + i) * at_a_time;
                ahead.start_pieces(first, min(first + at_a_time, copies::pieces));
            });
        }
    }
}

/* The sums of the chain that begins behind so many of the block's steps. Where C ends inside the tile, warps that lie beyond it copy
 * their share of the panels and multiply nothing. */
template <class shape, class panel_a, class panel_b, class copies>
__device__ inline void multiply_chain(sums<shape> &sum, copies &ahead, const tb_dgemm_arguments &arguments,
                                      int done)
{
    for_each_sum<shape>([&](int i, int j, int e) { sum[i][j][e] = 0; });
    const segment part = segment_after(arguments, done);
    const tile tile = locate_tile(arguments, part.tile);
    const position<shape> at(again::thread());
    if (tile.m + at.row < arguments.problem.m && tile.n + at.column < arguments.problem.n) {
        multiply_steps<shape, panel_a, panel_b>(sum, ahead, done, part.count);
        return;
    }
    for (int left = part.count; left > 0; left--) {
        ahead.start_panel(done, left);
        ahead.start_pieces(0, ahead.pieces);
        ahead.advance();
        wait_for_stage<shape>();
    }
}

/* What becomes of a chain's sums. */
template <class shape>
__device__ inline void end_chain(sums<shape> &sum, sums<shape> &total, const tb_dgemm_arguments &arguments,
                                 const segment &part)
{
    if (shape::has_totals)
        for_each_sum<shape>([&](int i, int j, int e) {
            sum[i][j][e] += part.chain > 0 ? total[i][j][e] : 0;
            total[i][j][e] = sum[i][j][e];
        });
    if (shape::has_totals && !part.ends_run())
        return;
    const position<shape> at(again::thread());
    if (shape::slices > 1)
        slices<shape>(again::thread()).add_up(sum, at.slice);
    if (shape::shares_tiles && arguments.cluster > 1 && !tb_dgemm_has_tile(&arguments, &part))
        write_together<shape>(output_to_c(arguments, locate_tile(arguments, part.tile)), sum, at,
                              arguments.cluster);
    else
        write_tile<shape>(output_of(arguments, part, !shape::has_totals), sum, at);
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm_together(const tb_dgemm_arguments &arguments)
{
    using panel_a = panel_of_a<shape, transpose_a>;
    using panel_b = panel_of_b<shape, transpose_a, transpose_b>;
    turn::take();
    if (is_spared(arguments.problem))
        return;
    sums<shape> total; /* where there is room */
    for (int done = 0, count = segment_after(arguments, 0).count; count > 0;) {
        const segment first = segment_after(arguments, done);
        const tile tile = locate_tile(arguments, first.tile);
        copies<shape, panel_a, panel_b, vector> ahead(arguments, tile, first.first());
        ahead.fill_ring(tile, first);
        wait_for_stage<shape>();
        for (bool goes_on = true; goes_on;) {
            sums<shape> sum;
            multiply_chain<shape, panel_a, panel_b>(sum, ahead, arguments, done);
            const segment part = segment_after(arguments, done);
            end_chain<shape>(sum, total, arguments, part);
            done += part.count;
            goes_on = part.goes_on(shape::stages);
        }
        count = segment_after(arguments, done).count;
        if (count > 0)
            __syncthreads(); /* before the stages are filled again */
    }
}

} // namespace fp64
