/* dgemm_mma: FP64 products from the FP64 tensor cores of sm_80 and sm_90, operands through a ring of shared-memory stages.
 * One template; shapes.def has a row for each shape of tile.
 *
 *              tile_n                block  a grid of warps over the tile; of such grids, `slices`
 *         +----+----+----+----+      warp   16 x 16 to 64 x 32 of C: bands of 16 rows, each times all
 *  tile_m | w0 | w1 | w2 | w3 |             columns, by mma.sync; 8 to 64 sums a thread
 *         +----+----+----+----+      stage  a panel of A and one of B, tile_k steps; filled by cp.async, the
 *         | w4 | w5 | w6 | w7 |             ring's other stages ahead
 *         +----+----+----+----+      k      all of a block's steps in one sum for each slice, in their order;
 *                                           a slice has its share of every stage, and the slices' sums
 *                                           meet in shared memory
 *
 * A warp's mma.sync of 16 x 8 x 16 keeps its quarter of a multiprocessor's tensor cores busy for 64 clocks; what has to be
 * seen to is that the next one's operands are there. A's fragments are kept twice: a band's are read while the band before
 * it is multiplied. B's are kept once: as the last band has used those of eight columns, the next 16 steps' are read into
 * them, so that sums of 64 x 32 and fragments fit into 255 registers. The barrier of a stage stands before its last band, whose
 * operands are in registers by then: after it the next stage is read, and copies may overwrite this one.
 */
#pragma once

#include "kernels/again.cuh"
#include "kernels/fp64/output.cuh"
#include "kernels/fp64/panel.cuh"
#include "kernels/turn.cuh"

