/* The skinny family, sgemm_skinny and dgemm_skinny: C with one side of 16 or less, of doubles 8, where reading the long operand
 * is what takes the time. A lane copies what it multiplies to places of its own in shared memory, two steps ahead, and nobody
 * else reads it; only the short operand is shared.
 *
 *            k                                    block  8 or 4 warps: warps_k along k x others
 *         +------+------+------+------+           warp   near x far lanes, each with 64 or 128 bytes a step
 *  rows   | warp | warp | warp | warp | round     lane   1, 4 or 8 rows x extent; while a step is multiplied, the
 *         +------+------+------+------+                  next two are on their way
 *         | warp | warp | warp | warp |           k      the short operand in chunks, two buffers
 *         +------+------+------+------+
 *
 * Two blocks have 64 KB in flight on a multiprocessor; 4.3 TB/s at a latency of 0.7 us want 23 KB. Registers would not do: the
 * assembler waits for all loads at once that are in flight around a loop.
 *
 * A step has one shape whether the long operand is contiguous along k or along its rows: lines of neighbours.
 * What differs is which of the two is k, and so where the sums of a warp's lanes meet. Where k is contiguous, copies are of
 * 16 bytes wherever lines begin: all lines of a lane have the same shift, and it takes what it wants of the short operand so
 * many slots earlier. With more than one column the warps of a block take turns along the rows, which makes larger shifts and
 * whole sectors of it. Rows beyond the edge are not read and their sums not written; k beyond the end, or before the
 * beginning, counts as zeros in both operands.
 */
#pragma once

#include "kernels/cluster.cuh"
#include "kernels/simt/skinny_operands.cuh"
#include "kernels/dependent_launch.cuh"

namespace skinny
{

/* A lane's sums. */
template <class layout, class sizes> struct sums {
    typename sizes::real at[layout::lane_rows][sizes::extent];
};

/* 4, 8 or 16 bytes of shared memory; in the order of the program, if it matters, which the assembler keeps for volatile loads. */
template <int count, bool in_order> __device__ inline void load(float *to, unsigned from)
{
    if (count == 1)
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(to[0]) : "r"(from));
    else if (count == 2)
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[count / 2]) : "r"(from));
    else if (!in_order)
        *reinterpret_cast<float4 *>(to) = simt::load_shared(from);
    else
        asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to[0]), "=f"(to[count / 4]), "=f"(to[count / 2]), "=f"(to[count - 1])
                     : "r"(from));
}

template <int count, bool in_order> __device__ inline void load(double *to, unsigned from)
{
    static_assert(!in_order, "order is for the banks of registers, and a double lies in both");
    if (count == 1)
        asm volatile("ld.shared.f64 %0, [%1];" : "=d"(to[0]) : "r"(from));
    else
        asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(to[0]), "=d"(to[count - 1]) : "r"(from));
}

/* All columns of one k of the short operand. */
template <bool in_order, class real, int extent>
__device__ inline void read_slot(real (&y)[extent], unsigned slot)
{
    constexpr int bytes = sizeof(real), most = TB_SKINNY_WIDTH(bytes), width = extent < most ? extent : most;
#pragma unroll
    for (int e = 0; e < extent; e += width)
        load<width, in_order>(y + e, slot + bytes * e);
}

/* Neighbours in one line of the long operand. */
template <class layout, class source>
__device__ inline void read_line(typename layout::real (&x)[layout::elements], unsigned step, int line)
{
#pragma unroll
    for (int e = 0; e < layout::elements; e += layout::width)
        load<layout::width, false>(x + e, step + source::place(line, e));
}

/* Multiplies a step: neighbours of the long operand, all of a row or of a k, with what they meet. Where k is contiguous
 * all of the short operand comes first, so that a neighbour stays with the multipliers for all of its columns: registers
 * come from two banks, and neighbours alternate between them. */
