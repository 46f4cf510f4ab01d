/* Instructions of sm_90a that CUDA C++ does not spell, one function each, under PTX's own words. For kernels
 * that fill shared memory with the bulk copy engine and multiply from there on the tensor cores.
 *
 * Words: an mbarrier is a 64-bit barrier in shared memory that completes a phase when all expected arrivals
 * and all expected bytes have come; a warpgroup is four consecutive warps, the first a multiple of four;
 * a shared address is 32 bits wide and, in a cluster, means the executing block's own memory.
 */
#pragma once

#include <stdint.h>

namespace ptx
{

__device__ inline uint32_t shared_address(const void *pointer)
{
    return uint32_t(__cvta_generic_to_shared(pointer));
}

/* The thread's number in its warp, asked for anew each time: it takes no register in between. */
__device__ inline uint32_t lane()
{
    uint32_t value;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(value));
    return value;
}

__device__ inline uint32_t load_shared(uint32_t address)
{
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

__device__ inline void store_shared(uint32_t address, uint32_t value)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/* ---- mbarrier ----------------------------------------------------------------------------------------- */

__device__ inline void mbarrier_init(uint32_t barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Makes initialized barriers visible to the other blocks of the cluster and to the copy engine. */
__device__ inline void fence_mbarrier_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive_expect_bytes(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/* Arrives at the barrier that lies at the same address in the given block of the cluster. */
__device__ inline void mbarrier_arrive_at(uint32_t barrier, uint32_t block)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

/* Until the phase of that parity is complete. The hardware suspends the thread for a while at each try. */
__device__ inline void mbarrier_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred complete;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
                 "@!complete bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* ---- bulk copies -------------------------------------------------------------------------------------- */

/* Addresses and bytes are multiples of 16; the barrier is told of the bytes as they arrive. */
__device__ inline void copy_bulk(uint32_t target, const void *source, uint32_t bytes, uint32_t barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            target),
        "l"(source), "r"(bytes), "r"(barrier)
        : "memory");
}

/* Copies to the same address in every block of the cluster whose bit is set, and tells each block's own barrier. */
__device__ inline void copy_bulk_multicast(uint32_t target, const void *source, uint32_t bytes,
                                           uint32_t barrier, uint16_t blocks)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(target),
                 "l"(source), "r"(bytes), "r"(barrier), "h"(blocks)
                 : "memory");
}

/* Ordinary stores to shared memory before this are seen by wgmma and bulk copies after it. */
__device__ inline void fence_proxy_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- block, warpgroup --------------------------------------------------------------------------------- */

template <int barrier> __device__ inline void named_barrier_arrive(uint32_t threads)
{
    asm volatile("barrier.cta.arrive %0, %1;" ::"n"(barrier), "r"(threads) : "memory");
}

template <int barrier> __device__ inline void named_barrier_synchronize(uint32_t threads)
{
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(barrier), "r"(threads) : "memory");
}

template <int registers> __device__ inline void raise_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers> __device__ inline void lower_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/* ---- wgmma -------------------------------------------------------------------------------------------- */

/* Has to come before the first wgmma that reads registers written otherwise. */
__device__ inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void wgmma_commit_group()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most `pending` of the latest groups are still being multiplied. */
template <int pending> __device__ inline void wgmma_wait_group()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

} // namespace ptx
