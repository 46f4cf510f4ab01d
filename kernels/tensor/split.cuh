/* The pre-pass: splits A and B into BF16 or FP16 parts, laid out as the tensor kernel's copies want them.
 *
 *   op(X), outer x k                      parts, chunk after chunk
 *   +--------+--------+--     each       +-----------------------------------------------+
 *   | chunk  | chunk  |       block      | part 0: k 0-7 of row 0, of row 1, ... | k 8-15 | ...
 *   +--------+--------+--     writes     | part 1: ...                           |        |
 *   | chunk  | chunk  |       64 rows    | part 2: ...                           |        |
 *   +--------+--------+--     of one     +-----------------------------------------------+
 *     32 of k
 *
 * The first part is the FP32 number rounded to nearest even, the next what is left rounded likewise; what is left is
 * exact in FP32.
 *
 * Three BF16 parts: 8 + 8 + 8 significant bits. They sum to the number exactly while its last bit is at least 2^-133,
 * BF16's smallest: from 2^-110 on.
 *
 * Two FP16 parts: 11 + 11 significant bits and a sign, of a number that was scaled so that the largest of its row of
 * op(X) lies in [2^14, 2^15). What the parts miss is at most 2^-23 of the number, or 2^-39 of the row's largest.
 *
 * Two FP16 parts with FP8: the first is rounded to 9 bits, halves away from zero. The two miss at most 2^-21 of the
 * number, which a third part has, but for 2^-39 of the row's largest.
 *
 * Rows and steps of k that do not exist become zeros, so that the kernel that multiplies has no edges there.
 */
#pragma once

#include "kernels/dependent_launch.cuh"
#include "kernels/tensor/findings.cuh"
#include "kernels/tensor/formats.cuh"
#include "kernels/tensor/split.h"

#include <cstddef>