template <class layout, class sizes>
__device__ inline void multiply(sums<layout, sizes> &sum, const slots<layout, sizes> &slots, unsigned x_step,
                                unsigned y_step)
{
    using real = typename sizes::real;
    constexpr int extent = sizes::extent, width = layout::width;
    constexpr bool in_order = sizes::bytes == 4 && extent == 16;
    using source = skinny::source<layout, sizes>;
    if constexpr (layout::k_contiguous) {
        __align__(16) real y[width][extent];
#pragma unroll
        for (int k = 0; k < width; k++)
            read_slot<in_order>(y[k], y_step + slots.at[k]);
#pragma unroll
        for (int row = 0; row < layout::lines; row++) {
            __align__(16) real x[width];
            load<width, in_order>(x, x_step + source::place(row, 0));
#pragma unroll
            for (int k = 0; k < width; k++)
#pragma unroll
                for (int e = 0; e < extent; e++)
                    sum.at[row][e] = fma(x[k], y[k][e], sum.at[row][e]);
        }
    } else {
#pragma unroll
        for (int k = 0; k < layout::lines; k++) {
            __align__(16) real x[layout::elements], y[extent];
            read_slot<false>(y, y_step + slots.at[k]);
            read_line<layout, source>(x, x_step, k);
#pragma unroll
            for (int e = 0; e < extent; e++)
#pragma unroll
                for (int row = 0; row < layout::elements; row++)
                    sum.at[row][e] = fma(x[row], y[e], sum.at[row][e]);
        }
    }
}

/* The logarithm of a power of two. */
__device__ inline int logarithm(int power)
{
    return __ffs(power) - 1;
}

/* A block's place in the product. Divisions take as long as some copies, so that there are none that can be avoided. */
struct place {
    int64_t row, column, piece, first_round;
    int rounds;

    __device__ place(const tb_skinny_arguments &arguments, int block_rows, int extent)
    {
        const unsigned tiles_short = unsigned(arguments.tiles_short),
                       tiles_long = unsigned(arguments.tiles_long);
        unsigned tile = blockIdx.x;
        int number = 0;
        if (arguments.cluster > 1) { /* whose pieces are neighbours */
            tile = blockIdx.x >> logarithm(arguments.cluster);
            number = int(blockIdx.x) & (arguments.cluster - 1);
        } else if (arguments.pieces > 1) {
            number = int(blockIdx.x / (tiles_short * tiles_long));
            tile = blockIdx.x % (tiles_short * tiles_long);
        }
        const unsigned below = tiles_short > 1 ? tile / tiles_short : tile;
        column = int64_t(tile - below * tiles_short) * extent;
        row = int64_t(below) * block_rows;
        piece = number;
        first_round = piece * arguments.piece_rounds + min(number, arguments.longer);
        rounds = arguments.piece_rounds + (number < arguments.longer);
    }
};

