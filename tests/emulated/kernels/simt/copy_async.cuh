/* Does what kernels/simt/copy_async.cuh does, on the host. */
#pragma once

#include "tests/emulated/threads.h"

#include <cstring>

namespace simt
{

inline float *ring()
{
    return static_cast<float *>(emulated::dynamic_shared());
}

inline unsigned first_stage()
{
    return emulated::address_of(ring());
}

inline void keep(unsigned &)
{
}

inline float4 load_shared(unsigned address)
{
    float4 value;
    std::memcpy(&value, emulated::memory_at(address, sizeof value), sizeof value);
    return value;
}

template <int width> inline void store_shared(unsigned address, const float *value)
{
    constexpr int bytes = width * int(sizeof *value);
    std::memcpy(emulated::memory_at(address, bytes), value, bytes);
}

constexpr bool copies_asynchronously = __CUDA_ARCH__ >= 800;

inline void copy_async(unsigned shared, const void *global)
{
    if (copies_asynchronously)
        emulated::copy(shared, global, 16, 16);
}

template <int bytes> inline void copy_async(unsigned shared, const float *global, int valid)
{
    if (copies_asynchronously)
        emulated::copy(shared, global, bytes, valid);
}

template <int bytes, int bit, int shared_offset, int global_offset>
inline void copy_async_if(unsigned mask, unsigned shared, const float *global)
{
    if (copies_asynchronously && mask >> bit & 1)
        emulated::copy(shared + unsigned(shared_offset),
                       reinterpret_cast<const char *>(global) + global_offset, bytes, bytes);
}

inline void commit_copies()
{
    if (copies_asynchronously)
        emulated::commit();
}

template <int pending> inline void wait_for_copies()
{
    if (copies_asynchronously)
        emulated::wait_for_copies(pending);
}

inline void prefetch(const float *)
{
}

template <int threads> inline void meet(int barrier)
{
    emulated::wait_at_barrier(barrier, threads, "bar.sync");
}

} // namespace simt
