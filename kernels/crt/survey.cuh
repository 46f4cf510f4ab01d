/* The survey: what the numbers of an outer index are like, some steps of k at a time.
 *
 * Logarithms to base 2 are counted by a number's upper bits, 128 to a power of two; that is up to 0.0861 below the logarithm.
 */
#pragma once

#include "kernels/crt/crt.h"
#include "kernels/crt/instructions.cuh"

#include <stdint.h>

namespace crt
{

constexpr int block_rows = TB_CRT_BLOCK_ROWS, pass_threads = TB_CRT_PASS_THREADS;
constexpr int exponent_bias = 1023, mantissa_bits = 52;
constexpr int logarithm_shift = 45, logarithm_units = 128;
constexpr float logarithm_error = 0.0861f;
constexpr int no_bit = 1 << 20; /* the lowest bit of zeros */

/* Where a number has its very last bit, as one of two has that are not of few bits, last bits are not looked for. */
constexpr uint32_t last_bit = 1;

constexpr int batch = 8, lanes = 32;

struct census {
    double squares = 0;
    uint64_t uppers = 0; /* sum of upper words, which are logarithms */
    uint32_t largest = 0, least = UINT32_MAX;
    int lowest = no_bit, count = 0;
    bool few = true; /* bits */

    template <int n> __device__ void take(const double (&values)[n])
    {
        uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const uint32_t low = uint32_t(__double2loint(values[i])),
                           upper = uint32_t(__double2hiint(values[i])) & INT32_MAX;
            const bool nonzero = (upper | low) != 0;
            largest = max(largest, upper);
            least = nonzero ? min(least, upper) : least;
            count += nonzero;
            add_wide(uppers, upper);
            squares = fma(values[i], values[i], squares);
            bits |= low;
        }
        few = few && (bits & last_bit) == 0;
        if (few)
#pragma unroll
            for (int i = 0; i < n; i++)
                take_lowest(uint32_t(__double2loint(values[i])),
                            uint32_t(__double2hiint(values[i])) & INT32_MAX);
    }

    __device__ void take_lowest(uint32_t low, uint32_t upper)
    {
        const int zeros = low ? __ffs(int(low)) - 1 : 31 + __ffs(int(upper | 1u << 20));
        const int exponent = int(upper >> 20) - exponent_bias;
        lowest = (upper | low) != 0 ? min(lowest, exponent - mantissa_bits + zeros) : lowest;
    }

    __device__ void join(const census &other)
    {
        squares += other.squares;
        uppers += other.uppers;
        largest = max(largest, other.largest);
        least = min(least, other.least);
        lowest = min(lowest, other.lowest);
        count += other.count;
        few = few && other.few;
    }

    /* That of a lane so many lanes away. */
    __device__ census of_lane(int away) const
    {
        const auto own = [away](auto value) { return __shfl_xor_sync(0xffffffff, value, away); };
        census other;
        other.squares = own(squares);
        other.uppers = own(uppers);
        other.largest = own(largest);
        other.least = own(least);
        other.lowest = own(lowest);
        other.count = own(count);
        other.few = own(int(few));
        return other;
    }

    /* Joins the findings of all lanes. */
    __device__ void join_lanes()
    {
        for (int away = lanes / 2; away > 0; away /= 2)
            join(of_lane(away));
    }

    __device__ uint64_t logarithms() const
    {
        return uppers >> (logarithm_shift - 32);
    }

    __device__ void store(tb_crt_census *to, uint64_t logarithms) const
    {
        const int first = int(least >> 20) - exponent_bias, last = int(largest >> 20) - exponent_bias;
        const bool strange = count > 0 && (first < -TB_CRT_EXPONENT_MOST || last > TB_CRT_EXPONENT_MOST);
        to->squares = squares;
        to->logarithms = uint32_t(logarithms);
        to->largest = largest;
        to->lowest = few ? lowest : first - mantissa_bits;
        to->count = strange ? -1 : count;
    }
};

/* One step of k of an outer index. Parts of a number are one below the other. */
__device__ inline const double *element_at(const tb_crt_operand &x, int parts, int64_t row, int64_t step)
{
    const int64_t ld = x.leading_dimension;
    if (x.k_contiguous)
        return x.elements + row * ld + step;
    return x.elements + (parts == 1 ? row + step * ld : 2 * row + step % 2 + step / 2 * (2 * ld));
}

/* Surveys 64 rows, where neighbours in memory are rows: a thread takes every fourth step of a row. */
__device__ inline void survey_rows(const tb_crt_operand &x, int parts, int first_row, int first_k, int steps,
                                   tb_crt_census *to)
{
    constexpr int apart = pass_threads / block_rows;
    __shared__ census of_row[apart][block_rows];
    const int row = threadIdx.x % block_rows, own = threadIdx.x / block_rows;
    const bool exists = first_row + row < x.rows;
    const int64_t ld = x.leading_dimension;
    const double *source = element_at(x, parts, first_row + row, first_k + own);
    census mine;
    for (int left = exists ? steps - own : 0; left > 0; left -= apart * batch) {
        double values[batch];
#pragma unroll
        for (int i = 0; i < batch; i++, source += apart * ld)
            values[i] = i * apart < left ? *source : 0;
        mine.take(values);
    }
    of_row[own][row] = mine;
    __syncthreads();
    if (own > 0 || !exists)
        return;
    for (int i = 1; i < apart; i++)
        mine.join(of_row[i][row]);
    mine.store(to + first_row + row, mine.logarithms());
}

