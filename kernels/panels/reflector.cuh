/* A reflector of GEQRF's panels, by the reference's rules (larfg): what it makes of a column, and of the others.
 *
 * Columns come with their largest numbers between 1 and 2, but those below the step may be as small as the least number there is. Where
 * the sum of their squares says little, they are multiplied by lift(), and looked at again.
 */
#pragma once

#include "kernels/panels/pivots.cuh"

namespace panels
{

template <class real> __device__ __forceinline__ real conjugate(real a)
{
    return conjugate_if(true, a);
}
template <class real> __device__ __forceinline__ real imaginary_part(real)
{
    return 0;
}
template <class real> __device__ __forceinline__ real imaginary_part(complex<real> a)
{
    return a.im;
}

/* The number of the lane whose own differs in these bits; all lanes ask for it. */
template <class real> __device__ __forceinline__ real of_other_lane(real a, int bits)
{
    return __shfl_xor_sync(UINT32_MAX, a, bits);
}
template <class real> __device__ __forceinline__ complex<real> of_other_lane(complex<real> a, int bits)
{
    return {of_other_lane(a.re, bits), of_other_lane(a.im, bits)};
}

/* a + conj(b) c */
template <class real> __device__ __forceinline__ real plus_product(real a, real b, real c)
{
    return multiply_add(b, c, a);
}
template <class real>
__device__ __forceinline__ complex<real> plus_product(complex<real> a, complex<real> b, complex<real> c)
{
    return {multiply_add(b.im, c.im, multiply_add(b.re, c.re, a.re)),
            multiply_add(-b.im, c.re, multiply_add(b.re, c.im, a.im))};
}

/* Above this sums of squares are as exact as their roundings. Numbers whose sum is below it are multiplied by a lift, of which no square
 * overflows, nor is too small to be exact; and what is far larger than these then are has a square of its own that may. */
template <class real> constexpr bool is_single = sizeof(real) == sizeof(float);
template <class real> constexpr real least_square = is_single<real> ? real(0x1p-100) : real(0x1p-700);
template <class real> constexpr real lift = is_single<real> ? real(0x1p90) : real(0x1p700);
template <class real> constexpr real far_larger = is_single<real> ? real(0x1p55) : real(0x1p400);

/* Powers of two by which a column is multiplied, and what comes of it in the end. */
template <class real> struct scaling {
    real there = 1, back = 1;
};
template <class real> __device__ __forceinline__ scaling<real> scaling_of(real largest)
{
    constexpr int most = is_single<real> ? 126 : 1022;
    if (!(largest > 0 && largest < real(INFINITY)))
        return {};
    const int exponent = min(max(ilogb(largest), -most), most);
    return {real(scalbn(real(1), -exponent)), real(scalbn(real(1), exponent))};
}

template <class number> struct reflector {
    using real = real_of<number>;
    number tau;
    number first;  /* alpha - beta: what all of the column would have to be divided by */
    number factor; /* its reciprocal */
    real beta;
};

template <class real> __device__ __forceinline__ real less_real(real a, real b)
{
    return a - b;
}
template <class real> __device__ __forceinline__ complex<real> less_real(complex<real> a, real b)
{
    return {a.re - b, a.im};
}

/* 1 / a; of complex numbers whose imaginary part is not the larger one. */
template <class real> __device__ __forceinline__ real reciprocal_of_first(real a)
{
    return reciprocal::of(a);
}
template <class real> __device__ __forceinline__ complex<real> reciprocal_of_first(complex<real> a)
{
    const real ratio = a.im * reciprocal::of(a.re),
               of_whole = reciprocal::of(multiply_add(a.im, ratio, a.re));
    return {of_whole, -ratio * of_whole};
}

/* (beta - alpha) / beta, of the reciprocal of beta. */
template <class real> __device__ __forceinline__ real tau_of(real alpha, real reciprocal)
{
    return multiply_add(-alpha, reciprocal, real(1));
}
template <class real> __device__ __forceinline__ complex<real> tau_of(complex<real> alpha, real reciprocal)
{
    return {multiply_add(-alpha.re, reciprocal, real(1)), -alpha.im * reciprocal};
}

/* Of the column's number in the step's row and the squares of those below, which have been lifted, or not. A number that is so much larger
 * that lifted squares of its own would overflow has a norm that the others do not change. */
template <class number>
__device__ __forceinline__ reflector<number> reflector_of(number alpha, real_of<number> squares,
                                                          bool is_lifted)
{
    using real = real_of<number>;
    const bool outweighs = is_lifted && magnitude(alpha) * lift<real> > far_larger<real>;
    const number first = is_lifted && !outweighs ? times(alpha, lift<real>) : alpha;
    const real re = real_part(first), im = imaginary_part(first),
               square = multiply_add(re, re, multiply_add(im, im, outweighs ? real(0) : squares)),
               reciprocal = reciprocal_root(square), about = square * reciprocal,
               norm = multiply_add(reciprocal / 2, multiply_add(-about, about, square), about),
               beta = real(-copysign(norm, re));
    const number difference = less_real(first, beta);
    reflector<number> result = {tau_of(first, real(-copysign(reciprocal, re))), difference,
                                reciprocal_of_first(difference), beta};
    if (outweighs) {
        result.first = times(result.first, lift<real>);
        result.factor = times(result.factor, 1 / lift<real>);
    } else if (is_lifted) {
        result.beta *= 1 / lift<real>;
    }
    return result;
}

/* Where there is nothing to reflect. */
template <class number> __device__ __forceinline__ reflector<number> no_reflector(number alpha)
{
    return {number_of<number>(0), number_of<number>(1), number_of<number>(0), real_part(alpha)};
}

} // namespace panels
