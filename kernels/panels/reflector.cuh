/* A reflector of GEQRF's panels, by the reference's rules (larfg): what it makes of a column, and of the others.
 *
 * Columns come with their largest numbers between 1 and 2, but those below the step may be as small as the least number there is. Where
 * the sum of their squares says little, they are multiplied by lift(), and looked at again.
 */
#pragma once

#include "kernels/panels/guess.cuh"
#include "kernels/panels/pivots.cuh"
#include "kernels/panels/sums.cuh"

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

/* a + |b|^2 */
template <class real> __device__ __forceinline__ real plus_square(real a, real b)
{
    return multiply_add(b, b, a);
}
template <class real> __device__ __forceinline__ real plus_square(real a, complex<real> b)
{
    return multiply_add(b.re, b.re, multiply_add(b.im, b.im, a));
}

template <class real> __device__ __forceinline__ real negative(real a)
{
    return -a;
}
template <class real> __device__ __forceinline__ complex<real> negative(complex<real> a)
{
    return {-a.re, -a.im};
}

/* Powers of two by which a column is multiplied, and what comes of it in the end, by the largest number's upper bits. Neither is as small
 * or as large as there are; a column of zeros may be multiplied by any. */
template <class real> struct scaling {
    real there, back;
};
template <class real> __device__ __forceinline__ scaling<real> scaling_of(real largest)
{
    constexpr int digits = is_single<real> ? 23 : 20, bias = is_single<real> ? 127 : 1023;
    const int bits = upper_bits(largest) >> digits, exponent = min(max(bits, 1), 2 * bias - 1);
    if (bits > 2 * bias)
        return {1, 1};
    return {of_upper_bits<real>((2 * bias - exponent) << digits), of_upper_bits<real>(exponent << digits)};
}

template <class number> struct reflector {
    using real = real_of<number>;
    number tau;
    number first;       /* alpha - beta: what all of the column would have to be divided by */
    number factor;      /* its reciprocal */
    real beta, of_beta; /* -1 / beta, times what the factor is less for a column that has been lifted */
};

template <class real> __device__ __forceinline__ real less_real(real a, real b)
{
    return a - b;
}
template <class real> __device__ __forceinline__ complex<real> less_real(complex<real> a, real b)
{
    return {a.re - b, a.im};
}

/* The root of a number of ordinary size, and its reciprocal: by a guess, which is made better until only its rounding is left. */
template <class real> struct root_of {
    real about, root, reciprocal;
};
template <class real> __device__ __forceinline__ root_of<real> roots_of(real a)
{
    const real of_root = guess::reciprocal_root(a), about = a * of_root;
    real half = of_root / 2, root = about;
    if constexpr (!is_single<real>) {
        const real off = multiply_add(-about, half, real(0.5));
        root = multiply_add(about, off, about);
        half = multiply_add(half, off, half);
    }
    root = multiply_add(multiply_add(-root, root, a), half, root);
    const real twice = 2 * half;
    return {about, root, multiply_add(twice, multiply_add(-root, twice, real(1)), twice)};
}

/* 1 / a, by a guess of the reciprocal of what is near: known before a is. */
__device__ __forceinline__ float reciprocal_near(float a, float near)
{
    const float about = guess::reciprocal(near);
    return multiply_add(about, multiply_add(-a, about, 1.0f), about);
}
__device__ __forceinline__ double reciprocal_near(double a, double near)
{
    const double about = guess::reciprocal(near), off = multiply_add(-a, about, 1.0);
    return multiply_add(about, multiply_add(off, off, off), about);
}
/* Of complex numbers whose imaginary part is not the larger one; near what the real part is. */
template <class real> __device__ __forceinline__ complex<real> reciprocal_near(complex<real> a, real near)
{
    const real ratio = a.im * reciprocal_near(a.re, near),
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

/* Of the column's number in the step's row and the squares of those below. */
template <class number>
__device__ __forceinline__ reflector<number> reflector_of(number alpha, real_of<number> squares)
{
    using real = real_of<number>;
    const real re = real_part(alpha);
    const root_of<real> norm = roots_of(plus_square(squares, alpha));
    const real beta = real(-copysign(norm.root, re)), of_beta = real(copysign(norm.reciprocal, re)),
               near = real(re + copysign(norm.about, re));
    const number difference = less_real(alpha, beta);
    return {tau_of(alpha, -of_beta), difference, reciprocal_near(difference, near), beta, of_beta};
}
/* Those have been lifted. A number that is so much larger that lifted squares of its own would overflow has a norm that the others do not
 * change. */
template <class number>
__device__ __forceinline__ reflector<number> lifted_reflector_of(number alpha, real_of<number> squares)
{
    using real = real_of<number>;
    const bool outweighs = magnitude(alpha) * lift<real> > far_larger<real>;
    reflector<number> result =
        reflector_of(outweighs ? alpha : times(alpha, lift<real>), outweighs ? real(0) : squares);
    const real back = 1 / lift<real>;
    if (outweighs) {
        result.first = times(result.first, lift<real>);
        result.factor = times(result.factor, back);
        result.of_beta *= back;
    } else {
        result.beta *= back;
    }
    return result;
}

/* conj(tau) times what is 1 in the step's row and the reflector below it, times the factor: of reals, tau times the factor is -1 / beta,
 * which is known before the factor is. */
template <class real>
__device__ __forceinline__ real taken_of(const reflector<real> &reflector, real in_row, real of_column)
{
    return multiply_add(reflector.factor, reflector.of_beta * of_column, reflector.of_beta * in_row);
}
template <class real>
__device__ __forceinline__ complex<real> taken_of(const reflector<complex<real>> &reflector,
                                                  complex<real> in_row, complex<real> of_column)
{
    return product(product(conjugate(reflector.tau), reflector.factor),
                   plus_product(in_row, reflector.factor, of_column));
}

} // namespace panels
