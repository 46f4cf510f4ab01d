/* Does what kernels/fp64/instructions.cuh does, on the host, by what the manual of PTX says of them. */
#pragma once

#include "tests/emulated/threads.h"

#include <cmath>
#include <cstring>

namespace fp64
{

inline double *ring()
{
    return static_cast<double *>(emulated::dynamic_shared());
}

inline unsigned first_stage()
{
    return emulated::address_of(ring());
}

template <int bytes, bool through_l1> inline void copy_async(unsigned shared, const double *global, int valid)
{
    emulated::copy(shared, global, bytes, valid);
}

template <int bytes, bool through_l1>
inline void copy_async_if(unsigned wanted, unsigned shared, const double *global)
{
    if (wanted != 0)
        emulated::copy(shared, global, bytes, bytes);
}

inline double load_shared(unsigned address)
{
    double value;
    std::memcpy(&value, emulated::read_by_warp(address, sizeof value), sizeof value);
    return value;
}

inline void load_shared_pair(double &first, double &second, unsigned address)
{
    double pair[2];
    std::memcpy(pair, emulated::read_by_warp(address, sizeof pair), sizeof pair);
    first = pair[0];
    second = pair[1];
}

inline double with_bits(double value, unsigned upper, unsigned lower)
{
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits ^= uint64_t(upper) << 32 | lower;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

/* Lane 4 g + q has, as a[2 i + h], row h of pair g and step q + 4 i; as b[i], column g and the same step; as
 * sum[2 h + e], row h of pair g and column 2 q + e. */
template <int quarters>
inline void emulated_multiply(double (&sum)[4], const double (&a)[2 * quarters], const double (&b)[quarters])
{
    struct fragments {
        double a[2 * quarters], b[quarters];
    } own;
    std::memcpy(own.a, a, sizeof a);
    std::memcpy(own.b, b, sizeof b);
    const auto all = emulated::exchange(own, "mma.f64");
    const fragments *row = &all.value[emulated::lane() / 4 * 4],
                    *column = &all.value[emulated::lane() % 4 * 8];
    for (int h = 0; h < 2; h++)
        for (int e = 0; e < 2; e++)
            for (int step = 0; step < 4 * quarters; step++)
                sum[2 * h + e] = std::fma(row[step % 4].a[step / 4 * 2 + h],
                                          column[4 * e + step % 4].b[step / 4], sum[2 * h + e]);
}

inline void multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2])
{
    emulated_multiply<2>(sum, a, b);
}

inline void multiply(double (&sum)[4], const double (&a)[8], const double (&b)[4])
{
    emulated_multiply<4>(sum, a, b);
}

template <int apart>
inline void copy_four_async(unsigned shared, const char *first, const char *second, const char *third,
                            const char *fourth)
{
    const char *const pieces[] = {first, second, third, fourth};
    for (int i = 0; i < 4; i++)
        emulated::copy(shared + unsigned(i * apart), pieces[i], 16, 16);
}

inline void barrier_init(unsigned barrier, int arrivals)
{
    emulated::init_barrier(barrier, arrivals);
}

inline void barrier_arrive(unsigned barrier)
{
    emulated::arrive(barrier);
}

inline void barrier_arrive_after_copies(unsigned barrier)
{
    emulated::arrive_after_copies(barrier);
}

inline void wait_for_all_copies()
{
    emulated::wait_for_all_copies();
}

inline void barrier_wait(unsigned barrier, unsigned parity)
{
    emulated::wait_for_phase(barrier, parity);
}

} // namespace fp64
