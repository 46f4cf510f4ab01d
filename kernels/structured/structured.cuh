/* structured: one thread per element of C, operands read as they lie: transposed, conjugated, and of a symmetric, Hermitian or
 * triangular one only what is stored. For what is not worth writing out, or cannot be.
 *
 *        n 8
 *      +-----+     block 256 threads as 32 x 8, thread (x, y) -> C[m0 + x, n0 + y]
 *   m  |     |     k     one, or of complex numbers four, fused multiply-adds a step
 *  32  |     |     in chains, each summed by itself: four, of complex doubles one, take the steps in turn, and
 *      +-----+     after 512 steps their sum is added to the total
 */
#pragma once

#include "kernels/mask.h"
#include "kernels/structured/structured.h"

namespace structured
{

constexpr int steps_of_sum = 512;

template <class real_, int parts_> struct number {
    using real = real_;
    static constexpr int parts = parts_;
    real part[parts];
};

/* Four chains, as cuBLAS's CGEMM seems to have where k is short (docs/lab/fp64.md). Of complex doubles two would spill on 8.0. */
template <class value> constexpr int chains = sizeof(value) > 8 ? 1 : 4;

template <class value> __device__ inline void add(value &x, const value &y)
{
    for (int i = 0; i < value::parts; i++)
        x.part[i] += y.part[i];
}

/* sum + x * y */
template <class value> __device__ inline void multiply_add(value &sum, const value &x, const value &y)
{
    constexpr int last = value::parts - 1;
    sum.part[0] = fma(x.part[0], y.part[0], sum.part[0]);
    if (last == 1) {
        sum.part[0] = fma(-x.part[last], y.part[last], sum.part[0]);
        sum.part[last] = fma(x.part[0], y.part[last], sum.part[last]);
        sum.part[last] = fma(x.part[last], y.part[0], sum.part[last]);
    }
}

/* A real scalar multiplies both parts alone, so that an infinite one makes no NaN of the other. */
template <class value> __device__ inline value times(double re, double im, const value &x)
{
    const value scalar = {{typename value::real(re)}};
    value y = {};
    if (value::parts == 2 && im != 0) {
        value both = scalar;
        both.part[value::parts - 1] = typename value::real(im);
        multiply_add(y, both, x);
        return y;
    }
    for (int i = 0; i < value::parts; i++)
        y.part[i] = scalar.part[0] * x.part[i];
    return y;
}

/* A line of an operand along k: a row of op(A), a column of op(B). The diagonal parts it in two, each of which lies along a row
 * or a column of what is stored. */
template <class value> struct line {
    const value *before, *after; /* where step 0 would be */
    int64_t step_before, step_after;
    int64_t diagonal; /* the step that lies on it; of a general operand none does */
    bool zero_before, zero_after, conjugated_before, conjugated_after;
    bool unit, real; /* on the diagonal */

    /* The line of what is stored at data. along_row: the line is a row of it, the fixed one; else a column. */
    __device__ line(const tb_structured_operand &x, const value *data, bool along_row, int64_t fixed)
    {
        const value *own = data + (along_row ? fixed : fixed * x.ld);
        const int64_t step = along_row ? x.ld : 1;
        const bool hermitian = x.structure == TB_HERMITIAN, general = x.structure == TB_GENERAL;
        before = after = own;
        step_before = step_after = step;
        diagonal = general ? INT64_MAX : along_row ? fixed + x.diagonal : fixed - x.diagonal;
        conjugated_before = conjugated_after = x.conjugated;
        zero_before = zero_after = false;
        unit = x.structure == TB_TRIANGULAR && x.unit_diagonal;
        real = hermitian;
        if (general)
            return;
        const value *mirrored = along_row ? data - x.diagonal + (fixed + x.diagonal) * x.ld
                                          : data + (fixed - x.diagonal) + x.diagonal * x.ld;
        const int64_t mirrored_step = along_row ? 1 : x.ld;
        const bool missing = x.structure == TB_TRIANGULAR;
        if ((x.stored == TB_LOWER) == along_row) {
            after = mirrored;
            step_after = mirrored_step;
            zero_after = missing;
            conjugated_after = x.conjugated != hermitian;
        } else {
            before = mirrored;
            step_before = mirrored_step;
            zero_before = missing;
            conjugated_before = x.conjugated != hermitian;
        }
    }

    /* On the diagonal both parts agree. */
    __device__ value at(int64_t l) const
    {
        constexpr int last = value::parts - 1;
        const bool is_after = l > diagonal, is_on = l == diagonal;
        if (is_on ? unit : is_after ? zero_after : zero_before)
            return {{typename value::real(is_on ? 1 : 0)}};
        const value *at = is_after ? after + l * step_after : before + l * step_before;
        value x = *at;
        if (last == 1 && (is_after ? conjugated_after : conjugated_before))
            x.part[last] = -x.part[last];
        if (last == 1 && is_on && real)
            x.part[last] = 0;
        return x;
    }
};

template <class value> __device__ inline void multiply(const tb_structured &problem)
{
    constexpr int last = value::parts - 1;
    const unsigned tiles_m = unsigned((problem.m + TB_STRUCTURED_TILE_M - 1) / TB_STRUCTURED_TILE_M);
    const unsigned product = blockIdx.x / unsigned(problem.tiles),
                   tile = blockIdx.x % unsigned(problem.tiles);
    const int64_t i = int64_t(tile % tiles_m) * TB_STRUCTURED_TILE_M + threadIdx.x % TB_STRUCTURED_TILE_M;
    const int64_t j = int64_t(tile / tiles_m) * TB_STRUCTURED_TILE_N + threadIdx.x / TB_STRUCTURED_TILE_M;
    if (i >= problem.m || j >= problem.n ||
        !tb_mask_has(problem.mask, problem.mask_step, problem.mask_diagonal, i, j))
        return;
    const auto matrix = [&](tb_role role, const void *first) {
        return tb_matrix_of(problem.batches, role, static_cast<const value *>(first), product);
    };
    const line<value> a(problem.a, matrix(TB_A, problem.a.data), !problem.a.transposed, i),
        b(problem.b, matrix(TB_B, problem.b.data), problem.b.transposed, j);
    value total = {};
    for (int64_t first = 0; first < problem.k; first += steps_of_sum) {
        const int64_t end = min(problem.k, first + steps_of_sum);
        value sums[chains<value>] = {};
#pragma unroll(chains <value> > 1 ? 1 : 2)
        for (int64_t l = first; l < end; l += chains<value>)
#pragma unroll
            for (int i = 0; i < chains<value>; i++)
                if (l + i < end)
                    multiply_add(sums[i], a.at(l + i), b.at(l + i));
#pragma unroll
        for (int apart = chains<value> / 2; apart > 0; apart /= 2)
#pragma unroll
            for (int i = 0; i < apart; i++)
                add(sums[i], sums[i + apart]);
        add(total, sums[0]);
    }
    value *c =
        tb_matrix_of(problem.batches, TB_C, static_cast<value *>(problem.c), product) + i + j * problem.ldc;
    const bool is_real = last == 1 && problem.c_hermitian && i + problem.c_diagonal == j;
    value result = {};
    if (problem.k > 0)
        result = times(problem.alpha_re, problem.alpha_im, total);
    if (problem.beta_re != 0 || problem.beta_im != 0) { /* else C is not read */
        value old = *c;
        if (is_real)
            old.part[last] = 0;
        add(result, times(problem.beta_re, problem.beta_im, old));
    }
    if (is_real)
        result.part[last] = 0;
    *c = result;
}

} // namespace structured

#define TB_STRUCTURED_STAMP(symbol, real, parts)                                                             \
    extern "C" __global__ void __launch_bounds__(TB_STRUCTURED_THREADS, TB_STRUCTURED_BLOCKS)                \
        symbol(const __grid_constant__ tb_structured problem)                                                \
    {                                                                                                        \
        structured::multiply<structured::number<real, parts>>(problem);                                      \
    }
