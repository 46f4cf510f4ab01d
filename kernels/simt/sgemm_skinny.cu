/* sgemm_skinny: C with one side of 16 or less, where reading the long operand is what takes the time. It goes
 * from memory to registers and is used there, once; only the short operand passes through shared memory.
 *
 *            k                                    block  8 or 4 warps: warps_k along k x others
 *         +------+------+------+------+           warp   near x far lanes, each with 16 elements a step
 *  rows   | warp | warp | warp | warp | round     lane   4 or 1 rows x extent; the next depth steps of 64
 *         +------+------+------+------+                  bytes are on their way while one is multiplied
 *         | warp | warp | warp | warp |           k      the short operand in chunks, two buffers
 *         +------+------+------+------+
 *
 * Up to 4 columns: 2 blocks of 8 warps with 3 steps ahead, 96 KB in flight on a multiprocessor; 8 columns: 2
 * steps ahead; 16 columns: 3 blocks of 4 warps, 72 KB. 4.3 TB/s at a latency of 0.7 us want 23 KB.
 *
 * A step has one shape whether the long operand is contiguous along k or along its rows: lines of neighbours.
 * What differs is which of the two is k, and so where the sums of a warp's lanes meet. Rows beyond the edge are
 * not read and their sums not written; k beyond the end counts as zeros, in both operands.
 */
#include "kernels/cluster.cuh"
#include "kernels/simt/copy_async.cuh"
#include "kernels/simt/skinny.h"
#include "kernels/turn.cuh"

namespace
{

/* How the lanes of a warp lie over its step. */
template <bool k_contiguous_, bool vector_, int extent> struct layout {
    static constexpr bool k_contiguous = k_contiguous_, vector = vector_;
    static constexpr int near = TB_SKINNY_NEAR(k_contiguous, vector), far = 32 / near;
    static constexpr int elements = TB_SKINNY_ELEMENTS(k_contiguous, vector, extent);
    static constexpr int lines = TB_SKINNY_LINES(k_contiguous, vector, extent);
    static constexpr int rows = TB_SKINNY_ROWS(k_contiguous, vector, extent);
    static constexpr int step_k = TB_SKINNY_STEP_K(k_contiguous, vector, extent);
    static constexpr int lane_rows = k_contiguous ? lines : elements;
    static constexpr int lane_k = k_contiguous ? elements : lines;
    static constexpr int lanes_k = k_contiguous ? near : far;

    static __device__ int near_lane()
    {
        return threadIdx.x % near;
    }
    static __device__ int far_lane()
    {
        return threadIdx.x % 32 / near;
    }
    static __device__ int k_lane()
    {
        return k_contiguous ? near_lane() : far_lane();
    }
    /* Where element e of a line lies in the step, and line l. */
    static __device__ int element(int e)
    {
        return vector ? elements * near_lane() + e : e * near + near_lane();
    }
    static __device__ int line(int l)
    {
        return l * far + far_lane();
    }
    static __device__ int row(int i)
    {
        return k_contiguous ? line(i) : element(i);
    }
    /* The short operand's k are kept in the order in which lanes want them: j * lanes_k + k_lane is what a
     * lane's k number j needs, so that neighbouring lanes read neighbouring slots. */
    static __device__ int slot(int k)
    {
        return k_contiguous && vector ? k / step_k * step_k + k % elements * near + k % step_k / elements : k;
    }
};

template <int extent_> struct sizes {
    static constexpr int extent = extent_;
    static constexpr int warps = TB_SKINNY_WARPS(extent), threads = 32 * warps;
    /* The launch bound: from sm_100 on the same code takes more registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
    static constexpr int blocks = 2, depth = extent == 4 ? 2 : TB_SKINNY_DEPTH(extent);
#else
    static constexpr int blocks = TB_SKINNY_BLOCKS(extent), depth = TB_SKINNY_DEPTH(extent);
#endif
    static constexpr int chunk_k = TB_SKINNY_CHUNK_K(extent);
    /* Slots are padded so that 8 lanes' 16-byte reads of 8 slots fall into 32 different banks. */
    static constexpr int pitch = extent < 8 ? extent : extent + 4;
    static constexpr int chunk_floats = chunk_k * pitch;
    static constexpr int sum_pitch = extent | 1;
    static constexpr int sum_floats = TB_SKINNY_ROWS_MAXIMUM(extent) * sum_pitch;
    static constexpr int shared_floats = 2 * chunk_floats > sum_floats ? 2 * chunk_floats : sum_floats;
    static_assert(shared_floats * sizeof(float) <= 49152, "static shared memory");
};

/* One lane's share of a step, and its sums. */
template <class layout> struct fragment {
    __align__(16) float at[layout::lines][layout::elements];

    __device__ float get(int row, int k) const
    {
        return layout::k_contiguous ? at[row][k] : at[k][row];
    }
};
template <class layout, class sizes> struct sums {
    float at[layout::lane_rows][sizes::extent];
};

/* What is read once, and by whole lines: it need not stay in L1. */
__device__ inline float4 load_line(const float *from)
{
    float4 value;
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(from));
    return value;
}

