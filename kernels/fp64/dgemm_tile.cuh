/* A tile of C in dgemm_mma: the shapes, a block's part of the steps of tiles, the fragments that a warp multiplies, and the way
 * of its sums out. Which warps copy is not known here.
 */
#pragma once

#include "kernels/rematerialized.cuh"
#include "kernels/cluster.cuh"
#include "kernels/fp64/output.cuh"
#include "kernels/fp64/panel.cuh"
#include "kernels/fp64/shapes.h"

namespace fp64
{

constexpr int mma_m = 16, mma_n = 8, mma_k = 8;

/* Code for other chips is empty; and before 9.0 that of warps that copy, as they could not hand their registers over. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1000)
template <class shape> constexpr bool runs = false;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <class shape> constexpr bool runs = shape::copying == 0;
#else
template <class shape> constexpr bool runs = true;
#endif

template <int tile_m_, int tile_n_, int tile_k_, int warps_m_, int warps_n_, int slices_, int copying_,
          int stages_, int blocks_, bool through_l1_, bool totals_, bool complex_ = false>
struct shape {
    static constexpr bool is_complex = complex_;
    static constexpr int tile_m = tile_m_, tile_n = tile_n_, tile_k = tile_k_;
    static constexpr int warps_m = warps_m_, warps_n = warps_n_, slices = slices_;
    static constexpr int copying = copying_, stages = stages_, blocks = blocks_;
    static constexpr int threads = TB_DGEMM_THREADS(warps_m, warps_n, slices, copying);
    static constexpr int warp_m = tile_m / warps_m, warp_n = tile_n / warps_n, slice_k = tile_k / slices;
    static constexpr int bands = warp_m / mma_m, pieces_n = warp_n / mma_n, rounds = slice_k / mma_k;
    static constexpr bool has_totals = totals_, through_l1 = through_l1_;
    static constexpr int rows_in_a = is_complex ? tile_m / 2 : tile_m; /* as if it were real */
    static constexpr int stage_bytes = TB_DGEMM_STAGE_BYTES(rows_in_a, tile_n, tile_k, copying);
    static constexpr int offset_b = TB_DGEMM_PANEL_A_BYTES(rows_in_a, tile_k, copying);
    static constexpr int barriers = offset_b + TB_DGEMM_PANEL_B_BYTES(tile_n, tile_k, copying);
    static constexpr int warps = warps_m * warps_n * slices; /* that multiply */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr bool shares_tiles = false;
#else
    static constexpr bool shares_tiles = TB_DGEMM_SHARES_TILES(tile_m, tile_n, copying, stages *stage_bytes);
#endif
    static_assert(rounds % 2 == 0, "a stage ends with the fragments that it began with");
    static_assert(warp_m % mma_m == 0 && warp_n % (2 * mma_n) == 0 && slice_k % (2 * mma_k) == 0,
                  "fragments cover the tile, and warps begin where 128 bytes of a line do");
    static_assert(copying > 0 || slices * tile_m * tile_n * 8 <= stages * stage_bytes,
                  "the ring has room for the slices' sums");
    static_assert(copying > 0 || (stage_bytes % 128 == 0 && offset_b % 128 == 0),
                  "panels begin where the swizzle does");
    static_assert(pieces_n % slices == 0, "slices share the columns of a tile evenly");
    static_assert(!is_complex || copying == 0, "warps that copy alone know real panels");
};

#define TB_DGEMM_STRUCT(name, alignment, tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, stages,  \
                        blocks, through_l1, totals, ...)                                                     \
    struct shape_##name : shape<tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, stages, blocks,   \
                                through_l1, totals> {                                                        \
    };
#define TB_DGEMM_SHAPE(...) TB_DGEMM_BY_NAMES(TB_DGEMM_STRUCT, __VA_ARGS__)
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE

#define TB_ZGEMM_STRUCT(name, tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, blocks, through_l1,  \
                        totals, ...)                                                                         \
    struct shape_complex_##name : shape<tile_m, tile_n, tile_k, warps_m, warps_n, slices, 0, stages, blocks, \
                                        through_l1, totals, true> {                                          \
    };
#define TB_ZGEMM_SHAPE(...) TB_ZGEMM_BY_NAMES(TB_ZGEMM_STRUCT, __VA_ARGS__)
#include "kernels/fp64/shapes_complex.def"
#undef TB_ZGEMM_SHAPE