namespace split
{

constexpr int blocks = TB_SPLIT_BLOCKS;

struct operand {
    const float *elements;
    int64_t rows, k, leading_dimension;
    bool k_contiguous;
    uint4 *parts;
    uint32_t *largest; /* by row, where rows are scaled */
    uint64_t *sums;    /* by row, of a survey */
    uint32_t *surveyed;
    uint8_t *used; /* by piece, where it is wanted */
    int panel, panels;
    int zeros,
        rows_together; /* where it is a triangle, see zeros.h; so many rows' tiles have the same stages */
    tb_split_range *range;
};

/* The power of two that a row is scaled by, from the bits of its largest magnitude. */
__device__ inline int scale_of(uint32_t largest)
{
    if (largest == 0)
        return 0;
    const int exponent = largest >> 23 ? int(largest >> 23) - 127 : 31 - __clz(largest) - 149;
    return TB_SPLIT_SCALED_EXPONENT - exponent;
}

__device__ inline operand operand_a(const tb_split_arguments &arguments)
{
    const tb_sgemm &p = arguments.problem;
    return {p.a,
            p.m,
            p.k,
            p.lda,
            p.transpose_a != 0,
            static_cast<uint4 *>(arguments.parts_a),
            arguments.largest_a,
            arguments.sums_a,
            arguments.surveyed_a,
            arguments.used_a,
            arguments.panel_a,
            arguments.panels_a,
            arguments.order.zeros & TB_ZEROS_BY_COLUMN ? 0 : arguments.order.zeros,
            arguments.panel_a * TB_SPLIT_CLUSTER_BLOCKS,
            &arguments.findings->a};
}

__device__ inline operand operand_b(const tb_split_arguments &arguments)
{
    const tb_sgemm &p = arguments.problem;
    return {p.b,
            p.n,
            p.k,
            p.ldb,
            p.transpose_b == 0,
            static_cast<uint4 *>(arguments.parts_b),
            arguments.largest_b,
            arguments.sums_b,
            arguments.surveyed_b,
            arguments.used_b,
            arguments.panel_b,
            arguments.b_is_a ? 0 : arguments.panels_b,
            arguments.order.zeros & TB_ZEROS_BY_COLUMN ? arguments.order.zeros : 0,
            arguments.panel_b,
            &arguments.findings->b};
}

/* A thread's 8 steps of k of one row, where neighbouring threads have neighbouring rows: right as it is for an
 * operand that runs along its rows in memory. */
__device__ inline void read_rows(const operand &x, int64_t row, int64_t k, float (&values)[step_k])
{
    const float *source = x.elements + row + k * x.leading_dimension;
    const int64_t left = row < x.rows ? x.k - k : 0;
#pragma unroll
    for (int i = 0; i < step_k; i++)
        values[i] = i < left ? source[i * x.leading_dimension] : 0;
}

/* The same for an operand that runs along k: a warp reads 32 neighbours of one row, shared memory turns them. */
__device__ inline void read_columns(const operand &x, int64_t first_row, int64_t first_k, int row, int step,
                                    float (&values)[step_k])
{
    __shared__ float staged[block_rows][stage_k + 1]; /* + 1: a column of it touches every bank */
    const int64_t k = first_k + threadIdx.x % stage_k;
    const int warp = threadIdx.x / stage_k;
    const float *source = x.elements + (first_row + warp) * x.leading_dimension + k;
    const int64_t left = k < x.k ? x.rows - first_row - warp : 0;
    float read[step_k];
#pragma unroll
    for (int i = 0; i < step_k; i++)
        read[i] = i * step_k < left ? source[i * step_k * x.leading_dimension] : 0;
    __syncthreads(); /* the stage before has been taken out */
#pragma unroll
    for (int i = 0; i < step_k; i++)
        staged[warp + i * step_k][threadIdx.x % stage_k] = read[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < step_k; i++)
        values[i] = staged[row][step * step_k + i];
}
static_assert(threads / stage_k == step_k, "read_columns: as many warps as a thread has values");

/* Multiplies by two factors, as one may lie beyond FP32's exponents. */
__device__ inline void scale(float (&values)[step_k], int exponent)
{
    const int half = exponent / 2;
    const float first = __int_as_float((127 + half) << 23),
                second = __int_as_float((127 + exponent - half) << 23);
#pragma unroll
    for (int i = 0; i < step_k; i++)
        values[i] = values[i] * first * second;
}

__device__ inline void note_range(tb_split_range &range, const float (&values)[step_k])
{
#pragma unroll
    for (int i = 0; i < step_k; i++) {
        const uint32_t magnitude = __float_as_uint(values[i]) & 0x7fffffff, exponent = magnitude >> 23;
        range.largest = max(range.largest, exponent);
        range.smallest_below_256 = max(range.smallest_below_256, magnitude ? 256 - exponent : 0);
    }
}

/* An atomic only where it has news: all blocks share the one address. */
__device__ inline void raise_alone(uint32_t *finding, uint32_t value)
{
    if (value > *static_cast<volatile uint32_t *>(finding))
        atomicMax(finding, value);
}

/* The most of a warp. */
__device__ inline void raise(uint32_t *finding, uint32_t value)
{
    value = __reduce_max_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0)
        raise_alone(finding, value);
}

/* A block's share of an operand: 64 rows, some stages of k, without those that no tile needs. Blocks that read together
 * read neighbours: along the rows where memory does, else along k. */
struct share {
    uint32_t first_row, first_stage, end_stage;
    int row, step; /* a thread's, within the rows and a stage */

