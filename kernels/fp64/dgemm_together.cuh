/* dgemm_mma where every warp copies and multiplies: copies stand between multiplications, and a block's warps meet once a stage.
 * The barrier of a stage stands before its last round, whose operands are in registers by then: after it the next stage is read,
 * and copies may overwrite this one.
 */
#pragma once

#include "kernels/fp64/dgemm_tile.cuh"
#include "kernels/turn.cuh"

namespace fp64
{

/* Copies of both operands' panels. They run ahead of the multiplication by all stages of the ring but one. */
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

    /* The chain's first panels. */
    __device__ void fill_ring(const segment &part)
    {
        int64_t k_left = arguments.problem.k - int64_t(part.first()) * shape::tile_k;
#pragma unroll 1
        for (int i = 0; i < shape::stages - 1; i++, k_left -= int64_t(arguments.chains) * shape::tile_k) {
            if (i < part.count) {
                const int existing = int(min(k_left, int64_t(shape::tile_k)));
                a.start_guarded(stage, existing);
                b.start_guarded(stage, existing);
            }
            advance();
        }
        if (part.has_step(arguments.steps - 1) && steps_of_last_panel() < shape::tile_k)
            a.mask |= a.short_end;
    }

    /* Before the pieces of a further panel; so many steps have not been multiplied yet. */
    __device__ void start_panel(int left)
    {
        if (left <= shape::stages) {
            if (left == shape::stages && a.mask & a.short_end) {
                const int last_k = steps_of_last_panel();
                a.start_guarded(stage, last_k);
                b.start_guarded(stage, last_k);
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

template <class shape, class panel_a, class panel_b, class copies>
__device__ inline void multiply_steps(sums<shape> &sum, copies &ahead, int steps)
{
    using fragments_type = fragments<shape, panel_a, panel_b>;
    constexpr int last = fragments_type::last, of_round = fragments_type::multiplications,
                  multiplications = last * of_round; /* before the last round */
    constexpr int at_a_time =
        TB_DGEMM_LARGER(copies_at_a_time, (copies::pieces + multiplications - 1) / multiplications);
    fragments_type fragments(position<shape>(threadIdx.x));
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
            fragments.template multiply_round<true>(sum, round, [&](int i) {
                const int first = (round * of_round + i) * at_a_time;
                ahead.start_pieces(first, min(first + at_a_time, copies::pieces));
            });
        }
    }
}

/* The sums of a chain. Where C ends inside the tile, warps that lie beyond it copy their share of the panels and multiply
 * nothing. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void accumulate(sums<shape> &sum, const tb_dgemm_arguments &arguments, const segment &part)
{
    using panel_a = panel_of_a<shape, transpose_a>;
    using panel_b = panel_of_b<shape, transpose_a, transpose_b>;
    const tile tile = locate_tile(arguments, part.tile);
    copies<shape, panel_a, panel_b, vector> ahead(arguments, tile, part.first());
    ahead.fill_ring(part);
    for_each_sum<shape>([&](int i, int j, int e) { sum[i][j][e] = 0; });
    wait_for_stage<shape>();

    const position<shape> at(threadIdx.x);
    if (tile.m + at.row < arguments.problem.m && tile.n + at.column < arguments.problem.n) {
        multiply_steps<shape, panel_a, panel_b>(sum, ahead, part.count);
        return;
    }
    for (int left = part.count; left > 0; left--) {
        ahead.start_panel(left);
        ahead.start_pieces(0, ahead.pieces);
        ahead.advance();
        wait_for_stage<shape>();
    }
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm_together(const tb_dgemm_arguments &arguments)
{
    turn::take();
    if (is_spared(arguments.problem))
        return;
    sums<shape> total; /* where there is room */
    for (int done = 0, count = segment_after(arguments, 0).count; count > 0;) {
        sums<shape> sum;
        accumulate<shape, transpose_a, transpose_b, vector>(sum, arguments, segment_after(arguments, done));
        const segment part = segment_after(arguments, done);
        if (shape::has_totals)
            for_each_sum<shape>([&](int i, int j, int e) {
                sum[i][j][e] += part.chain > 0 ? total[i][j][e] : 0;
                total[i][j][e] = sum[i][j][e];
            });
        if (!shape::has_totals || part.ends_run()) {
            const position<shape> at(again::thread());
            if (shape::slices > 1)
                slices<shape>(again::thread()).add_up(sum, at.slice);
            if (shape::shares_tiles && arguments.cluster > 1 && !tb_dgemm_has_tile(&arguments, &part))
                write_together<shape>(output_to_c(arguments, locate_tile(arguments, part.tile)), sum, at,
                                      arguments.cluster);
            else
                write_tile<shape>(output_of(arguments, part, !shape::has_totals), sum, at);
        }
        done += part.count;
        count = segment_after(arguments, done).count;
        if (count > 0)
            __syncthreads(); /* before the stages are filled again */
    }
}

} // namespace fp64
