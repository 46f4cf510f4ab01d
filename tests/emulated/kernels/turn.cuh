/* As kernels/turn.cuh: on the host a launch is over before the next one begins. */
#pragma once

namespace turn
{

inline void take()
{
}

inline void take_together()
{
}

} // namespace turn
