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

/* Above this sums of squares are as exact as their roundings; and what numbers whose sum is below it are multiplied by, of which the sum
 * then overflows no more and has no square that is too small. */
template <class real>
constexpr real least_square = sizeof(real) == sizeof(float) ? real(0x1p-80) : real(0x1p-700);
template <class real> constexpr real lift = sizeof(real) == sizeof(float) ? real(0x1p100) : real(0x1p700);

/* Powers of two by which a column is multiplied, and what comes of it in the end. */
template <class real> struct scaling {
    real there = 1, back = 1;
};
template <class real> __device__ __forceinline__ scaling<real> scaling_of(real largest)
{
    constexpr int most = sizeof(real) == sizeof(float) ? 126 : 1022;
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

/* Where no square overflows and none is too small. */
template <class real> __device__ __forceinline__ real quick_reciprocal(real a)
{
    return 1 / a;
}
template <class real> __device__ __forceinline__ complex<real> quick_reciprocal(complex<real> a)
{
    const real of_square = 1 / multiply_add(a.re, a.re, a.im * a.im);
    return {a.re * of_square, -a.im * of_square};
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

/* Of the column's number in the step's row and the squares of those below, which are neither large nor small. */
template <class number>
__device__ __forceinline__ reflector<number> reflector_of(number alpha, real_of<number> squares)
{
    using real = real_of<number>;
    const real re = real_part(alpha), im = imaginary_part(alpha),
               square = multiply_add(re, re, multiply_add(im, im, squares)), reciprocal = reciprocal_root(square),
               about = square * reciprocal,
               norm = multiply_add(reciprocal / 2, multiply_add(-about, about, square), about);
    reflector<number> result;
    result.beta = -copysign(norm, re);
    result.tau = tau_of(alpha, real(-copysign(reciprocal, re)));
    result.first = less_real(alpha, result.beta);
    result.factor = quick_reciprocal(result.first);
    return result;
}

/* The same of any, and not in the way of what is done each time. */
template <class number>
__device__ __attribute__((noinline)) void careful_reflector_of(number alpha, real_of<number> squares,
                                                               reflector<number> *result)
{
    using real = real_of<number>;
    const real below = root(squares), re = fabs(real_part(alpha)), im = fabs(imaginary_part(alpha)),
               largest = fmax(fmax(re, im), below), a = re / largest, b = im / largest, c = below / largest,
               norm = largest * root(multiply_add(a, a, multiply_add(b, b, c * c)));
    result->beta = -copysign(norm, real_part(alpha));
    result->tau = tau_of(alpha, 1 / result->beta);
    result->first = less_real(alpha, result->beta);
    result->factor = quotient(number_of<number>(1), result->first);
}

/* Where there is nothing to reflect. */
template <class number> __device__ __forceinline__ reflector<number> no_reflector(number alpha)
{
    return {number_of<number>(0), number_of<number>(1), number_of<number>(0), real_part(alpha)};
}

} // namespace panels
