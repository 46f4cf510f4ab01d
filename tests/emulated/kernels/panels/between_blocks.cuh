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

template <class piece> inline piece read_piece(const piece &from)
{
    return from;
}

template <class piece> inline void write_piece(piece &to, const piece &value)
{
    to = value;
}

inline void init_barrier(unsigned barrier, unsigned arrivals)
{
    emulated::init_barrier(barrier, int(arrivals));
}

inline void show_barriers()
{
}

inline void expect(unsigned barrier, unsigned bytes)
{
    emulated::expect(barrier, int(bytes));
    emulated::arrive(barrier);
}

template <class piece> inline void send_if(bool wanted, unsigned address, piece value, unsigned barrier)
{
    if (wanted)
        emulated::send(address, &value, sizeof value, barrier);
}

inline void await_phase(unsigned barrier, unsigned parity)
{
    emulated::wait_for_phase(barrier, parity);
}

inline void arrive_at_end()
{
}
inline void await_end()
{
    emulated::wait_for_cluster("await_end");
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
