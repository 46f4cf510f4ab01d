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

/* ---- Mailboxes ---------------------------------------------------------------------------------------------- */

/* A barrier of 8 bytes in shared memory, whose phases are over when all has come that was expected: so many bytes in so many pieces, from
 * any blocks of the cluster. Phases have parities in turn, the first one 0. Blocks see it once they have met. */
__device__ __forceinline__ void make_mailbox(unsigned barrier, int /* pieces */)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier)
                 : "memory");
#endif
}
__device__ __forceinline__ void expect(unsigned barrier, int bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
#endif
}
__device__ __forceinline__ void await_all(unsigned barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
#endif
}

/* Writes to a block's shared memory; its mailbox counts what has come. */
__device__ __forceinline__ void send(unsigned address, float value, unsigned barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address),
                 "f"(value), "r"(barrier)
                 : "memory");
#endif
}
__device__ __forceinline__ void send(unsigned address, double value, unsigned barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(address),
                 "d"(value), "r"(barrier)
                 : "memory");
#endif
}

/* ---- Flags -------------------------------------------------------------------------------------------------- */

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