/* The long operand, step by step. */
template <class layout> struct source {
    const tb_skinny_arguments &arguments;
    const float *address; /* of this lane's first element of the step that is fetched next */
    int whole, last_k;    /* steps left that lie within k; of k in the one after them */
    unsigned live;        /* bit i: row i exists */

    __device__ source(const tb_skinny_arguments &arguments, int64_t first_row, int64_t first_k)
        : arguments(arguments), live(0)
    {
        const int64_t first_line = layout::k_contiguous ? first_row : first_k;
        const int64_t first_element = layout::k_contiguous ? first_k : first_row;
        address = arguments.x + (first_line + layout::line(0)) * arguments.x_line + first_element +
                  layout::element(0);
        const int64_t k_left = arguments.k - first_k;
        const int64_t steps = k_left < layout::step_k ? 0 : (k_left - layout::step_k) / arguments.round_k + 1;
        whole = int(min(steps, int64_t(INT32_MAX)));
        last_k = int(min(max(k_left - steps * arguments.round_k, int64_t(0)), int64_t(layout::step_k)));
#pragma unroll
        for (int i = 0; i < layout::lane_rows; i++)
            if (first_row + layout::row(i) < arguments.length)
                live |= 1u << i;
    }

    __device__ void fetch(fragment<layout> &x)
    {
        if (whole > 0)
            fetch_whole(x);
        else
            fetch_guarded(x);
    }

    /* What belongs to rows that do not exist keeps whatever value it has. An operand whose rows are contiguous
     * comes here as a vector only if their number is a multiple of 4: see launch_skinny.c. */
    __device__ void fetch_whole(fragment<layout> &x)
    {
        const float *from = address;
#pragma unroll
        for (int l = 0; l < layout::lines; l++, from += arguments.x_lane_line) {
            if (layout::vector) {
                if (live >> (layout::k_contiguous ? l : 0) & 1)
                    *reinterpret_cast<float4 *>(x.at[l]) = load_line(from);
            } else {
#pragma unroll
                for (int e = 0; e < layout::elements; e++)
                    if (live >> (layout::k_contiguous ? l : e) & 1)
                        x.at[l][e] = __ldg(from + e * layout::near);
            }
        }
        advance();
    }

    __device__ void fetch_guarded(fragment<layout> &x)
    {
        const float *from = address;
#pragma unroll
        for (int l = 0; l < layout::lines; l++, from += arguments.x_lane_line)
#pragma unroll
            for (int e = 0; e < layout::elements; e++) {
                const int k = layout::k_contiguous ? layout::element(e) : layout::line(l);
                const bool exists = k < last_k && live >> (layout::k_contiguous ? l : e) & 1;
                x.at[l][e] = exists ? from[layout::vector ? e : e * layout::near] : 0;
            }
        advance();
    }

    __device__ void advance()
    {
        address += arguments.x_round;
        whole--;
    }
};

