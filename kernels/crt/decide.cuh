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

template <class operation> __device__ inline float over_block(float value, operation combine)
{
    __shared__ float of_warp[32];
#pragma unroll
    for (int away = 16; away > 0; away /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffff, value, away));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % 32];
#pragma unroll
    for (int away = 16; away > 0; away /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffff, value, away));
    return value;
}

__device__ inline float block_max(float value)
{
    return over_block(value, [](float x, float y) { return fmaxf(x, y); });
}

constexpr float rounding = 1e-3f; /* more than logarithms err by, which are below 2^8 */

template <class operation>
__device__ inline float most_of_records(const tb_crt_operand &x, float least, operation value_of)
{
    float most = least;
#pragma unroll 4
    for (int64_t row = threadIdx.x; row < x.rows; row += TB_CRT_DECIDE_THREADS)
        most = fmaxf(most, value_of(x.records[row], row));
    return block_max(most);
}

/* The most zeros that an outer index has, but for those that have nothing else; negative where there is anything strange. */
__device__ inline float most_zeros(const tb_crt_operand &x)
{
    constexpr float strange = 1e30f;
    const float most = most_of_records(x, 0, [](const tb_crt_record &record, int64_t) {
        return record.zeros < 0 ? strange : record.norm > TB_CRT_NOTHING ? record.zeros : 0.0f;
    });
    return most == strange ? -1 : most;
}

/* The most that D / t and the logarithm of |b| by B are together. */
__device__ inline float most_spread(const tb_crt_operand &x, float terms)
{
    return most_of_records(x, 0, [terms](const tb_crt_record &record, int64_t) {
        return record.norm > TB_CRT_NOTHING ? record.deficit / terms + record.norm - record.largest : 0.0f;
    });
}

/* Chooses quanta; returns the most bits that an outer index then has. */
__device__ inline float choose_quanta(const tb_crt_operand &x, float terms, float finest)
{
    return most_of_records(x, 0, [&](const tb_crt_record &record, int64_t row) {
        if (record.norm <= TB_CRT_NOTHING) {
            x.quantum[row] = 0;
            return 0.0f;
        }
        int quantum = record.lowest;
        if (terms > 0)
            quantum = max(quantum, __float2int_rn(finest + record.largest - record.deficit / terms));
        x.quantum[row] = record.exponent + quantum;
        return record.norm - float(quantum);
    });
}

/* The share e of u d. Beside cuBLAS's own errors of random numbers, 0.12 u d at k = 65536 and 0.5 u d at k = 500, what is rounded here
 * hardly counts; and most distributions take 15 moduli (docs/lab/crt.md). */
constexpr float share_of_error = 0.17f;

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

/* By one block of TB_CRT_DECIDE_THREADS. */
__device__ inline void decide(const tb_crt_arguments &arguments)
{
    const int64_t k = arguments.problem.k;
    tb_crt_decision own = *arguments.decision;
    own.moduli = 0;
    const float zeros_a = most_zeros(arguments.a), zeros_b = most_zeros(arguments.b);
    if (zeros_a >= 0 && zeros_b >= 0) {
        bool keeps_a = arguments.keeps_a && own.bits_of_a >= 0 && zeros_b <= own.zeros_of_b;
        if (!keeps_a)
            own.zeros_of_b = zeros_b;
        const float terms = float(k) - zeros_a - own.zeros_of_b, some = fmaxf(terms, 1),
                    error = log2f(share_of_error) - 53 + log2f(some);
        const float spread_a = most_spread(arguments.a, some), spread_b = most_spread(arguments.b, some);
        keeps_a = keeps_a && spread_b <= own.spread_of_b;
        if (!keeps_a) {
            own.spread_of_b = spread_b + spare_bits;
            own.bits_of_a = choose_quanta(arguments.a, terms, error - own.spread_of_b);
            own.moduli_of_a = 0;
        }
        const float bits_b = choose_quanta(arguments.b, terms, error - spread_a);
        own.moduli = count_moduli(own.bits_of_a, bits_b, arguments.moduli_most);
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
