/* Does what kernels/dependent_launch.cuh does: on the host a launch is over before the next one begins. That
 * all threads wait is counted. */
#pragma once

#include <cstdint>

namespace emulated
{
extern int64_t waits; /* of the kernel that runs */
}

namespace dependent_launch
{

inline void wait()
{
    emulated::waits++;
}

inline void launch_dependents_and_wait()
{
    wait();
}

} // namespace dependent_launch