/* One element of the short operand, or zero. */
__device__ inline void stage_element(float *to, const float *from, bool exists)
{
#if __CUDA_ARCH__ >= 800
    simt::copy_async<4>(unsigned(__cvta_generic_to_shared(to)), from, exists ? 4 : 0);
#else
    *to = exists ? *from : 0;
#endif
}

/* Puts k from first_k on, `count` of them, into a buffer of the short operand: [slot][extent], zero beyond the
 * edges. Neighbouring threads take neighbours in memory. */
template <class layout, class sizes>
__device__ inline void stage(float *buffer, const tb_skinny_arguments &arguments, const float *y, int columns,
                             int64_t first_k, int count)
{
    const int k_left = int(min(arguments.k - first_k, int64_t(count)));
    y += first_k * arguments.y_k;
    if (arguments.y_k == 1) {
#pragma unroll 1
        for (int k = threadIdx.x; k < count; k += sizes::threads) {
            float *to = buffer + layout::slot(k) * sizes::pitch;
            const float *from = y + k;
#pragma unroll 2
            for (int column = 0; column < sizes::extent; column++, from += arguments.y_row)
                stage_element(to + column, from, k < k_left && column < columns);
        }
    } else {
        constexpr int k_step = sizes::threads / sizes::extent;
        const int column = threadIdx.x % sizes::extent;
        int k = threadIdx.x / sizes::extent;
        const float *from = y + k * arguments.y_k + column * arguments.y_row;
#pragma unroll 1
        for (; k < count; k += k_step, from += k_step * arguments.y_k)
            stage_element(buffer + layout::slot(k) * sizes::pitch + column, from,
                          k < k_left && column < columns);
    }
    simt::commit_copies();
}

/* Neighbours of one k of the short operand: all, or as many as a 16-byte read brings. */
template <int count> __device__ inline void read_slot(float (&y)[count], const float *slot)
{
    if (count == 1)
        y[0] = slot[0];
    else if (count == 2)
        *reinterpret_cast<float2 *>(y) = *reinterpret_cast<const float2 *>(slot);
    else
        *reinterpret_cast<float4 *>(y) = *reinterpret_cast<const float4 *>(slot);
}

template <class layout, class sizes>
__device__ inline void multiply(sums<layout, sizes> &sum, const fragment<layout> &x, const float *slots)
{
    constexpr int width = sizes::extent < 4 ? sizes::extent : 4;
#pragma unroll
    for (int j = 0; j < layout::lane_k; j++)
#pragma unroll
        for (int column = 0; column < sizes::extent; column += width) {
            __align__(16) float y[width];
            read_slot<width>(y, slots + j * layout::lanes_k * sizes::pitch + column);
#pragma unroll
            for (int i = 0; i < layout::lane_rows; i++)
#pragma unroll
                for (int e = 0; e < width; e++)
                    sum.at[i][column + e] = fmaf(x.get(i, j), y[e], sum.at[i][column + e]);
        }
}

/* A block's place in the product. */
struct place {
    int64_t row, column, piece, first_round;
    int rounds;

    __device__ place(const tb_skinny_arguments &arguments, int block_rows, int extent)
    {
        const unsigned tiles_short = unsigned(arguments.tiles_short),
                       tiles_long = unsigned(arguments.tiles_long);
        /* The pieces of a cluster are neighbours. */
        const bool clusters = arguments.cluster > 1;
        const unsigned tiles = tiles_short * tiles_long, pieces = unsigned(arguments.pieces);
        const unsigned tile = clusters ? blockIdx.x / pieces : blockIdx.x % tiles;
        column = int64_t(tile % tiles_short) * extent;
        row = int64_t(tile / tiles_short) * block_rows;
        piece = clusters ? blockIdx.x % pieces : blockIdx.x / tiles;
        first_round = piece * arguments.rounds / arguments.pieces;
        rounds = int((piece + 1) * arguments.rounds / arguments.pieces - first_round);
    }
};

