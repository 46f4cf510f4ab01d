/* A survey: before operands are split, the largest magnitude of every row of op(X), and how far the others lie below it. What is
 * concluded from that is in findings.cuh.
 */
#pragma once

#include "kernels/tensor/split.cuh"

namespace split
{

/* The last block of a survey to be done with 64 rows: what it finds out of them all together. */
__device__ inline void conclude(const operand &x, int64_t row)
{
    uint32_t largest = 0, zeros = 0, deficit = 0;
    if (row < x.rows)
        largest = __ldcg(x.largest + row);
    if (largest != 0) {
        const uint64_t found = __ldcg(reinterpret_cast<const unsigned long long *>(x.sums) + row);
        const int64_t count = int64_t(found >> TB_SPLIT_COUNT_SHIFT),
                      sum = int64_t(found & ((uint64_t(1) << TB_SPLIT_COUNT_SHIFT) - 1));
        constexpr int64_t up = (1 << TB_SPLIT_DEFICIT_SHIFT) - 1;
        zeros = uint32_t(x.k - count);
        deficit = uint32_t((count * logarithm_above(largest) - sum + up) >> TB_SPLIT_DEFICIT_SHIFT);
    }
    raise(&x.range->largest, largest >> 23);
    raise(&x.range->zeros, zeros);
    raise(&x.range->deficit, deficit);
}

/* What a survey counts of some elements. */
struct census {
    uint32_t largest = 0, count = 0, sum = 0, fine = 0;

    __device__ void take(float value)
    {
        const uint32_t magnitude = __float_as_uint(value) & 0x7fffffff;
        const bool is_normal = magnitude >> 23;
        largest = max(largest, magnitude);
        count += is_normal;
        sum += is_normal ? logarithm_below(magnitude) : 0;
        fine |= magnitude & 0xffff;
    }
};

/* Surveys 64 rows from k to end, where neighbours are rows: a thread takes every fourth step of a row. */
__device__ inline void survey_rows(const operand &x, int64_t first_row, int64_t k, int64_t end,
                                   census (&of_row)[block_rows])
{
    constexpr int apart = threads / block_rows, batch = 16;
    const int row = threadIdx.x % block_rows;
    const bool exists = first_row + row < x.rows;
    census mine;
    for (k += threadIdx.x / block_rows; k < end; k += apart * batch) {
        const float *source = x.elements + first_row + row + k * x.leading_dimension;
        float values[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            values[i] = exists && k + i * apart < end ? source[i * apart * x.leading_dimension] : 0;
#pragma unroll
        for (int i = 0; i < batch; i++)
            mine.take(values[i]);
    }
    atomicMax(&of_row[row].largest, mine.largest);
    atomicAdd(&of_row[row].count, mine.count);
    atomicAdd(&of_row[row].sum, mine.sum);
    atomicOr(&of_row[row].fine, mine.fine);
}

/* The same where neighbours are steps of k: a warp takes every eighth row, four at a time. */
__device__ inline void survey_columns(const operand &x, int64_t first_row, int64_t k, int64_t end,
                                      census (&of_row)[block_rows])
{
    constexpr int lanes = 32, warps = threads / lanes, rows = 4, batch = 4;
    const int lane = threadIdx.x % lanes;
#pragma unroll 1
    for (int first = threadIdx.x / lanes; first < block_rows; first += warps * rows) {
        const float *source = x.elements + (first_row + first) * x.leading_dimension;
        const int64_t left = x.rows - first_row - first;
#pragma unroll 1
        for (int64_t at = k + lane; at - lane < end; at += lanes * batch) {
            float values[rows][batch];
#pragma unroll
            for (int r = 0; r < rows; r++)
#pragma unroll
                for (int i = 0; i < batch; i++)
                    values[r][i] = r * warps < left && at + i * lanes < end
                                       ? source[r * warps * x.leading_dimension + at + i * lanes]
                                       : 0;
#pragma unroll
            for (int r = 0; r < rows; r++) {
                census mine, &own = of_row[first + r * warps];
#pragma unroll
                for (int i = 0; i < batch; i++)
                    mine.take(values[r][i]);
                const uint32_t largest = __reduce_max_sync(0xffffffff, mine.largest),
                               count = __reduce_add_sync(0xffffffff, mine.count),
                               sum = __reduce_add_sync(0xffffffff, mine.sum),
                               fine = __reduce_or_sync(0xffffffff, mine.fine);
                if (lane == 0) {
                    own.largest = max(own.largest, largest);
                    own.count += count;
                    own.sum += sum;
                    own.fine |= fine;
                }
            }
        }
    }
}

__device__ inline int64_t survey_blocks(const operand &x, const tb_split_arguments &arguments)
{
    return int64_t(x.panels) * x.panel / block_rows *
           ((arguments.stages + arguments.survey_stages - 1) / arguments.survey_stages);
}

/* Finds the largest magnitude of each row, and how far the others lie below it, before a split whose format is to be chosen. */
__device__ inline void survey(const operand &x, const tb_split_arguments &arguments, int64_t block)
{
    __shared__ census of_row[block_rows];
    __shared__ bool is_last;
    const int64_t blocks_k = (arguments.stages + arguments.survey_stages - 1) / arguments.survey_stages;
    const int64_t blocks_rows = int64_t(x.panels) * x.panel / block_rows;
    const int64_t group = x.k_contiguous ? block / blocks_k : block % blocks_rows,
                  first_row = group * block_rows;
    const int64_t first_k =
        (x.k_contiguous ? block % blocks_k : block / blocks_rows) * arguments.survey_stages * stage_k;
    const int64_t end = min(x.k, first_k + arguments.survey_stages * stage_k);
    if (threadIdx.x < block_rows)
        of_row[threadIdx.x] = census();
    __syncthreads();
    if (x.k_contiguous)
        survey_columns(x, first_row, first_k, end, of_row);
    else
        survey_rows(x, first_row, first_k, end, of_row);
    __syncthreads();
    if (threadIdx.x < block_rows) {
        const census &own = of_row[threadIdx.x];
        const int64_t row = first_row + threadIdx.x;
        if (own.largest != 0) {
            atomicMax(x.largest + row, own.largest);
            atomicAdd(reinterpret_cast<unsigned long long *>(x.sums) + row,
                      uint64_t(own.count) << TB_SPLIT_COUNT_SHIFT | own.sum);
        }
        raise(&x.range->fine, own.fine);
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(x.surveyed + group, 1) == blocks_k - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x < block_rows)
        conclude(x, first_row + threadIdx.x);
}

} // namespace split