namespace fp64
{

constexpr int mma_m = 16, mma_n = 8, mma_k = 16;

/* Code for other chips is empty. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1000)
constexpr bool runs = false;
#else
constexpr bool runs = true;
#endif

template <int tile_m_, int tile_n_, int tile_k_, int warps_m_, int warps_n_, int slices_, int stages_,
          int blocks_>
struct shape {
    static constexpr int tile_m = tile_m_, tile_n = tile_n_, tile_k = tile_k_;
    static constexpr int warps_m = warps_m_, warps_n = warps_n_, slices = slices_;
    static constexpr int stages = stages_, blocks = blocks_;
    static constexpr int threads = TB_DGEMM_THREADS(warps_m, warps_n, slices);
    static constexpr int warp_m = tile_m / warps_m, warp_n = tile_n / warps_n, slice_k = tile_k / slices;
    static constexpr int bands = warp_m / mma_m, pieces_n = warp_n / mma_n, rounds = slice_k / mma_k;
    static constexpr int stage_bytes = TB_DGEMM_STAGE_BYTES(tile_m, tile_n, tile_k);
    static constexpr int offset_b = 8 * TB_DGEMM_PANEL_DOUBLES(tile_m, tile_k, TB_DGEMM_PAD_K_A);
    static_assert(bands * rounds % 2 == 0, "a stage ends with the fragments that it began with");
    static_assert(warp_m % mma_m == 0 && warp_n % mma_n == 0 && slice_k % mma_k == 0,
                  "fragments cover the tile");
    static_assert(slices == 1 || slices * tile_m * tile_n * 8 <= stages * stage_bytes,
                  "the ring has room for the slices' sums");
    static_assert(pieces_n % slices == 0, "slices share the columns of a tile evenly");
};

#define TB_DGEMM_SHAPE(name, tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, blocks, ...)          \
    struct shape_##name : shape<tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, blocks> {          \
    };
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE

template <class shape> using sums = double[shape::bands][shape::pieces_n][4];

/* A warp's place in the tile and in a stage, and a lane's numbers g and q: see panel.cuh. */
template <class shape> struct position {
    int row, column, slice, g, q;

    __device__ explicit position(int thread)
        : row(thread / 32 / shape::warps_n % shape::warps_m * shape::warp_m),
          column(thread / 32 % shape::warps_n * shape::warp_n),
          slice(thread / 32 / (shape::warps_n * shape::warps_m)), g(thread % 32 / 4), q(thread % 4)
    {
    }
};

/* The part of a tile's steps that a block does without interruption. Step 0 is the last panel along k, which may be a short
 * one: coming first, it needs no guard in the main loop, and the panels after it keep the alignment of the operand. */
struct segment {
    int64_t tile, piece;
    int first, count; /* steps */
};

/* What this block does after so many of its steps; count is 0 where that is all. It has a whole tile, or one of the pieces
 * into which the steps of the other tiles are dealt. Found anew wherever it is wanted, as the main loop has no register left. */
__device__ inline segment segment_after(const tb_dgemm_arguments &arguments, int done)
{
    const int64_t block = again::block(), piece = block - arguments.whole;
    if (piece < 0)
        return {block, 0, 0, int(arguments.steps) - done};
    const int64_t step = tb_simt_first(piece, arguments.dealt, arguments.pieces) + done;
    const int64_t end = tb_simt_first(piece + 1, arguments.dealt, arguments.pieces);
    const int64_t tile = step / arguments.steps;
    const int first = int(step - tile * arguments.steps);
    return {arguments.whole + tile, piece, first, int(min(arguments.steps - first, end - step))};
}

/* Copies of both operands' panels. They run ahead of the multiplication by all stages of the ring but one. */
template <class shape, class panel_a, class panel_b, bool vector> struct copies {
    loader<panel_a, shape::threads, vector> a;
    loader<panel_b, shape::threads, vector> b;
    unsigned stage = 0; /* to be filled next */
    static constexpr int pieces = decltype(a)::count + decltype(b)::count;

    __device__ copies(const tb_dgemm &problem, const tile &tile)
        : a(problem.a, problem.lda, tile.m, problem.m, simt::first_stage()),
          b(problem.b, problem.ldb, tile.n, problem.n, simt::first_stage() + shape::offset_b)
    {
    }

    __device__ void skip(int64_t panels)
    {
        a.skip(panels);
        b.skip(panels);
    }

    __device__ void advance()
    {
        simt::commit_copies();
        stage = stage == (shape::stages - 1) * shape::stage_bytes ? 0 : stage + shape::stage_bytes;
    }

    /* The segment's first panels. */
    __device__ void fill_ring(const segment &part, int64_t steps, int64_t k)
    {
        skip(part.first == 0 ? steps - 1 : part.first - 1);
        int k_left = part.first == 0 ? int(k - (steps - 1) * shape::tile_k) : shape::tile_k;
#pragma unroll 1
        for (int i = 0; i < shape::stages - 1; i++) {
            if (i < part.count) {
                a.start_guarded(stage, k_left);
                b.start_guarded(stage, k_left);
            }
            if (i == 0 && part.first == 0) {
                skip(-steps);
                k_left = shape::tile_k;
            }
            advance();
        }
    }

    /* Before the pieces of a further panel; so many steps have not been multiplied yet. */
    __device__ void start_panel(int left)
    {
        if (left < shape::stages) {
            a.stop();
            b.stop();
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

/* What a warp has of one stage: bands * rounds times pieces_n multiplications. */
template <class shape, class panel_a, class panel_b> struct fragments {
    static constexpr int bands = shape::bands * shape::rounds;
    double a[2][8], b[shape::pieces_n][4];
    unsigned first_a, first_b; /* the lane's place in the first stage */
    unsigned stage = 0;
    unsigned together; /* all lanes, but the assembler does not know that */

    __device__ explicit fragments(const position<shape> &at)
        : first_a(simt::first_stage() + 8 * panel_a::at(at.row + 2 * at.g, at.slice * shape::slice_k + at.q)),
          first_b(simt::first_stage() + shape::offset_b +
                  8 * panel_b::at(at.column + at.g, at.slice * shape::slice_k + at.q)),
          together(__activemask())
    {
        simt::keep(first_a);
        simt::keep(first_b);
    }

    __device__ void read_a(int band)
    {
        load_a<panel_a>(a[band % 2], first_a + stage, band % shape::bands * mma_m,
                        band / shape::bands * mma_k);
    }

    __device__ void read_b(int j, int band)
    {
        load_b<panel_b>(b[j], first_b + stage, j * mma_n, band / shape::bands * mma_k);
    }

    __device__ void advance()
    {
        stage = stage == (shape::stages - 1) * shape::stage_bytes ? 0 : stage + shape::stage_bytes;
    }

    /* A band, beside what the next one needs: `between` does what else is to be done after the j-th of its
     * multiplications. B's fragments are read anew where the next band is of other steps, one
     * multiplication after their last use. Warps meet for the assembler's sake: it moves no access to
     * shared memory past that. Left free, it puts the reading of two bands behind the last multiplication
     * before them. */
    template <class function> __device__ void multiply_band(sums<shape> &sum, int band, function between)
    {
        const int next = (band + 1) % bands;
        const bool reads_b = next % shape::bands == 0;
#pragma unroll
        for (int j = 0; j < shape::pieces_n; j++) {
            multiply(sum[band % shape::bands][j], a[band % 2], b[j]);
            if (j == 0) {
                read_a(next);
                __syncwarp(together);
            }
            if (reads_b && j > 0)
                read_b(j - 1, next);
            between(j);
        }
        if (reads_b)
            read_b(shape::pieces_n - 1, next);
    }
};

template <class shape> __device__ inline void wait_for_stage()
{
    simt::wait_for_copies<shape::stages - 2>();
    __syncthreads();
}

template <class shape, class panel_a, class panel_b, class copies>
__device__ inline void multiply_steps(sums<shape> &sum, copies &ahead, int steps)
{
    using fragments_type = fragments<shape, panel_a, panel_b>;
    constexpr int last = fragments_type::bands - 1,
                  multiplications = last * shape::pieces_n; /* before the last band */
    constexpr int at_a_time =
        TB_DGEMM_LARGER(copies_at_a_time, (copies::pieces + multiplications - 1) / multiplications);
    fragments_type fragments(position<shape>(threadIdx.x));
    fragments.read_a(0);
#pragma unroll
    for (int j = 0; j < shape::pieces_n; j++)
        fragments.read_b(j, 0);
#pragma unroll 1
    for (int left = steps; left > 0; left--) {
        ahead.start_panel(left);
#pragma unroll
        for (int band = 0; band <= last; band++) {
            if (band == last) {
                ahead.advance();
                wait_for_stage<shape>();
                fragments.advance();
            }
            fragments.multiply_band(sum, band, [&](int j) {
                const int first = (band * shape::pieces_n + j) * at_a_time;
                ahead.start_pieces(first, min(first + at_a_time, copies::pieces));
            });
        }
    }
}

/* The sums of one segment. Where C ends inside the tile, warps that lie beyond it copy their share of the panels and multiply
 * nothing. */
template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void accumulate(sums<shape> &sum, const tb_dgemm_arguments &arguments, const segment &part)
{
    using panel_a = panel<shape::tile_m, shape::tile_k, transpose_a, TB_DGEMM_PAD_K_A>;
    using panel_b = panel<shape::tile_n, shape::tile_k, !transpose_b, TB_DGEMM_PAD_K_B>;
    const tb_dgemm &problem = arguments.problem;
    const tile tile = locate_tile(arguments, part.tile);
    copies<shape, panel_a, panel_b, vector> ahead(problem, tile);
    ahead.fill_ring(part, arguments.steps, problem.k);
#pragma unroll
    for (int i = 0; i < shape::bands * shape::pieces_n * 4; i++)
        sum[i / 4 / shape::pieces_n][i / 4 % shape::pieces_n][i % 4] = 0;
    wait_for_stage<shape>();

    const position<shape> at(threadIdx.x);
    if (tile.m + at.row < problem.m && tile.n + at.column < problem.n) {
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

/* Where the slices' sums meet in shared memory, and which of a tile's columns a slice adds up and writes. */
template <class shape> struct slices {
    static constexpr int sums_of_column = shape::bands * 4, share = shape::pieces_n / shape::slices;
    double *first; /* of the lane's, in slice 0 */

    __device__ explicit slices(int thread)
    {
        extern __shared__ __align__(16) float stages[];
        constexpr int warps = shape::threads / 32 / shape::slices;
        first = reinterpret_cast<double *>(stages) +
                thread / 32 % warps * shape::pieces_n * sums_of_column * 32 + thread % 32;
    }

    __device__ double &place(int slice, int j, int i, int e) const
    {
        constexpr int sums_of_slice = shape::tile_m * shape::tile_n;
        return first[slice * sums_of_slice + (j * sums_of_column + i * 4 + e) * 32];
    }

    static __device__ bool has(int slice, int j)
    {
        return shape::slices == 1 || j / share == slice;
    }

    /* In the order of the slices, so that the bits are the same in every run. Afterwards a warp has the
     * tile's sums of its slice's columns, and of the others what it had. */
    __device__ void add_up(sums<shape> &sum, int slice) const
    {
        const auto for_each = [&](bool own, auto function) {
#pragma unroll
            for (int j = 0; j < shape::pieces_n; j++)
                if (has(slice, j) == own)
#pragma unroll
                    for (int i = 0; i < sums_of_column; i++)
                        function(j, i / 4, i % 4);
        };
        __syncthreads();
        for_each(false, [&](int j, int i, int e) { place(slice, j, i, e) = sum[i][j][e]; });
        __syncthreads();
        for_each(true, [&](int j, int i, int e) {
            double total = 0;
#pragma unroll
            for (int other = 0; other < shape::slices; other++)
                total += other == slice ? sum[i][j][e] : place(other, j, i, e);
            sum[i][j][e] = total;
        });
    }
};

/* Writes a thread's share of a tile. Of eight columns all old elements are read before the first is written, since no read
 * can overtake a write to what might be the same address. */
template <class shape>
__device__ inline void write_tile(const output &out, const sums<shape> &sum, const position<shape> &at)
{
    const bool aligned = out.is_aligned();
    const int row = at.row + 2 * at.g, column = at.column + 2 * at.q;
    double *c = out.c + row + column * out.ldc;
#pragma unroll
    for (int j = 0; j < shape::pieces_n; j++, c += mma_n * out.ldc) {
        if (!slices<shape>::has(at.slice, j))
            continue;
        const span rows[2] = {span_of(out, row, column + j * mma_n),
                              span_of(out, row, column + j * mma_n + 1)};
        double2 old[shape::bands][2];
#pragma unroll
        for (int e = 0; e < 2; e++)
#pragma unroll
            for (int i = 0; i < shape::bands; i++)
                old[i][e] = read_pair(out, c + e * out.ldc + i * mma_m, rows[e].from(i * mma_m), aligned);
#pragma unroll
        for (int e = 0; e < 2; e++)
#pragma unroll
            for (int i = 0; i < shape::bands; i++)
                write_pair(out, c + e * out.ldc + i * mma_m, sum[i][j][e], sum[i][j][2 + e], old[i][e],
                           rows[e].from(i * mma_m), aligned);
    }
}

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm(const tb_dgemm_arguments &arguments)
{
    turn::take();
    for (int done = 0, count = segment_after(arguments, 0).count; count > 0;) {
        sums<shape> sum;
        accumulate<shape, transpose_a, transpose_b, vector>(sum, arguments, segment_after(arguments, done));
        const position<shape> at(again::thread());
        if (shape::slices > 1)
            slices<shape>(again::thread()).add_up(sum, at.slice);
        const segment part = segment_after(arguments, done);
        const output out = part.count < arguments.steps
                               ? output_to_slot(arguments, tb_simt_slot(part.piece, part.first == 0))
                               : output_to_c(arguments, locate_tile(arguments, part.tile));
        write_tile<shape>(out, sum, at);
        done += part.count;
        count = segment_after(arguments, done).count;
        if (count > 0)
            __syncthreads(); /* before the stages are filled again */
    }
}

} // namespace fp64

#define TB_DGEMM_STAMP(symbol, shape, transpose_a, transpose_b, vector)                                      \
    extern "C" __global__ void __launch_bounds__(shape::threads, shape::blocks)                              \
        symbol(const __grid_constant__ tb_dgemm_arguments arguments)                                         \
    {                                                                                                        \
        if constexpr (fp64::runs)                                                                            \
            fp64::dgemm<shape, transpose_a, transpose_b, vector>(arguments);                                 \
    }

/* The kernels of one shape: four transpositions, for operands of any alignment and for such as can be copied 16 bytes at a
 * time. */
#define TB_DGEMM_STAMP_ALL(name, shape)                                                                      \
    TB_DGEMM_STAMP_WIDTH(name, , shape, false)                                                               \
    TB_DGEMM_STAMP_WIDTH(name, _vector, shape, true)

#define TB_DGEMM_STAMP_WIDTH(name, suffix, shape, vector)                                                    \
    TB_DGEMM_STAMP(name##_nn##suffix, shape, false, false, vector)                                           \
    TB_DGEMM_STAMP(name##_nt##suffix, shape, false, true, vector)                                            \
    TB_DGEMM_STAMP(name##_tn##suffix, shape, true, false, vector)                                            \
    TB_DGEMM_STAMP(name##_tt##suffix, shape, true, true, vector)
