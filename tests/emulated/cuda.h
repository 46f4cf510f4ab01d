/* CUDA's names, for device code that is compiled for the host: included before any of it. */
#pragma once

#include "tests/emulated/threads.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __CUDACC__
#define __host__
#define __device__
#define __global__
#define __constant__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))

struct dim3 {
    unsigned x = 0, y = 0, z = 0;
};
extern dim3 threadIdx, blockIdx, gridDim, blockDim;

struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y)
{
    return {x, y};
}
inline uint32_t __cvta_generic_to_shared(const void *address)
{
    return emulated::address_of(address);
}

template <class a, class b> constexpr std::common_type_t<a, b> min(a x, b y)
{
    return x < y ? x : y;
}
template <class a, class b> constexpr std::common_type_t<a, b> max(a x, b y)
{
    return x > y ? x : y;
}

/* ---- Bits --------------------------------------------------------------------------------------------------- */

template <class to, class from> inline to emulated_bits(from value)
{
    static_assert(sizeof(to) == sizeof(from), "the same bits");
    to result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}
inline int __double2loint(double value)
{
    return int(emulated_bits<uint64_t>(value));
}
inline int __double2hiint(double value)
{
    return int(emulated_bits<uint64_t>(value) >> 32);
}
inline double __hiloint2double(int upper, int lower)
{
    return emulated_bits<double>(uint64_t(uint32_t(upper)) << 32 | uint32_t(lower));
}
inline double __longlong_as_double(int64_t bits)
{
    return emulated_bits<double>(bits);
}
inline float __int_as_float(int bits)
{
    return emulated_bits<float>(bits);
}
inline int __float_as_int(float value)
{
    return emulated_bits<int>(value);
}
inline int __ffs(int value)
{
    return __builtin_ffs(value);
}
inline int __clz(int value)
{
    return value ? __builtin_clz(uint32_t(value)) : 32;
}
inline int __clzll(int64_t value)
{
    return value ? __builtin_clzll(uint64_t(value)) : 64;
}

/* Bytes of both words by the selector's digits, of which none asks for a sign. */
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t both = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++)
        result |= uint32_t(both >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return result;
}

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

/* Converts as a device does: to the nearest, and what is out of range to the end of it. */
inline long long __double2ll_rn(double value)
{
    return std::isnan(value) ? LLONG_MIN
           : value >= 0x1p63 ? LLONG_MAX
           : value < -0x1p63 ? LLONG_MIN
                             : std::llrint(value);
}
inline double __ll2double_rn(long long value)
{
    return double(value);
}
inline double __ull2double_rn(unsigned long long value)
{
    return double(value);
}
inline int __float2int_rn(float value)
{
    return std::isnan(value)  ? 0
           : value >= 0x1p31f ? INT_MAX
           : value < -0x1p31f ? INT_MIN
                              : int(std::lrint(value));
}
inline float __fdividef(float x, float y)
{
    return x / y;
}
inline float rsqrtf(float x)
{
    return 1 / std::sqrt(x);
}
inline double rsqrt(double x)
{
    return 1 / std::sqrt(x);
}
template <class type> inline type __ldg(const type *from)
{
    return *from;
}
template <class type> inline type __ldcs(const type *from)
{
    return *from;
}

/* ---- Warps and blocks --------------------------------------------------------------------------------------- */

#define __syncwarp()    emulated::wait_for_warp("__syncwarp")
#define __syncthreads() emulated::wait_for_block("__syncthreads")
inline int __syncthreads_or(int value)
{
    return emulated::any_of_block(value != 0);
}
template <class type> inline type __shfl_sync(uint32_t, type value, int from)
{
    return emulated::exchange(value, "__shfl_sync").value[from % emulated::lanes];
}
template <class type> inline type __shfl_xor_sync(uint32_t, type value, int away)
{
    return emulated::exchange(value, "__shfl_xor_sync").value[emulated::lane() ^ away];
}

template <class type, class operation>
inline type emulated_reduce(type value, const char *name, operation join)
{
    const auto all = emulated::exchange(value, name);
    type result = all.value[0];
    for (int i = 1; i < emulated::lanes; i++)
        result = join(result, all.value[i]);
    return result;
}
template <class type> inline type __reduce_max_sync(uint32_t, type value)
{
    return emulated_reduce(value, "__reduce_max_sync", [](type x, type y) { return max(x, y); });
}
template <class type> inline type __reduce_min_sync(uint32_t, type value)
{
    return emulated_reduce(value, "__reduce_min_sync", [](type x, type y) { return min(x, y); });
}
template <class type> inline type __reduce_add_sync(uint32_t, type value)
{
    return emulated_reduce(value, "__reduce_add_sync", [](type x, type y) { return type(x + y); });
}
inline uint32_t __ballot_sync(uint32_t, int value)
{
    const auto all = emulated::exchange(value != 0, "__ballot_sync");
    uint32_t result = 0;
    for (int i = 0; i < emulated::lanes; i++)
        result |= uint32_t(all.value[i]) << i;
    return result;
}
inline int __any_sync(uint32_t, int value)
{
    return emulated_reduce(value != 0, "__any_sync", [](bool x, bool y) { return x || y; });
}
inline int __all_sync(uint32_t, int value)
{
    return emulated_reduce(value != 0, "__all_sync", [](bool x, bool y) { return x && y; });
}