    __device__ share(const operand &x, const tb_split_arguments &arguments, int64_t block)
    {
        const uint32_t stages = uint32_t(arguments.stages), each = uint32_t(arguments.block_stages);
        const uint32_t blocks_k = (stages + each - 1) / each;
        const uint32_t blocks_rows = uint32_t(x.panels) * (x.panel / block_rows);
        first_row =
            (x.k_contiguous ? uint32_t(block) / blocks_k : uint32_t(block) % blocks_rows) * block_rows;
        first_stage = (x.k_contiguous ? uint32_t(block) % blocks_k : uint32_t(block) / blocks_rows) * each;
        end_stage = min(stages, first_stage + each);
        if (x.zeros) {
            const int place = int(first_row) / x.rows_together;
            const tb_needed needed = tb_needed_steps(x.zeros, {place, place}, x.rows_together,
                                                     x.rows_together, stage_k, int(stages));
            first_stage = max(first_stage, uint32_t(needed.first));
            end_stage = min(end_stage, uint32_t(needed.end));
        }
        row = threadIdx.x % block_rows;
        step = threadIdx.x / block_rows;
    }

    __device__ void read(const operand &x, uint32_t stage, float (&values)[step_k]) const
    {
        if (x.k_contiguous)
            read_columns(x, first_row, int64_t(stage) * stage_k, row, step, values);
        else
            read_rows(x, int64_t(first_row) + row, int64_t(stage) * stage_k + step * step_k, values);
    }
};

/* Finds the largest magnitude of each row, before a split that scales. */
__device__ inline void find_largest(const operand &x, const tb_split_arguments &arguments, int64_t block)
{
    const share share(x, arguments, block);
    uint32_t largest = 0;
    for (uint32_t stage = share.first_stage; stage < share.end_stage; stage++) {
        float values[step_k];
        share.read(x, stage, values);
#pragma unroll
        for (int i = 0; i < step_k; i++)
            largest = max(largest, __float_as_uint(values[i]) & 0x7fffffff);
    }
    uint32_t *of_row = x.largest + share.first_row + share.row;
    if (largest > *static_cast<volatile uint32_t *>(of_row))
        atomicMax(of_row, largest);
}

/* What a block finds out, before it tells: blocks that come at a time all have news, and wait for each other's atomics. */
struct found {
    uint32_t largest, smallest_below_256, used[block_stages_most];
};

/* Tells which parts a block's pieces use; what lies beyond the operand's rows lacks nothing. One thread. */
template <class format>
__device__ inline void tell_used(const operand &x, const share &share, int64_t stages, const found &found)
{
    uint8_t *pieces = x.used + share.first_row / block_rows * stages;
    uint32_t lacking = 0, most = 0;
    for (uint32_t stage = share.first_stage; stage < share.end_stage; stage++) {
        const uint32_t in_piece = found.used[stage - share.first_stage];
        if (x.used)
            pieces[stage] = uint8_t(in_piece);
        lacking += in_piece < format::parts;
        most = max(most, in_piece);
    }
    raise_alone(&x.range->parts, most);
    if (lacking && share.first_row < x.rows)
        atomicAdd(&x.range->lacking[format::has_bytes], lacking);
}

template <class format>
__device__ inline void split_block(const operand &x, const tb_split_arguments &arguments, int64_t block)
{
    const share share(x, arguments, block);
    const int64_t stages = arguments.stages;
    const int64_t panel = share.first_row / x.panel, row_of_panel = share.first_row % x.panel + share.row;
    tb_split_range range = {};
    __shared__ found found;
    if (threadIdx.x == 0)
        found = {};
    __syncthreads();
    for (uint32_t stage = share.first_stage; stage < share.end_stage; stage++) {
        float values[step_k];
        share.read(x, stage, values);
        note_range(range, values);
        if (format::scales)
            scale(values, scale_of(x.largest[share.first_row + share.row]));
        constexpr int pieces = format::row_bytes / 16;
        const place place = {
            x.parts + ((panel * stages + stage) * pieces + share.step) * x.panel + row_of_panel, x.panel};
        const uint32_t parts = __reduce_max_sync(0xffffffff, format::split(values, place));
        if (threadIdx.x % 32 == 0)
            atomicMax(&found.used[stage - share.first_stage], parts);
    }
    const uint32_t largest = __reduce_max_sync(0xffffffff, range.largest),
                   smallest_below_256 = __reduce_max_sync(0xffffffff, range.smallest_below_256);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&found.largest, largest);
        atomicMax(&found.smallest_below_256, smallest_below_256);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        tell_used<format>(x, share, stages, found);
    else if (threadIdx.x == 32)
        raise_alone(&x.range->largest, found.largest);
    else if (threadIdx.x == 64)
        raise_alone(&x.range->smallest_below_256, found.smallest_below_256);
}