/* The sums of a lane's rows over the block's share of k that its warp has. */
template <class layout, class sizes>
__device__ inline void accumulate(sums<layout, sizes> &sum, const typename sizes::real *shared,
                                  const tb_skinny_arguments &arguments, const place &at, int warp_row,
                                  int apart, int warp_k)
{
    constexpr int ahead = sizes::depth - 1; /* steps */
    using slots = skinny::slots<layout, sizes>;
    const int round_k = arguments.round_k;
    const int rounds_a_chunk = sizes::chunk_k / layout::step_k >> logarithm(arguments.warps_k);
    const int64_t first_k = at.first_round * round_k;
    const auto *y = static_cast<const typename sizes::real *>(arguments.y) + at.column * arguments.y_row;
    const int columns = int(min(arguments.shorts - at.column, int64_t(sizes::extent)));
    source<layout, sizes> x(arguments, shared, at.row + warp_row, first_k + warp_k * layout::step_k, apart);
    const slots lane_slots(x.shift);

    unsigned filling = unsigned(__cvta_generic_to_shared(shared)) +
                       sizes::depth * sizes::step_elements * sizes::bytes,
             other = filling + sizes::chunk_elements * sizes::bytes;
    unsigned x_step = x.first, y_step = 0;
    int left_in_chunk = 0, next_chunk = 0;
    dependent_launch::wait();
    /* A chunk is of the group of copies of the step that is fetched with it. */
#pragma unroll 1
    for (int round = -ahead; round < at.rounds; round++, left_in_chunk--) {
        simt::wait_for_copies<ahead - 1>();
        if (left_in_chunk == 0) {
            if (round >= 0) {
                if (rounds_a_chunk < ahead)
                    simt::wait_for_copies<0>();
                __syncthreads(); /* this chunk has arrived, and nobody reads the one before it any more */
                y_step = filling + slots::step(warp_k * layout::step_k);
                const unsigned filled = filling;
                filling = other;
                other = filled;
            }
            left_in_chunk = round >= 0 ? rounds_a_chunk : ahead;
            if (next_chunk < at.rounds)
                stage<layout, sizes>(filling, arguments, y, columns, first_k + int64_t(next_chunk) * round_k,
                                     min(at.rounds - next_chunk, rounds_a_chunk) * round_k);
            next_chunk += rounds_a_chunk;
        }
        if (round + ahead < at.rounds)
            x.fetch(); /* to where the step before this one was */
        simt::commit_copies();
        if (round >= 0) {
            multiply<layout, sizes>(sum, lane_slots, x_step, y_step);
            x_step = x.behind(x_step);
            y_step += slots::step(round_k);
        }
    }
    simt::wait_for_copies<0>();
}

/* Adds up what the lanes of a warp along k have, and then the warps along k, in their order, in shared memory:
 * [row][column]. */
template <class layout, class sizes>
__device__ inline void add_lanes_and_warps(sums<layout, sizes> &sum, typename sizes::real *shared,
                                           int warps_k, int warp_row, int apart, int warp_k)
{
    constexpr int first = layout::k_contiguous ? 1 : layout::near;
    constexpr int end = layout::k_contiguous ? layout::near : 32;
#pragma unroll
    for (int mask = first; mask < end; mask *= 2)
#pragma unroll
        for (int i = 0; i < layout::lane_rows; i++)
#pragma unroll
            for (int e = 0; e < sizes::extent; e++)
                sum.at[i][e] += __shfl_xor_sync(0xffffffff, sum.at[i][e], mask);

    for (int turn = 0; turn < warps_k; turn++) {
        __syncthreads();
        if (turn != warp_k || (layout::k_contiguous ? layout::near_lane() : layout::far_lane()) != 0)
            continue;
#pragma unroll
        for (int i = 0; i < layout::lane_rows; i++) {
            typename sizes::real *total = shared + (warp_row + apart * layout::row(i)) * sizes::sum_pitch;
#pragma unroll
            for (int e = 0; e < sizes::extent; e++)
                total[e] = turn == 0 ? sum.at[i][e] : total[e] + sum.at[i][e];
        }
    }
    __syncthreads();
}

/* Adds what lies at an address in the shared memory of a block of the cluster. */
__device__ inline void add_remote(float &sum, unsigned address)
{
    sum += cluster::load(address);
}

__device__ inline void add_remote(double &sum, unsigned address)
{
    sum += cluster::load_double(address);
}

/* A sum of the block, or of all blocks of the cluster, in their order. */
template <class real> __device__ inline real total(const real *sum, int blocks)
{
    if (blocks == 1)
        return *sum;
    const unsigned shared = unsigned(__cvta_generic_to_shared(sum));
    real total = 0;
    for (int block = 0; block < blocks; block++)
        add_remote(total, cluster::address_in(shared, block));
    return total;
}

/* Writes the block's sums to C, or to its piece's part of the workspace; or its share of the cluster's to C. Four elements a
 * thread at a time: all are read before the first is written, since no read can overtake a write to what might be its
 * address. */