/* The sums of a lane's rows over the block's share of k that its warp has. */
template <class layout, class sizes>
__device__ inline void accumulate(sums<layout, sizes> &sum, float *shared,
                                  const tb_skinny_arguments &arguments, const place &at, int warp_row,
                                  int warp_k)
{
    constexpr int depth = sizes::depth;
    const int round_k = arguments.round_k, rounds_a_chunk = arguments.rounds_a_chunk;
    const int64_t first_k = at.first_round * round_k;
    const float *y = arguments.y + at.column * arguments.y_row;
    const int columns = int(min(arguments.shorts - at.column, int64_t(sizes::extent)));
    source<layout> x(arguments, at.row + warp_row, first_k + warp_k * layout::step_k);
    fragment<layout> ahead[depth] = {};

    float *filling = shared, *other = shared + sizes::chunk_floats;
    const float *slots = shared;
    const int first_slot = (warp_k * layout::step_k + layout::k_lane()) * sizes::pitch;
    int left_in_chunk = 0;
    auto stage_chunk = [&](int round) {
        if (round < at.rounds)
            stage<layout, sizes>(filling, arguments, y, columns, first_k + int64_t(round) * round_k,
                                 min(at.rounds - round, rounds_a_chunk) * round_k);
    };
    auto multiply_round = [&](int round, const fragment<layout> &step) {
        if (left_in_chunk == 0) {
            simt::wait_for_copies<0>();
            __syncthreads(); /* this chunk has arrived, and nobody reads the one before it any more */
            slots = filling + first_slot;
            float *const filled = filling;
            filling = other;
            other = filled;
            stage_chunk(round + rounds_a_chunk);
            left_in_chunk = rounds_a_chunk;
        }
        multiply(sum, step, slots);
        slots += round_k * sizes::pitch;
        left_in_chunk--;
    };

    stage_chunk(0);
    /* Every pass through the body fetches into the fragment that it has just used; the first has none yet. */
    for (int next = -depth; next < at.rounds; next += depth)
#pragma unroll
        for (int d = 0; d < depth; d++) {
            if (next + d >= 0 && next + d < at.rounds)
                multiply_round(next + d, ahead[d]);
            if (next + d + depth < at.rounds)
                x.fetch(ahead[d]);
        }
}

/* Adds up what the lanes of a warp along k have, and then the warps along k, in their order, in shared memory:
 * [row][column]. */
template <class layout, class sizes>
__device__ inline void add_lanes_and_warps(sums<layout, sizes> &sum, float *shared, int warps_k, int warp_row,
                                           int warp_k)
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
        if (turn != warp_k || layout::k_lane() != 0)
            continue;
#pragma unroll
        for (int i = 0; i < layout::lane_rows; i++) {
            float *total = shared + (warp_row + layout::row(i)) * sizes::sum_pitch;
#pragma unroll
            for (int e = 0; e < sizes::extent; e++)
                total[e] = turn == 0 ? sum.at[i][e] : total[e] + sum.at[i][e];
        }
    }
    __syncthreads();
}

/* A sum of the block, or of all blocks of the cluster, in their order. */
__device__ inline float total(const float *sum, int blocks)
{
    if (blocks == 1)
        return *sum;
    const unsigned shared = unsigned(__cvta_generic_to_shared(sum));
    float total = 0;
    for (int block = 0; block < blocks; block++)
        total += cluster::load(cluster::address_in(shared, block));
    return total;
}

/* Writes the block's sums to C, or to its piece's part of the workspace; or its share of the cluster's to C. Four elements a
 * thread at a time: all are read before the first is written, since no read can overtake a write to what might be its
 * address. */
