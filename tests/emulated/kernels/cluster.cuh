/* Does what kernels/cluster.cuh does, on the host. */
#pragma once

#include "tests/emulated/threads.h"

#include <cstring>

namespace cluster
{

inline int rank()
{
    return emulated::rank();
}

inline void meet()
{
    emulated::wait_for_cluster("cluster::meet");
}

inline unsigned address_in(unsigned shared, int rank)
{
    return emulated::address_in(shared, rank);
}

inline float load(unsigned address)
{
    float value;
    std::memcpy(&value, emulated::memory_at(address, sizeof value), sizeof value);
    return value;
}

inline double load_double(unsigned address)
{
    double value;
    std::memcpy(&value, emulated::memory_at(address), sizeof value);
    return value;
}

} // namespace cluster