template <class sizes>
__device__ inline void write(const tb_skinny_arguments &arguments, const place &at,
                             const typename sizes::real *shared, int block_rows)
{
    using real = typename sizes::real;
    const int blocks = arguments.cluster;
    const bool whole = arguments.pieces == blocks, tall = arguments.c_row == 1;
    const int64_t to_row = whole || tall ? arguments.c_row : arguments.shorts;
    const int64_t to_column = whole || !tall ? arguments.c_column : arguments.length;
    const real alpha = whole ? alpha_of<real>(arguments) : 1, beta = whole ? beta_of<real>(arguments) : 0;
    real *c =
        (whole ? static_cast<real *>(arguments.c)
               : static_cast<real *>(arguments.partial) + at.piece * arguments.length * arguments.shorts) +
        at.row * to_row + at.column * to_column;
    const int rows = int(min(arguments.length - at.row, int64_t(block_rows)));
    const int columns = int(min(arguments.shorts - at.column, int64_t(sizes::extent)));

    const int first = (blocks > 1 ? int(at.piece) * sizes::threads : 0) + threadIdx.x,
              threads = blocks * sizes::threads;
    for (int begin = first; begin < block_rows * sizes::extent; begin += 4 * threads) {
        real value[4], *to[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int index = begin + i * threads;
            const int row = tall ? index % block_rows : index / sizes::extent;
            const int column = tall ? index / block_rows : index % sizes::extent;
            to[i] = row < rows && column < columns ? c + row * to_row + column * to_column : nullptr;
            if (to[i]) {
                value[i] = alpha * total(shared + row * sizes::sum_pitch + column, blocks);
                if (beta != 0)
                    value[i] = fma(beta, *to[i], value[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (to[i])
                *to[i] = value[i];
    }
}

template <class real, bool k_contiguous, bool vector, int extent>
__device__ inline void multiply_and_write(const tb_skinny_arguments &arguments)
{
    using layout = skinny::layout<real, k_contiguous, vector, extent>;
    using sizes = skinny::sizes<real, extent>;
    extern __shared__ __align__(16) real shared[];

    const int warps_k = arguments.warps_k, warps_across = sizes::warps >> logarithm(warps_k);
    const int warp = threadIdx.x / 32, warp_k = warp & (warps_k - 1),
              warp_across = warp >> logarithm(warps_k);
    const bool in_turn = layout::k_contiguous && TB_SKINNY_IN_TURN(extent, sizes::warps, 1) > 1;
    const int apart = in_turn ? warps_across : 1;
    const int warp_row = in_turn ? warp_across : warp_across * layout::rows;
    const int block_rows = warps_across * layout::rows;
    const place at(arguments, block_rows, extent);
    sums<layout, sizes> sum = {};
    accumulate<layout, sizes>(sum, shared, arguments, at, warp_row, apart, warp_k);
    add_lanes_and_warps<layout, sizes>(sum, shared, warps_k, warp_row, apart, warp_k);
    if (arguments.cluster > 1)
        cluster::meet();
    write<sizes>(arguments, at, shared, block_rows);
    if (arguments.cluster > 1)
        cluster::meet(); /* nobody reads this block's sums any more */
}

} // namespace skinny

#define TB_SKINNY_STAMP(symbol, real, k_contiguous, vector, extent)                                          \
    extern "C" __global__ void __launch_bounds__(skinny::sizes<real, extent>::threads, TB_SKINNY_BLOCKS)     \
        symbol(const __grid_constant__ tb_skinny_arguments arguments)                                        \
    {                                                                                                        \
        skinny::multiply_and_write<real, k_contiguous, vector, extent>(arguments);                           \
    }

/* Kernels differ in what is contiguous in the long operand, and in whether rows are copied one by one or 16 bytes at a time. */
#define TB_SKINNY_STAMP_ALL(name, real, extent)                                                              \
    TB_SKINNY_STAMP(name##_outer_##extent, real, false, false, extent)                                       \
    TB_SKINNY_STAMP(name##_outer_vector_##extent, real, false, true, extent)                                 \
    TB_SKINNY_STAMP(name##_k_##extent, real, true, true, extent)
