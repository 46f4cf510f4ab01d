/* Copies from device memory to shared memory that threads do not wait for: cp.async, from 8.0 on. Chips before that copy by
 * way of registers; there is nothing to wait for then.
 */
#pragma once

#include <stdint.h>

namespace copies
{

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool asynchronous = false;
#else
constexpr bool asynchronous = true;
#endif

__device__ __forceinline__ uint32_t shared(const void *address)
{
    return uint32_t(__cvta_generic_to_shared(address));
}

/* The block's dynamic shared memory. */
__device__ __forceinline__ uint32_t dynamic_shared()
{
    extern __shared__ __align__(128) char memory[];
    return shared(memory);
}

/* A double, `offset` bytes further on; zero where it does not exist, and then nothing is read. */
template <int offset> __device__ __forceinline__ void take_8(uint32_t to, const double *from, bool exists)
{
    if constexpr (asynchronous)
        asm volatile("cp.async.ca.shared.global [%0 + %3], [%1], 8, %2;" ::"r"(to), "l"(from),
                     "r"(exists ? 8 : 0), "n"(offset)
                     : "memory");
    else
        asm volatile("st.shared.f64 [%0 + %2], %1;" ::"r"(to), "d"(exists ? __ldg(from) : 0), "n"(offset)
                     : "memory");
}

/* 16 bytes: a thread begins their copy, does something else, and ends it. Registers hold them in between where copies are not
 * asynchronous. */
struct copy_16 {
    uint4 held;

    __device__ __forceinline__ void begin(uint32_t to, const void *from)
    {
        if constexpr (asynchronous)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        else
            held = __ldg(static_cast<const uint4 *>(from));
    }
    __device__ __forceinline__ void end(uint32_t to) const
    {
        if constexpr (!asynchronous)
            asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(held.x), "r"(held.y),
                         "r"(held.z), "r"(held.w)
                         : "memory");
    }
};

__device__ __forceinline__ void commit()
{
    if constexpr (asynchronous)
        asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until all but so many groups are there, of the thread's own copies. */
template <int pending> __device__ __forceinline__ void wait()
{
    if constexpr (asynchronous)
        asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

} // namespace copies
