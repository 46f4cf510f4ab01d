/* Asynchronous copies from global to shared memory, a function for each instruction: they wait for no register,
 * so that many can be in flight. Before sm_80 there are none, and none of these functions does anything.
 */
#pragma once

namespace simt
{

/* Copies `bytes` (4 or 16) to shared memory; only the first `valid` bytes are read, the rest become zero. An
 * address of which nothing is read may be any. */
template <int bytes> __device__ inline void copy_async(float *shared, const float *global, int valid)
{
#if __CUDA_ARCH__ >= 800
    const unsigned target = unsigned(__cvta_generic_to_shared(shared));
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(valid));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(global), "r"(valid));
#endif
}

template <int bytes> __device__ inline void copy_async(float *shared, const float *global)
{
#if __CUDA_ARCH__ >= 800
    const unsigned target = unsigned(__cvta_generic_to_shared(shared));
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(global));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(target), "l"(global));
#endif
}

__device__ inline void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/* Until at most `pending` of the latest groups of copies are still in flight. */
template <int pending> __device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending));
#endif
}

} // namespace simt