template <class sizes>
__device__ inline void write(const tb_skinny_arguments &arguments, const place &at, const float *shared,
                             int block_rows)
{
    const int blocks = arguments.cluster;
    const bool whole = arguments.pieces == blocks, tall = arguments.c_row == 1;
    const int64_t to_row = whole || tall ? arguments.c_row : arguments.shorts;
    const int64_t to_column = whole || !tall ? arguments.c_column : arguments.length;
    const float alpha = whole ? arguments.alpha : 1, beta = whole ? arguments.beta : 0;
    float *c = (whole ? arguments.c : arguments.partial + at.piece * arguments.length * arguments.shorts) +
               at.row * to_row + at.column * to_column;
    const int rows = int(min(arguments.length - at.row, int64_t(block_rows)));
    const int columns = int(min(arguments.shorts - at.column, int64_t(sizes::extent)));

    const int first = (blocks > 1 ? int(at.piece) * sizes::threads : 0) + threadIdx.x,
              threads = blocks * sizes::threads;
    for (int begin = first; begin < block_rows * sizes::extent; begin += 4 * threads) {
        float value[4], *to[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int index = begin + i * threads;
            const int row = tall ? index % block_rows : index / sizes::extent;
            const int column = tall ? index / block_rows : index % sizes::extent;
            to[i] = row < rows && column < columns ? c + row * to_row + column * to_column : nullptr;
            if (to[i]) {
                value[i] = alpha * total(shared + row * sizes::sum_pitch + column, blocks);
                if (beta != 0)
                    value[i] = fmaf(beta, *to[i], value[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (to[i])
                *to[i] = value[i];
    }
}

template <bool k_contiguous, bool vector, int extent>
__device__ inline void sgemm_skinny(const tb_skinny_arguments &arguments)
{
    using layout = ::layout<k_contiguous, vector, extent>;
    using sizes = ::sizes<extent>;
    __shared__ __align__(16) float shared[sizes::shared_floats];

    const int warps_k = arguments.warps_k, block_rows = sizes::warps / warps_k * layout::rows;
    const int warp = threadIdx.x / 32, warp_k = warp % warps_k, warp_row = warp / warps_k * layout::rows;
    const place at(arguments, block_rows, extent);
    sums<layout, sizes> sum = {};
    accumulate<layout, sizes>(sum, shared, arguments, at, warp_row, warp_k);
    add_lanes_and_warps<layout, sizes>(sum, shared, warps_k, warp_row, warp_k);
    if (arguments.cluster > 1)
        cluster::meet();
    write<sizes>(arguments, at, shared, block_rows);
    if (arguments.cluster > 1)
        cluster::meet(); /* nobody reads this block's sums any more */
}

} // namespace

#define TB_SKINNY_STAMP(symbol, k_contiguous, vector, extent)                                                \
    extern "C" __global__ void __launch_bounds__(sizes<extent>::threads, sizes<extent>::blocks)              \
        symbol(const __grid_constant__ tb_skinny_arguments arguments)                                        \
    {                                                                                                        \
        turn::take();                                                                                        \
        sgemm_skinny<k_contiguous, vector, extent>(arguments);                                               \
    }

/* By what is contiguous in the long operand, and whether it moves 4 or 16 bytes at a time. */
#define TB_SKINNY_STAMP_ALL(extent)                                                                          \
    TB_SKINNY_STAMP(sgemm_skinny_outer_##extent, false, false, extent)                                       \
    TB_SKINNY_STAMP(sgemm_skinny_outer_##extent##_vector, false, true, extent)                               \
    TB_SKINNY_STAMP(sgemm_skinny_k_##extent, true, false, extent)                                            \
    TB_SKINNY_STAMP(sgemm_skinny_k_##extent##_vector, true, true, extent)

TB_SKINNY_STAMP_ALL(1)
TB_SKINNY_STAMP_ALL(2)
TB_SKINNY_STAMP_ALL(4)
TB_SKINNY_STAMP_ALL(8)
TB_SKINNY_STAMP_ALL(16)
