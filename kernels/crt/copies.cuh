/* Copies from device memory to shared memory that threads do not wait for: cp.async. */
#pragma once

#include <stdint.h>

namespace copies
{

__device__ __forceinline__ uint32_t shared(const void *address)
{
    return uint32_t(__cvta_generic_to_shared(address));
}

/* A double, `offset` bytes further on; zero where it does not exist, and then nothing is read. */
template <int offset> __device__ __forceinline__ void take_8(uint32_t to, const double *from, bool exists)
{
    asm volatile("cp.async.ca.shared.global [%0 + %3], [%1], 8, %2;" ::"r"(to), "l"(from),
                 "r"(exists ? 8 : 0), "n"(offset)
                 : "memory");
}

__device__ __forceinline__ void take_16(uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until all but so many groups are there, of the thread's own copies. */
template <int pending> __device__ __forceinline__ void wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

} // namespace copies
