/* The pre-pass: splits A and B into BF16 parts, laid out as the tensor kernel's copies want them.
 *
 *   op(X), outer x k                      parts, chunk after chunk
 *   +--------+--------+--     each       +-----------------------------------------------+
 *   | chunk  | chunk  |       block      | part 0: k 0-7 of row 0, of row 1, ... | k 8-15 | ...
 *   +--------+--------+--     writes     | part 1: ...                           |        |
 *   | chunk  | chunk  |       64 rows    | part 2: ...                           |        |
 *   +--------+--------+--     of one     +-----------------------------------------------+
 *     32 of k
 *
 * The first part is the FP32 number rounded to nearest even, the second what is left rounded likewise, the
 * third what is left then: 8 + 8 + 8 significant bits. Both differences are exact in FP32, and the three parts
 * sum to the number exactly while its last bit is at least 2^-133, BF16's smallest: from 2^-110 on.
 *
 * Rows and steps of k that do not exist become zeros, so that the kernel that multiplies has no edges there.
 */
#pragma once

#include "kernels/tensor/split.h"

#include <cuda_bf16.h>

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
    int panel, panels;
    tb_split_range *range;
};

__device__ inline operand operand_a(const tb_split_arguments &arguments)
{
    const tb_problem &p = arguments.problem;
    return {p.a,
            p.m,
            p.k,
            p.lda,
            p.transpose_a != 0,
            static_cast<uint4 *>(arguments.parts_a),
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

/* Takes the leading part off each value. */
__device__ inline uint4 take_part(float (&values)[step_k])
{
    uint32_t packed[step_k / 2];
#pragma unroll
    for (int i = 0; i < step_k; i += 2) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(values[i], values[i + 1]);
        values[i] -= __low2float(pair);
        values[i + 1] -= __high2float(pair);
        packed[i / 2] = *reinterpret_cast<const uint32_t *>(&pair);
    }
    return make_uint4(packed[0], packed[1], packed[2], packed[3]);
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

/* Blocks that read together read neighbours: along the rows where memory does, else along k. */
__device__ inline void split_block(const operand &x, int64_t stages, int64_t block)
{
    const int64_t blocks_k = (stages + block_stages - 1) / block_stages;
    const int64_t blocks_rows = int64_t(x.panels) * x.panel / block_rows;
    const int64_t block_row = x.k_contiguous ? block / blocks_k : block % blocks_rows;
    const int64_t block_k = x.k_contiguous ? block % blocks_k : block / blocks_rows;

    const int64_t first_row = block_row * block_rows;
    const int row = threadIdx.x % block_rows, step = threadIdx.x / block_rows;
    const int64_t panel = first_row / x.panel, row_of_panel = first_row % x.panel + row;
    tb_split_range range = {};
    for (int64_t stage = block_k * block_stages; stage < min(stages, (block_k + 1) * block_stages); stage++) {
        float values[step_k];
        if (x.k_contiguous)
            read_columns(x, first_row, stage * stage_k, row, step, values);
        else
            read_rows(x, first_row + row, stage * stage_k + step * step_k, values);
        note_range(range, values);
        uint4 *target =
            x.parts + ((panel * stages + stage) * TB_SPLIT_PARTS * steps + step) * x.panel + row_of_panel;
#pragma unroll
        for (int part = 0; part < TB_SPLIT_PARTS; part++) {
            const uint4 taken = take_part(values);
            target[part * steps * x.panel] = taken;
            if ((taken.x | taken.y | taken.z | taken.w) & 0x7fff7fff)
                range.parts = max(range.parts, part + 1);
        }
    }
    raise(&x.range->largest, range.largest);
    raise(&x.range->smallest_below_256, range.smallest_below_256);
    raise(&x.range->parts, range.parts);
}

} // namespace split
