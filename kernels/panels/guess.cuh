/* A device's first guesses of reciprocals and of those of roots, of numbers that are normal as these are: of floats right but for a bit or
 * two, of doubles the first 20 bits.
 */
#pragma once

namespace guess
{

__device__ __forceinline__ float reciprocal(float a)
{
    float guess;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(a));
    return guess;
}
__device__ __forceinline__ double reciprocal(double a)
{
    double guess;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(a));
    return guess;
}

__device__ __forceinline__ float reciprocal_root(float a)
{
    float guess;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(a));
    return guess;
}
__device__ __forceinline__ double reciprocal_root(double a)
{
    double guess;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(a));
    return guess;
}

} // namespace guess
