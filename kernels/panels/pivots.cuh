/* Which row has the pivot, by the reference's rule: the largest |re| + |im|, of equals the first; a number that is none is never
 * larger, but stays where it is the first. What candidates' rows are divided by.
 */
#pragma once

#include "kernels/panels/getrf.h"
#include "kernels/panels/numbers.cuh"
#include "kernels/panels/reciprocal.cuh"

namespace panels
{

/* ---- Arithmetic --------------------------------------------------------------------------------------------- */

/* a - b c */
template <class real> __device__ __forceinline__ real less_product(real a, real b, real c)
{
    return multiply_add(-b, c, a);
}
template <class real>
__device__ __forceinline__ complex<real> less_product(complex<real> a, complex<real> b, complex<real> c)
{
    return {multiply_add(b.im, c.im, multiply_add(-b.re, c.re, a.re)),
            multiply_add(-b.im, c.re, multiply_add(-b.re, c.im, a.im))};
}

template <class real> __device__ __forceinline__ real product(real a, real b)
{
    return a * b;
}
template <class real> __device__ __forceinline__ complex<real> product(complex<real> a, complex<real> b)
{
    return {multiply_add(-a.im, b.im, a.re * b.re), multiply_add(a.im, b.re, a.re * b.im)};
}

/* a / b; of complex numbers by Smith's way, which squares nothing. */
template <class real> __device__ __forceinline__ real quotient(real a, real b)
{
    return a / b;
}
template <class real> __device__ __forceinline__ complex<real> quotient(complex<real> a, complex<real> b)
{
    const bool wide = fabs(b.re) >= fabs(b.im);
    const real larger = wide ? b.re : b.im, smaller = wide ? b.im : b.re, ratio = smaller / larger,
               whole = multiply_add(smaller, ratio, larger);
    const real re = wide ? multiply_add(a.im, ratio, a.re) : multiply_add(a.re, ratio, a.im),
               im = wide ? multiply_add(-a.re, ratio, a.im) : multiply_add(a.im, ratio, -a.re);
    return {re / whole, im / whole};
}

template <class real> __device__ __forceinline__ real magnitude(real a)
{
    return fabs(a);
}
template <class real> __device__ __forceinline__ real magnitude(complex<real> a)
{
    return fabs(a.re) + fabs(a.im);
}

/* Of a number whose own and whose reciprocal's magnitudes are normal numbers. */
template <class real> __device__ __forceinline__ real reciprocal_of(real a)
{
    return reciprocal::of(a);
}
template <class real> __device__ __forceinline__ complex<real> reciprocal_of(complex<real> a)
{
    return quotient(complex<real>{1, 0}, a);
}

template <class real> __device__ __forceinline__ void is_used(real &a)
{
    reciprocal::is_used(a);
}
template <class real> __device__ __forceinline__ void is_used(complex<real> &a)
{
    reciprocal::is_used(a.re);
    reciprocal::is_used(a.im);
}

/* ---- Ranks -------------------------------------------------------------------------------------------------- */

/* Ranks of magnitudes are whole numbers of their size, in the same order: bits without the sign, and behind them a 1, so that the
 * rank of 0 is more than none. Numbers that are none have ranks above that of infinity. */
constexpr int rank_of_none = 0, rank_of_zero = 1;

__device__ __forceinline__ uint32_t rank_of(float a)
{
    return uint32_t(__float_as_int(a)) << 1 | 1;
}
__device__ __forceinline__ uint64_t rank_of(double a)
{
    return (uint64_t(uint32_t(__double2hiint(a))) << 32 | uint32_t(__double2loint(a))) << 1 | 1;
}
template <class real> __device__ __forceinline__ auto rank_of(complex<real> a)
{
    return rank_of(magnitude(a));
}
template <class number> using rank_type = decltype(rank_of(number()));

/* Ranks by their upper 32 bits, which are all that most comparisons need. */
__device__ __forceinline__ uint32_t upper(uint32_t rank)
{
    return rank;
}
__device__ __forceinline__ uint32_t upper(uint64_t rank)
{
    return uint32_t(rank >> 32);
}
template <class rank> constexpr uint32_t upper_of_infinity = sizeof(rank) == 4 ? 0xff000001 : 0xffe00000;

/* By a number of ordinary size others are divided by multiplying with its reciprocal as reciprocal_of() makes it; by larger ones with that of a
 * quotient. By numbers that are not normal, whose reciprocals may be infinite, they are divided. */
template <class rank> constexpr uint32_t upper_of_least_normal = sizeof(rank) == 4 ? 0x01000001 : 0x00200000;
template <class rank> constexpr uint32_t upper_of_large = sizeof(rank) == 4 ? 0xfd000000 : 0xff800000;
template <class rank> __device__ __forceinline__ bool is_ordinary(rank of)
{
    constexpr uint32_t least = upper_of_least_normal<rank>;
    return upper(of) - least < upper_of_large<rank> - least;
}
template <class rank> __device__ __forceinline__ bool has_reciprocal(rank of)
{
    return upper(of) >= upper_of_least_normal<rank>;
}

/* What has no rank among numbers: it is as large as any where it is the first, and else no candidate. */
template <class rank> __device__ __forceinline__ rank rank_among_numbers(rank of, bool is_first)
{
    constexpr rank infinity = rank(upper_of_infinity<rank>) << (8 * sizeof(rank) - 32) | 1;
    return of <= infinity ? of : is_first ? infinity : rank(rank_of_none);
}

/* ---- Candidates --------------------------------------------------------------------------------------------- */

/* The least row of those that have the largest rank is the pivot's. */
constexpr uint32_t nowhere = UINT32_MAX;

template <class rank> struct candidate {
    rank size = rank_of_none;
    uint32_t row = nowhere;

    __device__ __forceinline__ bool consider(rank other_size, uint32_t other_row)
    {
        const bool better = other_size > size || (other_size == size && other_row < row);
        size = better ? other_size : size;
        row = better ? other_row : row;
        return better;
    }
};

__device__ __forceinline__ uint32_t largest_of_warp(uint32_t a)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(UINT32_MAX, a);
#else
    for (int away = 16; away > 0; away /= 2)
        a = max(a, __shfl_xor_sync(UINT32_MAX, a, away));
    return a;
#endif
}
__device__ __forceinline__ uint32_t least_of_warp(uint32_t a)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(UINT32_MAX, a);
#else
    for (int away = 16; away > 0; away /= 2)
        a = min(a, __shfl_xor_sync(UINT32_MAX, a, away));
    return a;
