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
 * Two FP16 parts with FP8: a third part has what these two miss, but for 2^-39 of the row's largest.
 *
 * Rows and steps of k that do not exist become zeros, so that the kernel that multiplies has no edges there.
 */
#pragma once

#include "kernels/turn.cuh"
#include "kernels/tensor/findings.cuh"
#include "kernels/tensor/split.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstddef>

namespace split
{

constexpr int stage_k = TB_SPLIT_STAGE_K, block_rows = TB_SPLIT_BLOCK_ROWS,
              block_stages = TB_SPLIT_BLOCK_STAGES;
constexpr int step_k = 8, steps = stage_k / step_k; /* a thread's share along k: 16 bytes of each part */
constexpr int threads = block_rows * steps;
/* On a multiprocessor, for enough bytes in flight: 3.8 TB/s on an H200, against 3.5 with 4. */
constexpr int blocks = 6;

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
    const tb_problem &p = arguments.problem;
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
            &arguments.findings->a};
}

__device__ inline operand operand_b(const tb_split_arguments &arguments)
{
    const tb_problem &p = arguments.problem;
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
            arguments.panels_b,
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

/* Takes the leading part off both values. */
__device__ inline uint32_t take_bf16(float &low, float &high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    low -= __low2float(pair);
    high -= __high2float(pair);
    return *reinterpret_cast<const uint32_t *>(&pair);
}

__device__ inline uint32_t take_fp16(float &low, float &high)
{
    const __half2 pair = __floats2half2_rn(low, high);
    low -= __low2float(pair);
    high -= __high2float(pair);
    return *reinterpret_cast<const uint32_t *>(&pair);
}

template <uint32_t take(float &, float &)> __device__ inline uint4 take_part(float (&values)[step_k])
{
    uint32_t packed[step_k / 2];
#pragma unroll
    for (int i = 0; i < step_k; i += 2)
        packed[i / 2] = take(values[i], values[i + 1]);
    return make_uint4(packed[0], packed[1], packed[2], packed[3]);
}

/* Whether any of eight numbers of 16 bits is not zero. */
__device__ inline bool holds_any(const uint4 &taken)
{
    return (taken.x | taken.y | taken.z | taken.w) & 0x7fff7fff;
}

/* A thread's place in a chunk of so many rows: where its eight numbers would be if their part came first. */
struct place {
    uint4 *own;
    int rows;

    /* In a part of 16 bits, which begins after so many bytes of each row. */
    __device__ uint4 &halves(int row_bytes) const
    {
        return own[row_bytes / 16 * rows];
    }

    /* In a part of 8 bits: two steps of a row are neighbours. */
    __device__ uint2 &bytes(int row_bytes) const
    {
        const int step = threadIdx.x / block_rows;
        return reinterpret_cast<uint2 *>(own + (row_bytes / 16 - (step + 1) / 2) * rows)[step % 2];
    }
};

/* What a number is split into: so many parts of 16 bits. */
template <class number, int count, bool scaled, uint32_t take(float &, float &)> struct halves {
    using element = number;
    static constexpr int parts = count, row_bytes = count * 2 * stage_k, last_order = 2 * (count - 1);
    static constexpr bool scales = scaled, has_bytes = false;

    /* Of a row: the first so many parts, which lie together. */
    __device__ static constexpr int row_bytes_of(int used)
    {
        return used * (2 * stage_k);
    }
    __device__ static constexpr int first_byte(int part)
    {
        return part * (2 * stage_k);
    }

    /* Returns how many parts hold anything. */
    __device__ static uint32_t split(float (&values)[step_k], const place &place)
    {
        uint32_t used = 0;
#pragma unroll
        for (int part = 0; part < parts; part++) {
            const uint4 taken = take_part<take>(values);
            place.halves(first_byte(part)) = taken;
            if (holds_any(taken))
                used = part + 1;
        }
        return used;
    }
};

using bf16x3 = halves<__nv_bfloat16, 3, false, take_bf16>;
using fp16x2 = halves<__half, 2, true, take_fp16>;
static_assert(bf16x3::row_bytes == TB_SPLIT_BF16_ROW_BYTES && fp16x2::row_bytes == TB_SPLIT_FP16_ROW_BYTES,
              "split.h");

/* Two parts of FP16 and, where these miss the last bits, a third. Products of order 2, at most 2^-22 of what is multiplied, take
 * FP8 of 3 significant bits (e5m2) for both operands: so the first part and the second are there as FP8, too, and the third as
 * that alone. FP8 has FP16's exponents: the third, 2^-23 of the number at most, is moved up, the first down by as much. */
struct fp16x2_fp8 {
    using element = __half;
    static constexpr int parts = 3, row_bytes = TB_SPLIT_MIXED_ROW_BYTES, last_order = 2;
    static constexpr bool scales = true, has_bytes = true;
    static constexpr int part_bytes = 3 * stage_k; /* of a row: the FP16, then the FP8 */

    __device__ static constexpr int row_bytes_of(int used)
    {
        return used < 3 ? used * part_bytes : row_bytes;
    }
    __device__ static constexpr int first_byte(int part)
    {
        return part * part_bytes;
    }
    /* Of FP8. */
    __device__ static constexpr int first_small_byte(int part)
    {
        return part < 2 ? part * part_bytes + 2 * stage_k : 2 * part_bytes;
    }

    /* 2^exponent of each as FP8, rounded to nearest even. */
    template <int exponent> __device__ static uint2 make_small(const uint4 &halves)
    {
        const uint32_t in[] = {halves.x, halves.y, halves.z, halves.w};
        uint32_t out[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            out[i] = uint32_t(small_pair<exponent>(in[2 * i])) | uint32_t(small_pair<exponent>(in[2 * i + 1]))
                                                                     << 16;
        return make_uint2(out[0], out[1]);
    }

    template <int exponent> __device__ static uint16_t small_pair(uint32_t halves)
    {
        __half2 pair = *reinterpret_cast<const __half2 *>(&halves);
        if (exponent != 0)
            pair = __hmul2(pair,
                           __float2half2_rn(exponent < 0 ? 1.0f / (1 << -exponent) : float(1 << exponent)));
        return __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2);
    }

    __device__ static uint32_t split(float (&values)[step_k], const place &place)
    {
        const uint4 first = take_part<take_fp16>(values);
        place.halves(first_byte(0)) = first;
        place.bytes(first_small_byte(0)) = make_small<-TB_SPLIT_SMALL_SHIFT>(first);
        const uint4 second = take_part<take_fp16>(values);
        place.halves(first_byte(1)) = second;
        place.bytes(first_small_byte(1)) = make_small<0>(second);
#pragma unroll
        for (float &value : values)
            value *= 1 << TB_SPLIT_SMALL_SHIFT;
        const uint2 third = make_small<0>(take_part<take_fp16>(values));
        place.bytes(first_small_byte(2)) = third;
        return (third.x | third.y) & 0x7f7f7f7f ? 3 : holds_any(second) ? 2 : holds_any(first) ? 1 : 0;
    }
};

/* By two factors, as one may lie beyond FP32's exponents. */
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
__device__ inline void raise(uint32_t *finding, uint32_t value)
{
    value = __reduce_max_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0 && value > *static_cast<volatile uint32_t *>(finding))
        atomicMax(finding, value);
}

