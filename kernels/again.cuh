/* What is asked for anew wherever it is wanted, so that it takes no register in between. */
#pragma once

#include <stdint.h>

namespace again
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

/* What is computed of the number from here on is not taken from what was computed of it before. */
__device__ inline void forget(int64_t &number)
{
    asm volatile("" : "+l"(number));
}

} // namespace again