/* Splits B, and A where it is not there in this format, which the survey has chosen. */
template <class format>
__device__ inline void split_as_chosen(const tb_split_arguments &arguments, tb_split_format number)
{
    int64_t block = blockIdx.x;
    if (block == 0 && threadIdx.x == 0)
        arguments.findings->a.made = number;
    if (block >= arguments.turns_a) {
        split_block<format>(operand_b(arguments), arguments, block - arguments.turns_a);
        return;
    }
    if (arguments.findings->a.format == number)
        return;
    for (; block < arguments.split_blocks_a; block += arguments.turns_a) {
        split_block<format>(operand_a(arguments), arguments, block);
        __syncthreads(); /* before its notes in shared memory are cleared */
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------ */

/* Nothing is known yet, or nothing of B. Any number of threads, the first warp is whole. */
__device__ inline void begin(const tb_split_arguments &arguments)
{
    const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x,
                  all = int64_t(gridDim.x) * blockDim.x;
    const bool keeps_a = arguments.first_split_block > 0;
    static_assert(offsetof(tb_split_findings, a) == 0, "A's findings come first");
    constexpr int words = sizeof(tb_split_findings) / sizeof(uint32_t),
                  words_a = sizeof(tb_split_range) / sizeof(uint32_t);
    static_assert(words <= 32, "the first warp clears them");
    if (thread < 32) {
        if (thread < words && (thread >= words_a || !keeps_a))
            reinterpret_cast<uint32_t *>(arguments.findings)[thread] = 0;
        else if (thread == 0) {
            const bool was_narrow = arguments.findings->a.made == TB_SPLIT_MIXED;
            arguments.findings->a.format = was_narrow ? TB_SPLIT_MIXED : TB_SPLIT_BF16;
            arguments.findings->a.lacking[!was_narrow] = 0; /* A may yet be split so */
        }
    }
    for (int64_t i = thread; i < arguments.found_words_a && !keeps_a; i += all)
        arguments.largest_a[i] = 0;
    for (int64_t i = thread; i < arguments.found_words_b; i += all)
        arguments.largest_b[i] = 0;
    for (int64_t i = thread; i < arguments.pace_words; i += all)
        arguments.pace[i] = 0;
}

} // namespace split

/* Defines a kernel whose blocks call body(operand, arguments, block), A's first. */
#define TB_SPLIT_STAMP_PASS(symbol, body)                                                                    \
    extern "C" __global__ void __launch_bounds__(split::threads, split::blocks)                              \
        symbol(const __grid_constant__ tb_split_arguments arguments)                                         \
    {                                                                                                        \
        dependent_launch::launch_dependents_and_wait();                                                      \
        const int64_t block = arguments.first_split_block + blockIdx.x;                                      \
        if (block < arguments.split_blocks_a)                                                                \
            body(split::operand_a(arguments), arguments, block);                                             \
        else                                                                                                 \
            body(split::operand_b(arguments), arguments, block - arguments.split_blocks_a);                  \
    }

#define TB_SPLIT_STAMP_BEGIN(symbol)                                                                         \
    extern "C" __global__ void __launch_bounds__(TB_SPLIT_BEGIN_THREADS)                                     \
        symbol(const __grid_constant__ tb_split_arguments arguments)                                         \
    {                                                                                                        \
        dependent_launch::wait();                                                                            \
        split::begin(arguments);                                                                             \
    }
