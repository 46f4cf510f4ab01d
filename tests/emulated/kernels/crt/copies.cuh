/* Does what kernels/crt/copies.cuh does, on the host. */
#pragma once

#include "tests/emulated/threads.h"

#include <cstdint>
#include <cstring>

namespace copies
{

constexpr bool asynchronous = __CUDA_ARCH__ >= 800;

inline uint32_t shared(const void *address)
{
    return emulated::address_of(address);
}

inline uint32_t dynamic_shared()
{
    return shared(emulated::dynamic_shared());
}

template <int offset> inline void take_8(uint32_t to, const double *from, bool exists)
{
    const double value = asynchronous || !exists ? 0 : *from;
    if (asynchronous)
        emulated::copy(to + uint32_t(offset), from, 8, exists ? 8 : 0);
    else
        std::memcpy(emulated::memory_at(to + uint32_t(offset), 8), &value, sizeof value);
}

struct copy_16 {
    char held[16];

    void begin(uint32_t to, const void *from)
    {
        if (asynchronous)
            emulated::copy(to, from, 16, 16);
        else
            std::memcpy(held, from, sizeof held);
    }
    void end(uint32_t to) const
    {
        if (!asynchronous)
            std::memcpy(emulated::memory_at(to, 16), held, sizeof held);
    }
};

inline void commit()
{
    if (asynchronous)
        emulated::commit();
}

template <int pending> inline void wait()
{
    if (asynchronous)
        emulated::wait_for_copies(pending);
}

} // namespace copies
