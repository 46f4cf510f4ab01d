/* Numbers, real or complex, as the triangular kernels compute with them. A product is added in fused
 * multiply-adds of its parts. */
#pragma once

#include <cmath>

namespace triangular
{

constexpr int lanes = 32; /* of a warp */

template <class real_, int parts_> struct number {
    using real = real_;
    static constexpr int parts = parts_;
    real part[parts];
};

template <class value> __device__ inline value whole_number(int x)
{
    value number = {};
    number.part[0] = typename value::real(x);
    return number;
}

/* Where inverses are normal numbers, and so are squares of complex ones. */
template <class value> __device__ inline bool has_inverse(typename value::real magnitude)
{
    using real = typename value::real;
    constexpr bool is_double = sizeof(real) == sizeof(double), is_real = value::parts == 1;
    const real most = is_double ? is_real ? 0x1p1000 : 0x1p500 : is_real ? 0x1p120 : 0x1p60;
    return magnitude <= most && magnitude >= 1 / most;
}

/* ---- Real numbers ---- */

template <class real> __device__ inline void add(number<real, 1> &sum, number<real, 1> a, number<real, 1> x)
{
    sum.part[0] = fma(a.part[0], x.part[0], sum.part[0]);
}

template <class real>
__device__ inline void subtract(number<real, 1> &sum, number<real, 1> a, number<real, 1> x)
{
    sum.part[0] = fma(-a.part[0], x.part[0], sum.part[0]);
}

template <class real> __device__ inline number<real, 1> inverse_of(number<real, 1> a)
{
    const bool has = has_inverse<number<real, 1>>(fabs(a.part[0]));
    return {has ? 1 / a.part[0] : real(NAN)};
}

template <class real> __device__ inline number<real, 1> divide(number<real, 1> b, number<real, 1> a)
{
    return {b.part[0] / a.part[0]};
}

/* ---- Complex numbers ---- */

template <class real> __device__ inline void add(number<real, 2> &sum, number<real, 2> a, number<real, 2> x)
{
    sum.part[0] = fma(a.part[0], x.part[0], sum.part[0]);
    sum.part[1] = fma(a.part[0], x.part[1], sum.part[1]);
    sum.part[0] = fma(-a.part[1], x.part[1], sum.part[0]);
    sum.part[1] = fma(a.part[1], x.part[0], sum.part[1]);
}

template <class real>
__device__ inline void subtract(number<real, 2> &sum, number<real, 2> a, number<real, 2> x)
{
    add(sum, {-a.part[0], -a.part[1]}, x);
}

template <class real> __device__ inline number<real, 2> inverse_of(number<real, 2> a)
{
    const bool has = has_inverse<number<real, 2>>(fmax(fabs(a.part[0]), fabs(a.part[1])));
    const real square = fma(a.part[0], a.part[0], a.part[1] * a.part[1]);
    return {has ? a.part[0] / square : real(NAN), has ? -a.part[1] / square : real(NAN)};
}

/* Scales the number until its larger part is between 1 and 2, unless it is zero or not finite; by which power
 * of two, inverted. */
template <class real> __device__ inline int normalize(number<real, 2> &x)
{
    const real magnitude = fmax(fabs(x.part[0]), fabs(x.part[1]));
    const int exponent = magnitude > 0 && isfinite(magnitude) ? ilogb(magnitude) : 0;
    x.part[0] = scalbn(x.part[0], -exponent);
    x.part[1] = scalbn(x.part[1], -exponent);
    return exponent;
}

/* Smith's way: by the ratio of the divisor's parts. */
template <class real> __device__ __noinline__ number<real, 2> divide(number<real, 2> b, number<real, 2> a)
{
    const int exponent = normalize(b) - normalize(a);
    const bool turned = fabs(a.part[0]) < fabs(a.part[1]);
    const real larger = turned ? a.part[1] : a.part[0], smaller = turned ? a.part[0] : a.part[1];
    const real ratio = smaller / larger, divisor = fma(smaller, ratio, larger);
    const real re = turned ? fma(b.part[0], ratio, b.part[1]) : fma(b.part[1], ratio, b.part[0]);
    const real im = turned ? fma(b.part[1], ratio, -b.part[0]) : fma(-b.part[0], ratio, b.part[1]);
    return {scalbn(re / divisor, exponent), scalbn(im / divisor, exponent)};
}

/* ---- All ---- */

template <class value> __device__ inline bool is_finite(const value &x)
{
    bool finite = true;
#pragma unroll
    for (int part = 0; part < value::parts; part++)
        finite = finite && isfinite(x.part[part]);
    return finite;
}

template <class value> __device__ inline value times(value a, value x)
{
    value product = {};
    add(product, a, x);
    return product;
}

} // namespace triangular
