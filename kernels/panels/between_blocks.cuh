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

/* ---- In a cluster ------------------------------------------------------------------------------------------- */

/* Barriers in shared memory, each of 8 bytes, of whose phases each is over when so many have arrived, and the bytes that they expect
 * have come. Phases have parities in turn, the first one 0. */
__device__ __forceinline__ void init_barrier(unsigned barrier, unsigned arrivals)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}

/* Other blocks, once they have met this one, see barriers that have been made. */
__device__ __forceinline__ void show_barriers()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/* Arrives. */
__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
#endif
}

/* Writes 16 bytes to a block's shared memory, and has that block's barrier count them when they are there. */
template <class piece> __device__ __forceinline__ void send(unsigned address, piece value, unsigned barrier)
{
    static_assert(sizeof(piece) == sizeof(uint4), "so many are sent at a time");
#if __CUDA_ARCH__ >= 900
    const uint4 words = *reinterpret_cast<const uint4 *>(&value);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
            address),
        "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w), "r"(barrier)
        : "memory");
#endif
}

/* Until the phase of that parity is over; what has come is seen. */
__device__ __forceinline__ void await_phase(unsigned barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 900
    uint32_t is_over;
    do
        asm volatile("{\n"
                     ".reg .pred over;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, over;\n"
                     "}"
                     : "=r"(is_over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!is_over);
#endif
}

/* ---- In a grid ---------------------------------------------------------------------------------------------- */

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
