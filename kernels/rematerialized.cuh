/* Rematerialization by hand: what is read or computed anew wherever it is wanted, so that it takes no register in between. */
#pragma once

#include <stdint.h>

namespace rematerialized
{

/* The thread's number in its block. */
__device__ inline int thread()
{
    int number;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
    return number;
}

/* The block's number in its grid. */
__device__ inline unsigned block()
{
    unsigned number;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
    return number;
}

/* What uses the number from here on computes anew what was computed of it before. */
__device__ inline void uses_of(int64_t &number)
{
    asm volatile("" : "+l"(number));
}

} // namespace rematerialized
