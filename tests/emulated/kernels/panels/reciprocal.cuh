/* Does what kernels/panels/reciprocal.cuh does, on the host. */
#pragma once

namespace reciprocal
{

template <class real> inline real of(real a)
{
    return 1 / a;
}

template <class real> inline real of_root(real a)
{
    return 1 / std::sqrt(a);
}

template <class real> inline void is_used(real &)
{
}

} // namespace reciprocal
