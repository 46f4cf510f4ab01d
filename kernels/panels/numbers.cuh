/* Numbers of panels, real and complex, by the same names. */
#pragma once

#include <cmath>
#include <cstdint>

namespace panels
{

template <class part> struct alignas(2 * sizeof(part)) complex {
    part re, im;
};

template <class number> struct parts {
    using real = number;
    static constexpr int count = 1;
};
template <class part> struct parts<complex<part>> {
    using real = part;
    static constexpr int count = 2;
};
template <class number> using real_of = typename parts<number>::real;
template <class number> constexpr int reals_of = parts<number>::count;

/* ---- Made of reals ------------------------------------------------------------------------------------------ */

template <class number> __device__ __forceinline__ number number_of(real_of<number> real)
{
    if constexpr (reals_of<number> == 2)
        return {real, 0};
    else
        return real;
}

/* In memory a complex number may begin wherever a real one may. */
template <class number> __device__ __forceinline__ number read(const real_of<number> *from)
{
    if constexpr (reals_of<number> == 2)
        return {from[0], from[1]};
    else
        return *from;
}

template <class real> __device__ __forceinline__ void write(real *to, real number)
{
    *to = number;
}
template <class real> __device__ __forceinline__ void write(real *to, complex<real> number)
{
    to[0] = number.re;
    to[1] = number.im;
}

/* ---- Parts -------------------------------------------------------------------------------------------------- */

template <class real> __device__ __forceinline__ real real_part(real a)
{
    return a;
}
template <class real> __device__ __forceinline__ real real_part(complex<real> a)
{
    return a.re;
}

template <class real> __device__ __forceinline__ real conjugate_if(bool, real a)
{
    return a;
}
template <class real> __device__ __forceinline__ complex<real> conjugate_if(bool wanted, complex<real> a)
{
    return {a.re, wanted ? -a.im : a.im};
}

/* The number that a lane has; all lanes ask for it. */
template <class real> __device__ __forceinline__ real of_lane(real a, int lane)
{
    return __shfl_sync(UINT32_MAX, a, lane);
}
template <class real> __device__ __forceinline__ complex<real> of_lane(complex<real> a, int lane)
{
    return {of_lane(a.re, lane), of_lane(a.im, lane)};
}

/* ---- Arithmetic --------------------------------------------------------------------------------------------- */

__device__ __forceinline__ float multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ __forceinline__ double multiply_add(double a, double b, double c)
{
    return fma(a, b, c);
}

__device__ __forceinline__ float root(float a)
{
    return sqrtf(a);
}
__device__ __forceinline__ double root(double a)
{
    return sqrt(a);
}

template <class real> __device__ __forceinline__ real times(real a, real b)
{
    return a * b;
}
template <class real> __device__ __forceinline__ complex<real> times(complex<real> a, real b)
{
    return {a.re * b, a.im * b};
}

template <class real> __device__ __forceinline__ real plus(real a, real b)
{
    return a + b;
}
template <class real> __device__ __forceinline__ complex<real> plus(complex<real> a, complex<real> b)
{
    return {a.re + b.re, a.im + b.im};
}

/* a - b conj(c) */
template <class real> __device__ __forceinline__ real minus_product(real a, real b, real c)
{
    return multiply_add(-b, c, a);
}
template <class real>
__device__ __forceinline__ complex<real> minus_product(complex<real> a, complex<real> b, complex<real> c)
{
    return {multiply_add(-b.im, c.im, multiply_add(-b.re, c.re, a.re)),
            multiply_add(b.re, c.im, multiply_add(-b.im, c.re, a.im))};
}

/* a - b conj(b) */
template <class real> __device__ __forceinline__ real minus_square(real a, real b)
{
    return multiply_add(-b, b, a);
}
template <class real> __device__ __forceinline__ real minus_square(real a, complex<real> b)
{
    return multiply_add(-b.im, b.im, multiply_add(-b.re, b.re, a));
}

/* 1 / sqrt(a), by little more than its rounding; of doubles a device knows it sooner than the root. */
__device__ __forceinline__ float reciprocal_root(float a)
{
    return 1 / sqrtf(a);
}
__device__ __forceinline__ double reciprocal_root(double a)
{
    return rsqrt(a);
}

} // namespace panels
