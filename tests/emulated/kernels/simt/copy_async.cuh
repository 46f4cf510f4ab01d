/* What dgemm_mma has of kernels/simt/copy_async.cuh, on the host. */
#pragma once

#include "tests/emulated/threads.h"

namespace simt
{

inline unsigned first_stage()
{
    return emulated::address_of(emulated::dynamic_shared());
}

inline void keep(unsigned &)
{
}

inline void commit_copies()
{
    emulated::commit();
}

template <int pending> inline void wait_for_copies()
{
    emulated::wait_for_copies(pending);
}

} // namespace simt