#endif
}

/* The lane that a set has. */
__device__ __forceinline__ bool are_several(uint32_t set)
{
    return (set & (set - 1)) != 0;
}
__device__ __forceinline__ int lane_in(uint32_t set)
{
    return 31 - __clz(int(set));
}

/* The lane that has the first of the largest, or where none has a candidate the first one. Of `tied` ones the upper bits are the same. */
template <class rank> __device__ __forceinline__ uint32_t first_of_tied(candidate<rank> own, bool is_tied)
{
    const uint32_t lower = largest_of_warp(is_tied ? uint32_t(own.size) : 0);
    is_tied = is_tied && uint32_t(own.size) == lower;
    const uint32_t row = least_of_warp(is_tied ? own.row : nowhere);
    const uint32_t first = __ballot_sync(UINT32_MAX, is_tied && own.row == row);
    return first & (0 - first);
}

/* The lane of the best candidate. All lanes are told the same. */
template <class rank> __device__ __forceinline__ int lane_of_best(candidate<rank> own)
{
    const bool is_tied = upper(own.size) == largest_of_warp(upper(own.size));
    uint32_t best = __ballot_sync(UINT32_MAX, is_tied);
    if (are_several(best))
        best = first_of_tied(own, is_tied);
    return lane_in(best);
}

} // namespace panels
