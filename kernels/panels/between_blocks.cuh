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

/* What lies in 16 bytes, in one piece. */
template <class piece> __device__ __forceinline__ piece read_piece(const piece &from)
{
    static_assert(sizeof(piece) == sizeof(uint4) && alignof(piece) == sizeof(uint4), "so that it can be");
    const uint4 words = *reinterpret_cast<const uint4 *>(&from);
    return *reinterpret_cast<const piece *>(&words);
}
template <class piece> __device__ __forceinline__ void write_piece(piece &to, const piece &value)
{
    static_assert(sizeof(piece) == sizeof(uint4) && alignof(piece) == sizeof(uint4), "so that it can be");
    *reinterpret_cast<uint4 *>(&to) = *reinterpret_cast<const uint4 *>(&value);
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

/* Where `wanted`, writes 16 bytes to a block's shared memory, and has that block's barrier count them when they are there. */
template <class piece>
__device__ __forceinline__ void send_if(bool wanted, unsigned address, piece value, unsigned barrier)
{
    static_assert(sizeof(piece) == sizeof(uint4), "so many are sent at a time");
#if __CUDA_ARCH__ >= 900
    const uint4 words = *reinterpret_cast<const uint4 *>(&value);
    asm volatile(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.u32 wanted, %6, 0;\n"
        "@wanted st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];\n"
        "}" ::"r"(address),
        "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w), "r"(barrier), "r"(uint32_t(wanted))
        : "memory");
#endif
}

/* Until the phase of that parity is over; what has come is seen. To have it seen by the cluster's rules and not by the block's would empty
 * the first cache each time. */
__device__ __forceinline__ void await_phase(unsigned barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 900
    uint32_t is_over;
    do
        asm volatile("{\n"
                     ".reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, over;\n"
                     "}"
                     : "=r"(is_over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!is_over);
#endif
}

/* The cluster meets in two parts, between which threads go on; what they have written is not seen. */
__device__ __forceinline__ void arrive_at_end()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}
__device__ __forceinline__ void await_end()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait;" ::: "memory");
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
