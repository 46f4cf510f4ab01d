/* What is concluded from the survey: the quantum of every outer index, and how many moduli there have to be.
 *
 * With quanta 2^p of row i and 2^q of column j rounding changes an element of C by about
 *     (2^p |b| + 2^q |a|) / sqrt(12),    |.| the root of the sum of squares,
 * which has to stay below e u d, u = 2^-53, d the sum of the products' magnitudes. d is no less than the number of its terms times
 * their geometric mean: with A and B the largest magnitudes of the row and the column, t terms, and D what the logarithms of the others
 * are less than that of the largest, all added up,
 *     d >= t A B 2^-(Da / t + Db / t).
 * So that 2^p <= e u t A 2^-(Da / t) min over j of B 2^-(Db / t) / |b|. Where all of a row's numbers are multiples of more than
 * that, that is its quantum, and nothing is rounded.
 *
 * Of the integers' products a sum is at most |a| |b| 2^-(p + q): the moduli's product must be twice that.
 */
#pragma once

#include "kernels/crt/moduli.cuh"
#include "kernels/crt/survey.cuh"

namespace crt
{

constexpr float rounding = 1e-3f; /* more than logarithms err by, which are below 2^8 */

/* Of both operands. */
struct both {
    float a, b;
};

__device__ inline both larger(both x, both y)
{
    return {fmaxf(x.a, y.a), fmaxf(x.b, y.b)};
}

/* Of the block's threads. */
__device__ inline both most_of_block(both value)
{
    __shared__ both of_warp[TB_CRT_DECIDE_THREADS / 32];
    const auto of_lanes = [](both x) {
#pragma unroll
        for (int away = 16; away > 0; away /= 2)
            x = larger(x, {__shfl_xor_sync(0xffffffff, x.a, away), __shfl_xor_sync(0xffffffff, x.b, away)});
        return x;
    };
    value = of_lanes(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    return of_lanes(of_warp[threadIdx.x % 32]);
}

template <class operation>
__device__ inline float most_of_records(const tb_crt_operand &x, int64_t rows, operation value_of)
{
    float most = 0;
#pragma unroll 4
    for (int64_t row = threadIdx.x; row < rows; row += TB_CRT_DECIDE_THREADS)
        most = fmaxf(most, value_of(x.records[row], row));
    return most;
}

/* The most that a function of its records is for each operand, or 0. */
template <class operation>
__device__ inline both most_of_both(const tb_crt_arguments &arguments, operation value_of)
{
    const int64_t rows_b = arguments.same ? 0 : arguments.b.rows;
    both most = {most_of_records(arguments.a, arguments.a.rows, value_of),
                 most_of_records(arguments.b, rows_b, value_of)};
    most = most_of_block(most);
    return {most.a, arguments.same ? most.a : most.b};
}

/* The most zeros that an outer index has, but for those that have nothing else; `strange` where there is anything strange. */
constexpr float strange = 1e30f;
__device__ inline both most_zeros(const tb_crt_arguments &arguments)
{
    return most_of_both(arguments, [](const tb_crt_record &record, int64_t) {
        return record.zeros < 0 ? strange : record.norm > TB_CRT_NOTHING ? record.zeros : 0.0f;
    });
}

/* The most that D / t and the logarithm of |b| by B are together. */
__device__ inline both most_spread(const tb_crt_arguments &arguments, float terms)
{
    return most_of_both(arguments, [terms](const tb_crt_record &record, int64_t) {
        return record.norm > TB_CRT_NOTHING ? record.deficit / terms + record.norm - record.largest : 0.0f;
    });
}

/* Chooses an outer index's quantum; returns the bits that it then has. */
__device__ inline float choose_quantum(const tb_crt_operand &x, const tb_crt_record &record, int64_t row,
                                       float terms, float finest)
{
    if (record.norm <= TB_CRT_NOTHING) {
        x.quantum[row] = 0;
        return 0;
    }
    int quantum = record.lowest;
    if (terms > 0)
        quantum = max(quantum, __float2int_rn(finest + record.largest - record.deficit / terms));
    x.quantum[row] = record.exponent + quantum;
    return record.norm - float(quantum);
}

/* The shares e of u d, of which the first is taken that the moduli, and integers, have room for. With the first, numbers that repeat
 * along k, so that roundings add up, err by sqrt(2 k) / 64 u d at most, 1.4 u d at k = 4096; most distributions take 16 moduli. With the
 * second, random numbers err by a tenth of what FP64 units make of them (docs/precision.md). */
constexpr float share_of_error = 1.0f / 64, larger_share = 0.17f;

/* Bits by which A's quanta are finer than they need be, so that they serve the next B, too. */
constexpr float spare_bits = 0.25f;

/* How many moduli integers of so many bits take; 0: more than there may be. */
__device__ inline int count_moduli(float bits_a, float bits_b, int most)
{
    if (fmaxf(bits_a, bits_b) + rounding >= bias_bits)
        return 0;
    const double largest = exp2(double(bits_a) + double(bits_b) + 2 * double(rounding));
    for (int count = 1; count <= most; count++)
        if (largest <= device_limits.of[count])
            return count;
    return 0;
}

/* Chooses the quanta, or those of B where A keeps what it has, for an error of 2^error; says how many moduli that takes. */
__device__ inline void choose_quanta(const tb_crt_arguments &arguments, tb_crt_decision &own, bool keeps_a,
                                     float terms, both spread, float error)
{
    if (!keeps_a)
        own.spread_of_b = spread.b + (arguments.same ? 0 : spare_bits);
    const float finest_a = error - own.spread_of_b, finest_b = error - spread.a;
    const int64_t rows_a = keeps_a ? 0 : arguments.a.rows, rows_b = arguments.same ? 0 : arguments.b.rows;
    const both bits =
        most_of_block({most_of_records(arguments.a, rows_a,
                                       [&](const tb_crt_record &record, int64_t row) {
                                           return choose_quantum(arguments.a, record, row, terms, finest_a);
                                       }),
                       most_of_records(arguments.b, rows_b, [&](const tb_crt_record &record, int64_t row) {
                           return choose_quantum(arguments.b, record, row, terms, finest_b);
                       })});
    if (!keeps_a) {
        own.bits_of_a = bits.a;
        own.moduli_of_a = 0;
    }
    own.moduli = count_moduli(own.bits_of_a, arguments.same ? own.bits_of_a : bits.b, arguments.moduli_most);
}

/* By one block of TB_CRT_DECIDE_THREADS. */
__device__ inline void decide(const tb_crt_arguments &arguments)
{
    const int64_t k = arguments.problem.k;
    tb_crt_decision own = *arguments.decision;
    own.moduli = 0;
    const both zeros = most_zeros(arguments);
    if (zeros.a < strange && zeros.b < strange) {
        bool keeps_a = arguments.keeps_a && own.bits_of_a >= 0 && zeros.b <= own.zeros_of_b;
        if (!keeps_a)
            own.zeros_of_b = zeros.b;
        const float terms = float(k) - zeros.a - own.zeros_of_b, some = fmaxf(terms, 1);
        const both spread = most_spread(arguments, some);
        keeps_a = keeps_a && spread.b <= own.spread_of_b;
        const float terms_of_d = log2f(some) - 53;
        choose_quanta(arguments, own, keeps_a, terms, spread, log2f(share_of_error) + terms_of_d);
        if (own.moduli == 0)
            choose_quanta(arguments, own, false, terms, spread, log2f(larger_share) + terms_of_d);
    } else if (!arguments.keeps_a)
        own.bits_of_a = -1; /* and so no quanta */
    own.makes_a = own.moduli > own.moduli_of_a;
    if (own.makes_a)
        own.moduli_of_a = arguments.leaves_a ? own.moduli : 0;
    else
        own.moduli_of_a = min(own.moduli_of_a, arguments.moduli_most);
    if (threadIdx.x == 0)
        *arguments.decision = own;
}

} // namespace crt
