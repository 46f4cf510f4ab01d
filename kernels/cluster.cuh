/* Clusters of blocks, which can read each other's shared memory; from sm_90 on, before that nothing here does anything.
 */
#pragma once

namespace cluster
{

/* The block's number in its cluster. */
__device__ inline int rank()
{
    int rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* Until all threads of the cluster's blocks are here; what they have written is seen. */
__device__ inline void meet()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/* The same, by warps whose threads come together. */
__device__ inline void meet_in_warps()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
#endif
}

/* The same place in another block's shared memory. */
__device__ inline unsigned address_in(unsigned shared, int rank)
{
    unsigned address = shared;
#if __CUDA_ARCH__ >= 900
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(rank));
#endif
    return address;
}

__device__ inline float load(unsigned address)
{
    float value = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address));
#endif
    return value;
}

__device__ inline double load_double(unsigned address)
{
    double value = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(address));
#endif
    return value;
}

} // namespace cluster