template <class shape> using sums = double[shape::bands][shape::pieces_n][4];

template <class shape, bool transpose_a>
using panel_of_a =
    std::conditional_t<shape::is_complex, complex_panel<shape::tile_m, shape::tile_k, transpose_a, true>,
                       panel<shape::tile_m, shape::tile_k, transpose_a, 2, (shape::copying > 0),
                             shape::copying == 0 && !transpose_a>>;
template <class shape, bool transpose_a, bool transpose_b>
using panel_of_b =
    std::conditional_t<shape::is_complex, complex_panel<shape::tile_n, shape::tile_k, !transpose_b, false>,
                       panel<shape::tile_n, shape::tile_k, !transpose_b, 1, (shape::copying > 0),
                             shape::copying == 0 && !transpose_a>>;

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

template <class shape, class function_type> __device__ inline void for_each_sum(function_type function)
{
#pragma unroll
    for (int i = 0; i < shape::bands * shape::pieces_n * 4; i++)
        function(i / 4 / shape::pieces_n, i / 4 % shape::pieces_n, i % 4);
}

/* See dgemm_mma.h. */
struct segment : tb_dgemm_segment {
    __device__ bool ends_run() const
    {
        return chain == chains - 1;
    }
    /* where steps are so far apart */
    __device__ bool has_step(int64_t step, int apart) const
    {
        return first + int64_t(count - 1) * apart >= step;
    }
};

/* Whether a run that is one chain has two sums nevertheless, which take the rounds of 8 steps in turn: where threads have
 * registers for totals, of which there are none then. Of so few steps cuBLAS has several sums, too, where C is small. Threads of
 * blocks in which others copy have the registers no more once the loop is there twice. */
template <class shape> __device__ inline bool takes_turns(const segment &part)
{
    return shape::has_totals && shape::copying == 0 && part.chains == 1;
}

/* What this block does after so many of its steps. Found anew wherever it is wanted, as the main loop has no register left. */
__device__ inline segment segment_after(const tb_dgemm_arguments &arguments, int done)
{
    return {tb_dgemm_segment_after(&arguments, rematerialized::block(), done)};
}

/* Where a chain's sums go. totals_there: what the run's earlier chains left there is added to them, and alpha comes to the last
 * sum alone, so that C = alpha * sum whichever way the sum came about. */
__device__ inline output output_of(const tb_dgemm_arguments &arguments, const segment &part, const tile &at,
                                   bool totals_there)
{
    output out = tb_dgemm_has_tile(&arguments, &part)
                     ? output_to_c(arguments, at)
                     : output_to_slot(arguments, tb_workspace_slot(part.piece, part.run_first == 0));
    if (totals_there) {
        out.has_total = part.chain > 0;
        if (!part.ends_run())
            out.alpha = 1;
    }
    return out;
}

/* What a warp has of one stage: `rounds` of 8 steps, bands times pieces_n multiplications each. Fragments are kept twice: those
 * of a round are read while the round before it is multiplied, into registers that no multiplication under way reads, for which
 * the reading would wait. */
