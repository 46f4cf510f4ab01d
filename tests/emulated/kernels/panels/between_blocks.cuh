/* Does what kernels/panels/between_blocks.cuh does, on the host. */
#pragma once

#include "tests/emulated/threads.h"

#include <cstdint>
#include <cstring>

namespace between_blocks
{

inline char *dynamic_shared()
{
    return static_cast<char *>(emulated::dynamic_shared());
}

template <class type> inline void put(unsigned address, type value)
{
    std::memcpy(emulated::memory_at(address, sizeof value), &value, sizeof value);
}

inline void make_mailbox(unsigned barrier, int pieces)
{
    emulated::init_barrier(barrier, pieces);
}

inline void expect(unsigned, int)
{
}

inline void await_all(unsigned barrier, unsigned parity)
{
    emulated::wait_for_phase(barrier, parity);
}

template <class type> inline void send(unsigned address, type value, unsigned barrier)
{
    put(address, value);
    emulated::arrive(barrier);
}

inline void announce(uint32_t *flag, uint32_t value)
{
    *flag = value;
}

inline void await(const uint32_t *flag, uint32_t value)
{
    emulated::wait_for_flag(flag, value);
}

inline uint32_t count_in(uint32_t *counter)
{
    return (*counter)++;
}

template <class type> inline type fresh(const type *from)
{
    return *from;
}

} // namespace between_blocks
