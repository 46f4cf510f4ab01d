/* What is concluded from the survey: the quantum of every outer index, and how many moduli there have to be.
 *
 * With quanta 2^p of row i and 2^q of column j rounding changes an element of C by about
 *     (2^p |b| + 2^q |a|) / sqrt(12),    |.| the root of the sum of squares,
 * which has to stay below e u d, u = 2^-53, d the sum of the products' magnitudes. d is no less than the number of its terms
 * times their geometric mean: with A and B the largest magnitudes of the row and the column, t terms, and D what the logarithms
 * of the others are less than that of the largest, all added up,
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

/* A number for each of the two operands. */
struct both {
    float a, b;
};

__device__ inline both larger(both x, both y)
{
    return {fmaxf(x.a, y.a), fmaxf(x.b, y.b)};
}

/* The largest numbers of all of the block's threads. */
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
    const auto of_record = [=](const tb_crt_record &record, int64_t) { return value_of(record); };
    const int64_t rows_b = arguments.same ? 0 : arguments.b.rows;
    both most = {most_of_records(arguments.a, arguments.a.rows, of_record),
                 most_of_records(arguments.b, rows_b, of_record)};
    most = most_of_block(most);
    return {most.a, arguments.same ? most.a : most.b};
}

/* Zeros of an outer index, but for one that has nothing else; `strange` where there is anything strange. */
constexpr float strange = 1e30f;
__device__ inline float zeros_of(const tb_crt_record &record)
{
    return record.zeros < 0 ? strange : record.norm > TB_CRT_NOTHING ? record.zeros : 0.0f;
}

/* D / t and the logarithm of |b| by B. */
__device__ inline float spread_of(const tb_crt_record &record, float terms)
{
    return record.norm > TB_CRT_NOTHING ? record.deficit / terms + record.norm - record.largest : 0.0f;
}

/* An outer index's quantum, beside its exponent, and the bits that it then has. */
__device__ inline int quantum_of(const tb_crt_record &record, float terms, float finest)
{
    const int coarsest =
        terms > 0 ? __float2int_rn(finest + record.largest - record.deficit / terms) : record.lowest;
    return max(record.lowest, coarsest);
}
__device__ inline float bits_of(const tb_crt_record &record, float terms, float finest)
{
    return record.norm > TB_CRT_NOTHING ? record.norm - float(quantum_of(record, terms, finest)) : 0.0f;
}

/* Chooses an outer index's quantum; returns its bits. */
__device__ inline float choose_quantum(const tb_crt_operand &x, const tb_crt_record &record, int64_t row,
                                       float terms, float finest)
{
    x.quantum[row] = record.norm > TB_CRT_NOTHING ? record.exponent + quantum_of(record, terms, finest) : 0;
    return bits_of(record, terms, finest);
}

/* The shares e of u d, of which the first is taken that the moduli, and integers, have room for. With the first, numbers that
 * repeat along k, so that roundings add up, err by sqrt(2 k) / 64 u d at most, 1.4 u d at k = 4096; most distributions take 16
 * moduli. With the second, random numbers err by a tenth of what FP64 units make of them (docs/precision.md). */
constexpr float share_of_error = 1.0f / 64, larger_share = 0.17f;

/* The logarithm of the share of d, or of less. */
__device__ inline float error_of(float share, float terms)
{
    return log2f(share) + (log2f(terms) - 53);
}

/* Bits by which A's quanta are finer than they need be, so that they serve the next B, too; what they are chosen for, then. */
constexpr float spare_bits = 0.25f;
__device__ inline float needed_of_b(const tb_crt_arguments &arguments, float spread_of_b)
{
    return spread_of_b + (arguments.same ? 0 : spare_bits);
}

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
        own.spread_of_b = needed_of_b(arguments, spread.b);
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

/* What stands for the bits of an A that has no quanta which would serve another B. */
constexpr float no_quanta = -1;

/* One block of TB_CRT_DECIDE_THREADS decides. */
__device__ inline void decide(const tb_crt_arguments &arguments)
{
    tb_crt_decision own = *arguments.decision;
    const bool given_up = __syncthreads_or(own.given_up == arguments.ticket),
               has_a = arguments.keeps_a && own.knows_a;
    own.given_up = 0;
    own.knows_a = has_a || !given_up;
    own.moduli = 0;
    const both zeros = given_up ? both{strange, strange} : most_of_both(arguments, zeros_of);
    if (zeros.a < strange && zeros.b < strange) {
        bool keeps_a = has_a && own.bits_of_a >= 0 && zeros.b <= own.zeros_of_b;
        if (!keeps_a)
            own.zeros_of_b = zeros.b;
        const float terms = float(arguments.problem.k) - zeros.a - own.zeros_of_b, some = fmaxf(terms, 1);
        const both spread =
            most_of_both(arguments, [some](const tb_crt_record &record) { return spread_of(record, some); });
        keeps_a = keeps_a && spread.b <= own.spread_of_b;
        choose_quanta(arguments, own, keeps_a, terms, spread, error_of(share_of_error, some));
        if (own.moduli == 0)
            choose_quanta(arguments, own, false, terms, spread, error_of(larger_share, some));
        if (own.moduli == 0)
            own.bits_of_a = no_quanta;
    } else if (!has_a)
        own.bits_of_a = no_quanta;
    own.makes_a = own.moduli > own.moduli_of_a;
    if (own.makes_a)
        own.moduli_of_a = arguments.leaves_a ? own.moduli : 0;
    else
        own.moduli_of_a = min(own.moduli_of_a, arguments.moduli_most);
    if (threadIdx.x == 0)
        *arguments.decision = own;
}

} // namespace crt