template <class shape, class panel_a, class panel_b> struct fragments {
    static constexpr int multiplications = shape::bands * shape::pieces_n, last = shape::rounds - 1;
    double a[2][shape::bands][4], b[2][shape::pieces_n][2];
    unsigned first_a, first_b; /* the lane's place in the first stage */
    unsigned stage = 0;
    const tb_dgemm &problem;

    __device__ fragments(const position<shape> &at, const tb_dgemm &problem)
        : first_a(first_stage() +
                  8 * panel_a::at(panel_a::outer_of(at.row + 2 * at.g),
                                  panel_a::steps_of(at.slice * shape::slice_k + at.q * panel_a::first_step))),
          first_b(first_stage() + shape::offset_b +
                  8 * panel_b::at(panel_b::outer_of(at.column + at.g),
                                  panel_b::steps_of(at.slice * shape::slice_k + at.q * panel_b::first_step))),
          problem(problem)
    {
        simt::keep(first_a);
        simt::keep(first_b);
    }

    __device__ void read_a(int band, int round)
    {
        load_a<panel_a>(a[round % 2][band], first_a + stage, band * mma_m, round * mma_k);
    }

    __device__ void read_b(int j, int round)
    {
        load_b<panel_b>(b[round % 2][j], first_b + stage, j * mma_n, round * mma_k);
    }

    /* Fragments are read in the order in which they are wanted: the first band's, all of B's, the other bands'. */
    __device__ void read(int number, int round)
    {
        if (number == 0)
            read_a(0, round);
        else if (number <= shape::pieces_n)
            read_b(number - 1, round);
        else if (number < shape::pieces_n + shape::bands)
            read_a(number - shape::pieces_n, round);
    }

    __device__ void read_first()
    {
#pragma unroll
        for (int i = 0; i < shape::bands + shape::pieces_n; i++)
            read(i, 0);
    }

    __device__ void advance()
    {
        stage = stage == (shape::stages - 1) * shape::stage_bytes ? 0 : stage + shape::stage_bytes;
    }

    /* Makes of complex numbers, as they were read, what they stand for; called before the first multiplication of a band, or of a
     * column of B. */
    __device__ void complete(int band, int j, int round)
    {
        if (shape::is_complex && j == 0)
            complete_a(a[round % 2][band], problem.conjugate_b & 1);
        if (shape::is_complex && band == 0)
            b[round % 2][j][1] = with_bits(b[round % 2][j][1], problem.conjugate_b, 0);
    }

    /* A round and, if it reads, beside it what the next one needs: `between` does what else is to be done after the i-th of its
     * multiplications. */
    template <bool reads, class function>
    __device__ void multiply_round(sums<shape> &sum, int round, function between)
    {
        constexpr int fragments = shape::bands + shape::pieces_n,
                      at_a_time = (fragments + multiplications - 1) / multiplications;
        const int next = (round + 1) % shape::rounds;
#pragma unroll
        for (int i = 0; i < multiplications; i++) {
            const int band = i / shape::pieces_n, j = i % shape::pieces_n;
            complete(band, j, round);
            multiply(sum[band][j], a[round % 2][band], b[round % 2][j]);
#pragma unroll
            for (int number = i * at_a_time; reads && number < (i + 1) * at_a_time; number++)
                read(number, next);
            between(i);
        }
    }
};

