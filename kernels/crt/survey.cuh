/* The survey: what the numbers of an outer index are like, some steps of k at a time.
 *
 * Logarithms to base 2 are counted by a number's upper bits, 128 to a power of two; that is up to 0.0861 below the logarithm.
 */
#pragma once

#include "kernels/crt/crt.h"

#include <stdint.h>

namespace crt
{

constexpr int block_rows = TB_CRT_BLOCK_ROWS, pass_threads = TB_CRT_PASS_THREADS;
constexpr int exponent_bias = 1023, mantissa_bits = 52;
constexpr int logarithm_shift = 45, logarithm_units = 128;
constexpr float logarithm_error = 0.0861f;
constexpr int no_bit = 1 << 20; /* the lowest bit of zeros */

struct census {
    double squares = 0;
    uint32_t logarithms = 0, largest = 0;
    int lowest = no_bit, count = 0;
    bool strange = false;

    __device__ void take(double value)
    {
        const uint64_t bits = uint64_t(__double_as_longlong(value)) & ~(uint64_t(1) << 63);
        const uint32_t upper = uint32_t(bits >> 32);
        const int exponent = int(upper >> 20) - exponent_bias;
        const bool nonzero = bits != 0;
        strange =
            strange || (nonzero && (exponent < -TB_CRT_EXPONENT_MOST || exponent > TB_CRT_EXPONENT_MOST));
        largest = max(largest, upper);
        count += nonzero;
        logarithms += nonzero ? uint32_t(bits >> logarithm_shift) : 0;
        squares = fma(value, value, squares);
        const uint32_t low = uint32_t(bits);
        const int zeros = low ? __ffs(int(low)) - 1 : 31 + __ffs(int(upper | 1u << 20));
        lowest = nonzero ? min(lowest, exponent - mantissa_bits + zeros) : lowest;
    }

    __device__ void join(const census &other)
    {
        squares += other.squares;
        logarithms += other.logarithms;
        largest = max(largest, other.largest);
        lowest = min(lowest, other.lowest);
        count += other.count;
        strange = strange || other.strange;
    }

    __device__ void store(tb_crt_census *to) const
    {
        to->squares = squares;
        to->logarithms = logarithms;
        to->largest = largest;
        to->lowest = lowest;
        to->count = strange ? -1 : count;
    }
};

/* Of 64 rows, where neighbours in memory are rows: a thread takes every fourth step of a row. */
__device__ inline void survey_rows(const tb_crt_operand &x, int64_t first_row, int64_t first_k, int64_t end,
                                   tb_crt_census *to)
{
    constexpr int apart = pass_threads / block_rows, batch = 8;
    __shared__ census of_row[apart][block_rows];
    const int row = threadIdx.x % block_rows, own = threadIdx.x / block_rows;
    const bool exists = first_row + row < x.rows;
    census mine;
    for (int64_t k = first_k + own; k < end; k += apart * batch) {
        const double *source = x.elements + first_row + row + k * x.leading_dimension;
        double values[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            values[i] = exists && k + i * apart < end ? source[i * apart * x.leading_dimension] : 0;
#pragma unroll
        for (int i = 0; i < batch; i++)
            mine.take(values[i]);
    }
    of_row[own][row] = mine;
    __syncthreads();
    if (own > 0 || !exists)
        return;
    for (int i = 1; i < apart; i++)
        mine.join(of_row[i][row]);
    mine.store(to + first_row + row);
}

/* The same where neighbours are steps of k: a warp takes every eighth row. */
__device__ inline void survey_columns(const tb_crt_operand &x, int64_t first_row, int64_t first_k,
                                      int64_t end, tb_crt_census *to)
{
    constexpr int lanes = 32, warps = pass_threads / lanes, batch = 8;
    const int lane = threadIdx.x % lanes;
#pragma unroll 1
    for (int row = threadIdx.x / lanes; row < block_rows && first_row + row < x.rows; row += warps) {
        const double *source = x.elements + (first_row + row) * x.leading_dimension;
        census mine;
        for (int64_t k = first_k + lane; k - lane < end; k += lanes * batch) {
            double values[batch];
#pragma unroll
            for (int i = 0; i < batch; i++)
                values[i] = k + i * lanes < end ? source[k + i * lanes] : 0;
#pragma unroll
            for (int i = 0; i < batch; i++)
                mine.take(values[i]);
        }
#pragma unroll
        for (int away = lanes / 2; away > 0; away /= 2)
            mine.squares += __shfl_xor_sync(0xffffffff, mine.squares, away);
        mine.logarithms = __reduce_add_sync(0xffffffff, mine.logarithms);
        mine.largest = __reduce_max_sync(0xffffffff, mine.largest);
        mine.lowest = __reduce_min_sync(0xffffffff, mine.lowest);
        mine.count = __reduce_add_sync(0xffffffff, mine.count);
        mine.strange = __any_sync(0xffffffff, mine.strange);
        if (lane == 0)
            mine.store(to + first_row + row);
    }
}

__device__ inline int64_t row_blocks(const tb_crt_operand &x)
{
    return (x.rows + block_rows - 1) / block_rows;
}
__device__ inline int survey_blocks_k(const tb_crt_arguments &arguments)
{
    return int((arguments.problem.k + arguments.survey_k - 1) / arguments.survey_k);
}
__device__ inline int64_t survey_blocks(const tb_crt_arguments &arguments, const tb_crt_operand &x)
{
    return row_blocks(x) * survey_blocks_k(arguments);
}

__device__ inline void survey(const tb_crt_arguments &arguments, const tb_crt_operand &x, int64_t block)
{
    const int64_t blocks_rows = row_blocks(x), block_k = block / blocks_rows;
    const int64_t first_row = block % blocks_rows * block_rows, first_k = block_k * arguments.survey_k,
                  end = min(x.k, first_k + arguments.survey_k);
    tb_crt_census *to = x.census + block_k * x.rows;
    if (x.k_contiguous)
        survey_columns(x, first_row, first_k, end, to);
    else
        survey_rows(x, first_row, first_k, end, to);
}

/* Puts together what is known of an outer index. */
__device__ inline void gather(const tb_crt_arguments &arguments, const tb_crt_operand &x, int64_t row)
{
    double squares = 0;
    uint64_t logarithms = 0;
    uint32_t largest = 0;
    int lowest = no_bit;
    int64_t count = 0;
    bool strange = false;
    const int blocks = survey_blocks_k(arguments);
#pragma unroll 4
    for (int block = 0; block < blocks; block++) {
        const tb_crt_census part = x.census[block * x.rows + row];
        squares += part.squares;
        logarithms += part.logarithms;
        largest = max(largest, part.largest);
        lowest = min(lowest, part.lowest);
        strange = strange || part.count < 0;
        count += part.count;
    }
    tb_crt_record record = {TB_CRT_NOTHING, 0, 0, float(x.k - count), 0, 0};
    if (strange)
        record.zeros = -1;
    else if (count > 0) {
        const int exponent = int(largest >> 20) - exponent_bias;
        const int64_t units = largest >> (logarithm_shift - 32);
        const double scale = __longlong_as_double(int64_t(exponent_bias - 2 * exponent) << mantissa_bits);
        record.norm = float(0.5 * log2(squares * scale));
        record.largest = float(units % logarithm_units) / logarithm_units;
        record.deficit =
            float(count * units - int64_t(logarithms)) / logarithm_units + float(count) * logarithm_error;
        record.exponent = exponent;
        record.lowest = lowest - exponent;
    }
    x.records[row] = record;
}

} // namespace crt
