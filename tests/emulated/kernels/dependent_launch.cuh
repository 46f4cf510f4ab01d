/* As kernels/dependent_launch.cuh: on the host a launch is over before the next one begins. */
#pragma once

namespace dependent_launch
{

inline void wait()
{
}

inline void launch_dependents_and_wait()
{
}

} // namespace dependent_launch
