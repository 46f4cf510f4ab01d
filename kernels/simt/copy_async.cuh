/* The instructions between global memory, shared memory and registers that CUDA C++ does not spell, or not with a shared
 * address of 32 bits and an offset in the instruction: what is computed for an address costs FMAs. And a barrier of some of a
 * block's threads.
 *
 * Asynchronous copies wait for no register, so that many can be in flight. Before sm_80 there are none, and their
 * functions do nothing.
 */
#pragma once

namespace simt
{

/* The ring of stages, and its shared address. */
__device__ inline float *ring()
{
    extern __shared__ __align__(16) float stages[];
    return stages;
}

__device__ inline unsigned first_stage()
{
    return unsigned(__cvta_generic_to_shared(ring()));
}

/* Keeps the value in a register, instead of finding it anew wherever it is wanted; from sm_80 on, where panels on their way
 * take none. */
__device__ inline void keep(unsigned &value)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("" : "+r"(value));
#endif
}

__device__ inline float4 load_shared(unsigned address)
{
    float4 value;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address));
    return value;
}

/* One value, or four. */
template <int width> __device__ inline void store_shared(unsigned address, const float *value)
{
    if constexpr (width == 4)
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value[0]), "f"(value[1]),
                     "f"(value[2]), "f"(value[3]));
    else
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value[0]));
}

/* Copies 16 bytes to shared memory. */
__device__ inline void copy_async(unsigned shared, const void *global)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global));
#endif
}

/* Copies `bytes` (4 or 16) to shared memory; only the first `valid` bytes are read, the rest become zero. An
 * address of which nothing is read may be any. */
template <int bytes> __device__ inline void copy_async(unsigned shared, const float *global, int valid)
{
#if __CUDA_ARCH__ >= 800
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(valid));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(valid));
#endif
}

#define TB_COPY_ASYNC_IF(copy)                                                                               \
    asm volatile("{\n"                                                                                       \
                 ".reg .pred wanted;\n"                                                                      \
                 ".reg .b32 masked;\n"                                                                       \
                 "and.b32 masked, %0, %3;\n"                                                                 \
                 "setp.ne.u32 wanted, masked, 0;\n"                                                          \
                 "@wanted " copy ";\n"                                                                       \
                 "}" ::"r"(mask),                                                                            \
                 "r"(shared), "l"(global), "n"(1u << bit), "n"(shared_offset), "n"(global_offset))

/* Copies `bytes` (4 or 16) if the mask has the bit; the offsets are in bytes. */
template <int bytes, int bit, int shared_offset, int global_offset>
__device__ inline void copy_async_if(unsigned mask, unsigned shared, const float *global)
{
#if __CUDA_ARCH__ >= 800
    if (bytes == 16)
        TB_COPY_ASYNC_IF("cp.async.cg.shared.global [%1 + %4], [%2 + %5], 16");
    else
        TB_COPY_ASYNC_IF("cp.async.ca.shared.global [%1 + %4], [%2 + %5], 4");
#endif
}

#undef TB_COPY_ASYNC_IF

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

/* Asks for a line of L2. */
__device__ inline void prefetch(const float *global)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

/* So many of the block's threads, a multiple of 32, wait for each other: at a barrier from 1 to 15. */
template <int threads> __device__ inline void meet(int barrier)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

} // namespace simt