/* Where the slices' sums meet in shared memory, and which of a tile's columns a slice adds up and writes. */
template <class shape> struct slices {
    static constexpr int sums_of_column = shape::bands * 4, share = shape::pieces_n / shape::slices;
    double *first; /* of the lane's, in slice 0 */

    __device__ explicit slices(int thread)
    {
        constexpr int warps = shape::threads / 32 / shape::slices;
        first = ring() + thread / 32 % warps * shape::pieces_n * sums_of_column * 32 + thread % 32;
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

    /* Adds in the order of the slices, so that the bits are the same in every run. Afterwards a warp has the
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

/* A thread's share of a tile that is all of C's, in pairs of 16 bytes. Of eight columns all old elements are read before the
 * first is written, since no read can overtake a write to what might be the same address. */
template <class shape>
__device__ inline void write_whole_tile(const output &out, const sums<shape> &sum, const position<shape> &at)
{
    double2 *c = reinterpret_cast<double2 *>(out.c + at.row + 2 * at.g + (at.column + 2 * at.q) * out.ldc);
    const int64_t column = out.ldc / 2;
#pragma unroll
    for (int j = 0; j < shape::pieces_n; j++, c += mma_n * column) {
        if (!slices<shape>::has(at.slice, j))
            continue;
        double2 values[2][shape::bands];
#pragma unroll
        for (int n = 0; n < 2 * shape::bands; n++) {
            const int e = n / shape::bands, i = n % shape::bands;
            values[e][i] = make_double2(sum[i][j][e], sum[i][j][2 + e]);
        }
        if (!out.is_plain()) {
            double2 old[2][shape::bands];
#pragma unroll
            for (int n = 0; n < 2 * shape::bands; n++) {
                const int e = n / shape::bands, i = n % shape::bands;
                old[e][i] = out.reads() ? c[e * column + i * mma_m / 2] : make_double2(0, 0);
            }
#pragma unroll
            for (int n = 0; n < 2 * shape::bands; n++) {
                const int e = n / shape::bands, i = n % shape::bands;
                values[e][i] = make_double2(out.scale(values[e][i].x, old[e][i].x),
                                            out.scale(values[e][i].y, old[e][i].y));
            }
        }
#pragma unroll
        for (int n = 0; n < 2 * shape::bands; n++) {
            const int e = n / shape::bands, i = n % shape::bands;
            c[e * column + i * mma_m / 2] = values[e][i];
        }
    }
}

/* The same of eight columns of any tile. */
template <class shape, class function_type>
__device__ inline void write_columns(const output &out, const position<shape> &at, int j, bool aligned,
                                     function_type sum)
{
    const int row = at.row + 2 * at.g, column = at.column + 2 * at.q + j * mma_n;
    double *const c = out.c + row + column * out.ldc;
    const span rows[2] = {span_of(out, row, column), span_of(out, row, column + 1)};
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
            write_pair(out, c + e * out.ldc + i * mma_m, sum(i, e), sum(i, 2 + e), old[i][e],
                       rows[e].from(i * mma_m), aligned);
}

/* A thread's share of any tile. So that the code is short, sums lie where the stages were, which nobody reads any more; unless
 * warps copy alone: those have gone on. */
template <class shape>
__device__ inline void write_any_tile(const output &out, const sums<shape> &sum, const position<shape> &at)
{
    const bool aligned = out.is_aligned();
    if (shape::copying > 0) {
#pragma unroll
        for (int j = 0; j < shape::pieces_n; j++)
            write_columns(out, at, j, aligned, [&](int i, int e) { return sum[i][j][e]; });
        return;
    }
    const slices<shape> stored(rematerialized::thread());
    /* Slices may still be adding up; and of one slice too, slower warps may still read the fragments behind the last step, which
     * nobody multiplies: to write there meanwhile would be a race, though one without effect. */
    __syncthreads();
    for_each_sum<shape>([&](int i, int j, int e) {
        if (slices<shape>::has(at.slice, j))
            stored.place(0, j, i, e) = sum[i][j][e];
    });
    constexpr int of_slice = shape::pieces_n / shape::slices;
#pragma unroll 1
    for (int j = at.slice * of_slice; j < (at.slice + 1) * of_slice; j++)
        write_columns(out, at, j, aligned, [&](int i, int e) { return stored.place(0, j, i, e); });
}

template <class shape>
__device__ inline void write_tile(const output &out, const sums<shape> &sum, const position<shape> &at)
{
    if (out.is_whole(shape::tile_m, shape::tile_n))
        write_whole_tile(out, sum, at);
    else
        write_any_tile(out, sum, at);
}

/* The blocks of a cluster have a part of this tile each. They leave their sums where the stages were, and each takes a share of a
 * warp's multiplications, and adds up what all blocks have of them, in their order. */
template <class shape>
__device__ inline void write_together(const output &out, const sums<shape> &sum, const position<shape> &at,
                                      int blocks)
{
    const slices<shape> stored(rematerialized::thread());
    __syncthreads(); /* nobody reads the stages, or the slices' sums, any more */
    for_each_sum<shape>([&](int i, int j, int e) {
        if (slices<shape>::has(at.slice, j))
            stored.place(0, j, i, e) = sum[i][j][e];
    });
    cluster::meet();
    constexpr int of_slice = shape::pieces_n / shape::slices;
    const bool aligned = out.is_aligned();
#pragma unroll 1
    for (int number = cluster::rank(); number < shape::bands * of_slice; number += blocks) {
        const int i = number / of_slice, j = number % of_slice + at.slice * of_slice;
        double total[4] = {};
#pragma unroll 1
        for (int block = 0; block < blocks; block++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const unsigned own = unsigned(__cvta_generic_to_shared(&stored.place(0, j, i, e)));
                total[e] += cluster::load_double(cluster::address_in(own, block));
            }
        const int row = at.row + 2 * at.g + i * mma_m, column = at.column + 2 * at.q + j * mma_n;
        double *const c = out.c + row + column * out.ldc;
        const span rows[2] = {span_of(out, row, column), span_of(out, row, column + 1)};
        const double2 old[2] = {read_pair(out, c, rows[0], aligned),
                                read_pair(out, c + out.ldc, rows[1], aligned)};
#pragma unroll
        for (int e = 0; e < 2; e++)
            write_pair(out, c + e * out.ldc, total[e], total[2 + e], old[e], rows[e], aligned);
    }
    cluster::meet(); /* nobody reads this block's shared memory any more */
}

} // namespace fp64
