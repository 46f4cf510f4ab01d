/* The scout: the survey's first block, which looks at all of a few outer indices of either operand. Where these alone take more
 * moduli than there may be it gives up: blocks that have not begun need not read the rest, and the operands are multiplied as
 * they are.
 *
 * It is known from the launch's ticket that it has given up, whatever lay in the workspace before. What is decided depends on
 * numbers alone, not on how many blocks were spared.
 */
#pragma once

#include "kernels/crt/decide.cuh"
#include "kernels/crt/survey.cuh"

namespace crt
{

/* Outer indices of either operand that are looked at; the block's warps share them out. */
constexpr int scouted = 2, warps = pass_threads / lanes, warps_each = warps / (2 * scouted);

/* What a warp finds of all steps that it takes of an outer index, from `first` on. */
__device__ inline census scout_steps(const tb_crt_operand &x, int parts, int64_t row, int first, int k)
{
    constexpr int apart = warps_each * lanes;
    const double *source = element_at(x, parts, row, first);
    const int64_t step = x.k_contiguous ? apart : apart * x.leading_dimension;
    census mine;
    for (int left = k - first; left > 0; left -= apart * batch) {
        double values[batch];
#pragma unroll
        for (int i = 0; i < batch; i++, source += step)
            values[i] = i * apart < left ? *source : 0;
        mine.take(values);
    }
    mine.join_lanes();
    return mine;
}

/* The record of an outer index, from what its warps have found. */
__device__ inline tb_crt_record record_of_warps(const census *of_warp, int64_t k)
{
    census all = of_warp[0];
    for (int i = 1; i < warps_each; i++)
        all.join(of_warp[i]);
    tb_crt_census one;
    all.store(&one, 0); /* which has no room for so many logarithms */
    findings found;
    found.add(one, all.logarithms());
    return found.record(k);
}

/* Whether outer indices of both operands take more moduli than there may be, even with the larger share of the error. With others
 * besides they take no fewer: zeros, spreads and bits are maxima over outer indices, and each of these grows with the one
 * before. */
__device__ inline bool take_too_many(const tb_crt_arguments &arguments, const tb_crt_record (&a)[scouted],
                                     const tb_crt_record (&b)[scouted])
{
    const auto most = [&](auto value_of) {
        both value = {};
#pragma unroll
        for (int i = 0; i < scouted; i++)
            value = larger(value, {value_of(a[i]), value_of(b[i])});
        return value;
    };
    const both zeros = most(zeros_of);
    if (zeros.a == strange || zeros.b == strange)
        return true;
    const float terms = float(arguments.problem.k) - zeros.a - zeros.b, some = fmaxf(terms, 1);
    const both spread = most([=](const tb_crt_record &record) { return spread_of(record, some); });
    const float error = error_of(larger_share, some), finest_a = error - needed_of_b(arguments, spread.b),
                finest_b = error - spread.a;
    const float bits_a =
        most([=](const tb_crt_record &record) { return bits_of(record, terms, finest_a); }).a;
    const float bits_b =
        most([=](const tb_crt_record &record) { return bits_of(record, terms, finest_b); }).b;
    return count_moduli(bits_a, arguments.same ? bits_a : bits_b, arguments.moduli_most) == 0;
}

/* Looks at outer indices at equal distances. */
__device__ inline void scout(const tb_crt_arguments &arguments)
{
    __shared__ census of_warp[warps];
    const int warp = threadIdx.x / lanes, number = warp / warps_each % scouted,
              first = threadIdx.x % (warps_each * lanes);
    const tb_crt_operand &x = warp < warps / 2 ? arguments.a : arguments.b;
    const census mine =
        scout_steps(x, arguments.parts, number * x.rows / scouted, first, int(arguments.problem.k));
    if (threadIdx.x % lanes == 0)
        of_warp[warp] = mine;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    tb_crt_record a[scouted], b[scouted];
#pragma unroll
    for (int i = 0; i < scouted; i++) {
        a[i] = record_of_warps(of_warp + i * warps_each, arguments.problem.k);
        b[i] = record_of_warps(of_warp + warps / 2 + i * warps_each, arguments.problem.k);
    }
    if (take_too_many(arguments, a, b))
        *static_cast<volatile int64_t *>(&arguments.decision->given_up) = arguments.ticket;
}

} // namespace crt
