/* Reciprocals of real numbers that are neither below the smallest normal number nor so large that theirs would be: a device's first
 * guess, made better as the compiler makes it, without its branch to where it sees to the other ones.
 */
#pragma once

namespace reciprocal
{

__device__ __forceinline__ float of(float a)
{
    float guess;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(a));
    return fmaf(guess, fmaf(-a, guess, 1.0f), guess);
}

/* The guess has 32 bits. Those below, of which any will do, are such that even what is as close to a power of 2 as can be is rounded as it
 * should. */
__device__ __forceinline__ double of(double a)
{
    double rough;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(a));
    const double guess = __hiloint2double(__double2hiint(rough), __double2hiint(a) + 0x300402);
    const double off = fma(-a, guess, 1.0), better = fma(guess, fma(off, off, off), guess);
    return fma(better, fma(-a, better, 1.0), better);
}

/* Of the number's root. By little more than their rounding, of numbers whose squares are normal, too. */
__device__ __forceinline__ float of_root(float a)
{
    float guess;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(a));
    const float off = fmaf(-(a * guess), guess, 1.0f);
    return fmaf(0.5f * guess, off, guess);
}
__device__ __forceinline__ double of_root(double a)
{
    double guess;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(a));
    const double off = fma(-a, guess * guess, 1.0);
    return fma(guess * off, fma(off, 0.375, 0.5), guess);
}

/* Has it computed here and not where it is used. */
__device__ __forceinline__ void is_used(float &a)
{
    asm volatile("" : "+f"(a));
}
__device__ __forceinline__ void is_used(double &a)
{
    asm volatile("" : "+d"(a));
}

} // namespace reciprocal
