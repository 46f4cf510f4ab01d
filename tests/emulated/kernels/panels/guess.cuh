/* Does what kernels/panels/guess.cuh does, on the host, and knows no more than a device: of floats all but 3 bits, of doubles 20. */
#pragma once

#include <cmath>

namespace guess
{

inline float rough(float a)
{
    return __int_as_float(__float_as_int(a) & ~0x7);
}
inline double rough(double a)
{
    return __hiloint2double(__double2hiint(a), 0);
}

template <class real> inline real reciprocal(real a)
{
    return rough(1 / a);
}
template <class real> inline real reciprocal_root(real a)
{
    return rough(1 / std::sqrt(a));
}

} // namespace guess
