/* Which row has the pivot, by the reference's rule: the largest |re| + |im|, of equals the first; a number that is none is never
 * larger, but stays where it is the first. What candidates' rows are divided by.
 */
#pragma once

#include "kernels/panels/getrf.h"
#include "kernels/panels/numbers.cuh"

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

/* The smallest normal number, below which reciprocals may overflow. */
template <class real>
constexpr real least_normal = sizeof(real) == sizeof(float) ? real(0x1p-126) : real(0x1p-1022);

template <class number> __device__ __forceinline__ bool has_reciprocal(number a)
{
    return !(magnitude(a) < least_normal<real_of<number>>);
}

/* ---- Ranks -------------------------------------------------------------------------------------------------- */

/* Ranks of magnitudes are whole numbers of their size, in the same order. */
constexpr int rank_of_none = 0, rank_of_zero = 1;

__device__ __forceinline__ uint32_t rank_of(float magnitude)
{
    return uint32_t(__float_as_int(magnitude)) + rank_of_zero;
}
__device__ __forceinline__ uint64_t rank_of(double magnitude)
{
    return (uint64_t(uint32_t(__double2hiint(magnitude))) << 32 | uint32_t(__double2loint(magnitude))) +
           rank_of_zero;
}
template <class number> using rank_type = decltype(rank_of(real_of<number>()));

template <class number>
__device__ __forceinline__ rank_type<number> rank_of_candidate(number a, bool is_first)
{
    const real_of<number> size = magnitude(a);
    if (size == size)
        return rank_of(size);
    return is_first ? rank_of(real_of<number>(INFINITY)) : rank_type<number>(rank_of_none);
}

/* Where a candidate is: its row, and who has told of it. The least of those that have the largest rank is the first. */
constexpr uint32_t nowhere = UINT32_MAX;

__device__ __forceinline__ uint32_t place_of(int row, int teller)
{
    return uint32_t(row) << 8 | uint32_t(teller);
}
__device__ __forceinline__ int row_of(uint32_t place)
{
    return int(place >> 8);
}
__device__ __forceinline__ int teller_of(uint32_t place)
{
    return int(place & 255);
}

template <class rank> struct candidate {
    rank size = rank_of_none;
    uint32_t place = nowhere;

    __device__ __forceinline__ bool consider(rank other_size, uint32_t other_place)
    {
        const bool better = other_size > size || (other_size == size && other_place < place);
        size = better ? other_size : size;
        place = better ? other_place : place;
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
__device__ __forceinline__ uint64_t largest_of_warp(uint64_t a)
{
    const uint32_t high = uint32_t(a >> 32), largest = largest_of_warp(high),
                   low = largest_of_warp(high == largest ? uint32_t(a) : 0);
    return uint64_t(largest) << 32 | low;
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

/* All lanes are told the same. */
template <class rank> __device__ __forceinline__ candidate<rank> best_of_warp(candidate<rank> own)
{
    const rank size = largest_of_warp(own.size);
    return {size, least_of_warp(own.size == size ? own.place : nowhere)};
}

} // namespace panels