/* A block's part of an outer index, of which every lane has some; returns the sum of logarithms. From 8.0 on there are
 * instructions for what has 32 bits. */
__device__ inline uint64_t join_warp(census &mine)
{
#if __CUDA_ARCH__ >= 800
#pragma unroll
    for (int away = lanes / 2; away > 0; away /= 2)
        mine.squares += __shfl_xor_sync(0xffffffff, mine.squares, away);
    mine.largest = __reduce_max_sync(0xffffffff, mine.largest);
    mine.least = __reduce_min_sync(0xffffffff, mine.least);
    mine.lowest = __reduce_min_sync(0xffffffff, mine.lowest);
    mine.count = __reduce_add_sync(0xffffffff, mine.count);
    mine.few = __all_sync(0xffffffff, mine.few);
    return __reduce_add_sync(0xffffffff, uint32_t(mine.logarithms()));
#else
    mine.join_lanes();
    return mine.logarithms();
#endif
}

/* The same where neighbours are steps of k: a warp takes every eighth row. */
__device__ inline void survey_columns(const tb_crt_operand &x, int first_row, int first_k, int steps,
                                      tb_crt_census *to)
{
    constexpr int warps = pass_threads / lanes;
    const int lane = threadIdx.x % lanes;
#pragma unroll 1
    for (int row = threadIdx.x / lanes; row < block_rows && first_row + row < x.rows; row += warps) {
        const double *source = element_at(x, 1, first_row + row, first_k + lane);
        census mine;
        for (int left = steps - lane; left > -lane; left -= lanes * batch, source += lanes * batch) {
            double values[batch];
#pragma unroll
            for (int i = 0; i < batch; i++)
                values[i] = i * lanes < left ? source[i * lanes] : 0;
            mine.take(values);
        }
        const uint64_t logarithms = join_warp(mine);
        if (lane == 0)
            mine.store(to + first_row + row, logarithms);
    }
}

__device__ inline int row_blocks(const tb_crt_operand &x)
{
    return int((x.rows + block_rows - 1) / block_rows);
}
__device__ inline int survey_blocks_k(const tb_crt_arguments &arguments)
{
    return int((arguments.problem.k + arguments.survey_k - 1) / arguments.survey_k);
}
__device__ inline int survey_blocks(const tb_crt_arguments &arguments, const tb_crt_operand &x)
{
    return row_blocks(x) * survey_blocks_k(arguments);
}

__device__ inline void survey(const tb_crt_arguments &arguments, const tb_crt_operand &x, int block)
{
    const int blocks_rows = row_blocks(x), block_k = block / blocks_rows,
              first_row = block % blocks_rows * block_rows, first_k = block_k * arguments.survey_k;
    const int steps = min(int(arguments.problem.k) - first_k, arguments.survey_k);
    tb_crt_census *to = x.census + block_k * x.rows;
    if (x.k_contiguous)
        survey_columns(x, first_row, first_k, steps, to);
    else
        survey_rows(x, arguments.parts, first_row, first_k, steps, to);
}

/* What is found of an outer index, block by block. */
struct findings {
    double squares = 0;
    uint64_t logarithms = 0;
    uint32_t largest = 0;
    int lowest = no_bit;
    int64_t count = 0;
    bool strange = false;

    /* sum: of logarithms, which the part is beside. */
    __device__ void add(const tb_crt_census &part, uint64_t sum)
    {
        squares += part.squares;
        logarithms += sum;
        largest = max(largest, part.largest);
        lowest = min(lowest, part.lowest);
        strange = strange || part.count < 0;
        count += part.count;
    }

    __device__ tb_crt_record record(int64_t k) const
    {
        tb_crt_record record = {TB_CRT_NOTHING, 0, 0, float(k - count), 0, 0};
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
        return record;
    }
};

/* Puts together what is known of an outer index. */
__device__ inline void gather(const tb_crt_arguments &arguments, const tb_crt_operand &x, int64_t row)
{
    findings found;
    const int blocks = survey_blocks_k(arguments);
#pragma unroll 4
    for (int block = 0; block < blocks; block++) {
        const tb_crt_census part = x.census[block * x.rows + row];
        found.add(part, part.logarithms);
    }
    x.records[row] = found.record(arguments.problem.k);
}

/* Whether the scout (scout.cuh) has given up. */
__device__ inline bool is_given_up(const tb_crt_arguments &arguments)
{
    return *static_cast<const volatile int64_t *>(&arguments.decision->given_up) == arguments.ticket;
}

/* Whether records of A are there, from the launch before. */
__device__ inline bool knows_a(const tb_crt_arguments &arguments)
{
    return arguments.keeps_a && arguments.decision->knows_a;
}

} // namespace crt
