/* What is asked for anew wherever it is wanted, so that it takes no register in between. */
#pragma once

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

} // namespace again
