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