/* A block's share of an operand: 64 rows, some stages of k. Blocks that read together read neighbours: along the rows
 * where memory does, else along k. */
struct share {
    int64_t first_row, first_stage, end_stage;
    int row, step; /* a thread's, within the rows and a stage */

    __device__ share(const operand &x, int64_t stages, int64_t block)
    {
        const int64_t blocks_k = (stages + block_stages - 1) / block_stages;
        const int64_t blocks_rows = int64_t(x.panels) * x.panel / block_rows;
        first_row = (x.k_contiguous ? block / blocks_k : block % blocks_rows) * block_rows;
        first_stage = (x.k_contiguous ? block % blocks_k : block / blocks_rows) * block_stages;
        end_stage = min(stages, first_stage + block_stages);
        row = threadIdx.x % block_rows;
        step = threadIdx.x / block_rows;
    }

    __device__ void read(const operand &x, int64_t stage, float (&values)[step_k]) const
    {
        if (x.k_contiguous)
            read_columns(x, first_row, stage * stage_k, row, step, values);
        else
            read_rows(x, first_row + row, stage * stage_k + step * step_k, values);
    }
};

/* Before a split that scales: the largest magnitude of each row. */
__device__ inline void find_largest(const operand &x, int64_t stages, int64_t block)
{
    const share share(x, stages, block);
    uint32_t largest = 0;
    for (int64_t stage = share.first_stage; stage < share.end_stage; stage++) {
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

/* Thread 0 tells of a block's pieces; what lies beyond the operand's rows lacks nothing. */
template <class format>
__device__ inline void tell_used(const operand &x, const share &share, int64_t stages,
                                 const uint32_t (&used)[block_stages])
{
    uint8_t *pieces = x.used + share.first_row / block_rows * stages;
    uint32_t lacking = 0, most = 0;
    for (int64_t stage = share.first_stage; stage < share.end_stage; stage++) {
        const uint32_t in_piece = used[stage - share.first_stage];
        if (x.used)
            pieces[stage] = uint8_t(in_piece);
        lacking += in_piece < format::parts;
        most = max(most, in_piece);
    }
    if (most > *static_cast<volatile uint32_t *>(&x.range->parts))
        atomicMax(&x.range->parts, most);
    if (lacking && share.first_row < x.rows)
        atomicAdd(&x.range->lacking[format::has_bytes], lacking);
}

template <class format> __device__ inline void split_block(const operand &x, int64_t stages, int64_t block)
{
    const share share(x, stages, block);
    const int64_t panel = share.first_row / x.panel, row_of_panel = share.first_row % x.panel + share.row;
    tb_split_range range = {};
    __shared__ uint32_t used[block_stages];
    if (threadIdx.x < block_stages)
        used[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t stage = share.first_stage; stage < share.end_stage; stage++) {
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
            atomicMax(&used[stage - share.first_stage], parts);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        tell_used<format>(x, share, stages, used);
    raise(&x.range->largest, range.largest);
    raise(&x.range->smallest_below_256, range.smallest_below_256);
}

/* Splits B, and A where it is not there in this format, which the survey has chosen. */
template <class format>
__device__ inline void split_as_chosen(const tb_split_arguments &arguments, tb_split_format number)
{
    int64_t block = blockIdx.x;
    if (block >= arguments.turns_a) {
        split_block<format>(operand_b(arguments), arguments.stages, block - arguments.turns_a);
        return;
    }
    if (arguments.findings->a.format == number)
        return;
    for (; block < arguments.split_blocks_a; block += arguments.turns_a) {
        split_block<format>(operand_a(arguments), arguments.stages, block);
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
        const bool was_narrow = keeps_a && arguments.sums_a && is_narrow(arguments);
        __syncwarp();
        if (thread < words && (thread >= words_a || !keeps_a))
            reinterpret_cast<uint32_t *>(arguments.findings)[thread] = 0;
        else if (thread == 0) {
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

/* Defines a kernel whose blocks call body(operand, stages, block), A's first. */
#define TB_SPLIT_STAMP_PASS(symbol, body)                                                                    \
    extern "C" __global__ void __launch_bounds__(split::threads, split::blocks)                              \
        symbol(const __grid_constant__ tb_split_arguments arguments)                                         \
    {                                                                                                        \
        turn::take_together();                                                                               \
        const int64_t block = arguments.first_split_block + blockIdx.x;                                      \
        if (block < arguments.split_blocks_a)                                                                \
            body(split::operand_a(arguments), arguments.stages, block);                                      \
        else                                                                                                 \
            body(split::operand_b(arguments), arguments.stages, block - arguments.split_blocks_a);           \
    }

#define TB_SPLIT_STAMP_BEGIN(symbol)                                                                         \
    extern "C" __global__ void __launch_bounds__(TB_SPLIT_BEGIN_THREADS)                                     \
        symbol(const __grid_constant__ tb_split_arguments arguments)                                         \
    {                                                                                                        \
        turn::take();                                                                                        \
        split::begin(arguments);                                                                             \
    }
