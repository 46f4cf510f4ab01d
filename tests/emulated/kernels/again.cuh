/* As kernels/again.cuh: on the host registers are not short. */
#pragma once

#include <cstdint>

namespace again
{

inline int thread()
{
    return int(threadIdx.x);
}

inline unsigned block()
{
    return blockIdx.x;
}

inline void forget(int64_t &)
{
}

} // namespace again
