/* What blocks of a panel tell each other: by shared memory of other blocks of a cluster, from sm_90 on, before that nothing of it
 * does anything; and by flags in global memory.
 */
#pragma once

#include <cstdint>

namespace between_blocks
{

__device__ __forceinline__ char *dynamic_shared()
{
    extern __shared__ __align__(16) char panel_memory[];
    return panel_memory;
}

/* Writes to shared memory of the cluster; seen by others once they have met. */
__device__ __forceinline__ void put(unsigned address, uint32_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
#endif
}
__device__ __forceinline__ void put(unsigned address, uint64_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
#endif
}
__device__ __forceinline__ void put(unsigned address, float value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#endif
}
__device__ __forceinline__ void put(unsigned address, double value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
#endif
}

/* Sets a flag; who has awaited it sees what the warp has written before. */
__device__ __forceinline__ void announce(uint32_t *flag, uint32_t value)
{
    asm volatile("fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value)
                 : "memory");
}

/* Waits until a flag has at least this value. */
__device__ __forceinline__ void await(const uint32_t *flag, uint32_t value)
{
    uint32_t seen;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen < value);
}

/* How many have done so before. */
__device__ __forceinline__ uint32_t count_in(uint32_t *counter)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    return before;
}

/* Reads what another block has written: from where all see it. */
__device__ __forceinline__ uint32_t fresh(const uint32_t *from)
{
    return __ldcg(from);
}
__device__ __forceinline__ uint64_t fresh(const uint64_t *from)
{
    return __ldcg(reinterpret_cast<const unsigned long long *>(from));
}
__device__ __forceinline__ float fresh(const float *from)
{
    return __ldcg(from);
}
__device__ __forceinline__ double fresh(const double *from)
{
    return __ldcg(from);
}

} // namespace between_blocks
