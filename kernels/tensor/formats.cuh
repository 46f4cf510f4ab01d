/* What an FP32 number is split into, and where its parts lie in a chunk: BF16 parts, FP16 parts, FP16 parts with FP8. split.cuh
 * says what they hold of it.
 */
#pragma once

#include "kernels/tensor/split.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace split
{

constexpr int stage_k = TB_SPLIT_STAGE_K, block_rows = TB_SPLIT_BLOCK_ROWS,
              block_stages_most = TB_SPLIT_BLOCK_STAGES_MOST;
constexpr int step_k = 8, steps = stage_k / step_k; /* a thread's share along k: 16 bytes of each part */
constexpr int threads = block_rows * steps;

/* Takes a leading part off both values. */
template <class pair_of> __device__ inline uint32_t take_off(const pair_of &pair, float &low, float &high)
{
    low -= __low2float(pair);
    high -= __high2float(pair);
    return *reinterpret_cast<const uint32_t *>(&pair);
}

__device__ inline uint32_t take_bf16(float &low, float &high)
{
    return take_off(__floats2bfloat162_rn(low, high), low, high);
}

__device__ inline uint32_t take_fp16(float &low, float &high)
{
    return take_off(__floats2half2_rn(low, high), low, high);
}

/* Rounded to so many significant bits, halves away from zero. */
__device__ inline float shorten(float value, int bits)
{
    const int left = 24 - bits;
    return __uint_as_float((__float_as_uint(value) + (1u << (left - 1))) & ~((1u << left) - 1));
}

__device__ inline uint32_t take_short_fp16(float &low, float &high)
{
    return take_off(__floats2half2_rn(shorten(low, TB_SPLIT_SHORT_BITS), shorten(high, TB_SPLIT_SHORT_BITS)),
                    low, high);
}

template <uint32_t take(float &, float &)> __device__ inline uint4 take_part(float (&values)[step_k])
{
    uint32_t packed[step_k / 2];
#pragma unroll
    for (int i = 0; i < step_k; i += 2)
        packed[i / 2] = take(values[i], values[i + 1]);
    return make_uint4(packed[0], packed[1], packed[2], packed[3]);
}

/* Whether any of eight numbers of 16 bits is not zero. */
__device__ inline bool holds_any(const uint4 &taken)
{
    return (taken.x | taken.y | taken.z | taken.w) & 0x7fff7fff;
}

/* A thread's place in a chunk of so many rows: where its eight numbers would be if their part came first. */
struct place {
    uint4 *own;
    int rows;

    /* The place in a part of 16 bits, which begins after so many bytes of each row. */
    __device__ uint4 &halves(int row_bytes) const
    {
        return own[row_bytes / 16 * rows];
    }

    /* The place in a part of 8 bits, where two steps of a row are neighbours. */
    __device__ uint2 &bytes(int row_bytes) const
    {
        const int step = threadIdx.x / block_rows;
        return reinterpret_cast<uint2 *>(own + (row_bytes / 16 - (step + 1) / 2) * rows)[step % 2];
    }
};

/* What a number is split into: so many parts of 16 bits. */
template <class number, int count, bool scaled, uint32_t take(float &, float &)> struct halves {
    using element = number;
    static constexpr int parts = count, row_bytes = count * 2 * stage_k, last_order = 2 * (count - 1);
    static constexpr bool scales = scaled, has_bytes = false;

    /* Bytes of the first so many parts of a row, which lie together. */
    __device__ static constexpr int row_bytes_of(int used)
    {
        return used * (2 * stage_k);
    }
    __device__ static constexpr int first_byte(int part)
    {
        return part * (2 * stage_k);
    }

    /* Returns how many parts hold anything. */
    __device__ static uint32_t split(float (&values)[step_k], const place &place)
    {
        uint32_t used = 0;
#pragma unroll
        for (int part = 0; part < parts; part++) {
            const uint4 taken = take_part<take>(values);
            place.halves(first_byte(part)) = taken;
            if (holds_any(taken))
                used = part + 1;
        }
        return used;
    }
};

using bf16x3 = halves<__nv_bfloat16, 3, false, take_bf16>;
using fp16x2 = halves<__half, 2, true, take_fp16>;
static_assert(bf16x3::row_bytes == TB_SPLIT_BF16_ROW_BYTES && fp16x2::row_bytes == TB_SPLIT_FP16_ROW_BYTES,
              "split.h");

/* Two parts of FP16 and, where these miss the last bits, a third. Products of order 2, at most 2^-18 of what is multiplied, take
 * FP8 of 3 significant bits (e5m2) for both operands: so the first part and the second are there as FP8, too, and the third as
 * that alone. FP8 has FP16's exponents: the third, 2^-21 of the number at most, is moved up, the first down by as much. The
 * first part is shorter than it could be, for the tensor cores to cut less off beside larger products. */
struct fp16x2_fp8 {
    using element = __half;
    static constexpr int parts = 3, row_bytes = TB_SPLIT_MIXED_ROW_BYTES, last_order = 2;
    static constexpr bool scales = true, has_bytes = true;
    static constexpr int part_bytes = 3 * stage_k; /* of a row: the FP16, then the FP8 */

    __device__ static constexpr int row_bytes_of(int used)
    {
        return used < 3 ? used * part_bytes : row_bytes;
    }
    __device__ static constexpr int first_byte(int part)
    {
        return part * part_bytes;
    }
    /* Where a part of FP8 begins. */
    __device__ static constexpr int first_small_byte(int part)
    {
        return part < 2 ? part * part_bytes + 2 * stage_k : 2 * part_bytes;
    }

    /* 2^exponent of each as FP8, rounded to nearest even. */
    template <int exponent> __device__ static uint2 make_small(const uint4 &halves)
    {
        const uint32_t in[] = {halves.x, halves.y, halves.z, halves.w};
        uint32_t out[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            out[i] = uint32_t(small_pair<exponent>(in[2 * i])) | uint32_t(small_pair<exponent>(in[2 * i + 1]))
                                                                     << 16;
        return make_uint2(out[0], out[1]);
    }

    template <int exponent> __device__ static uint16_t small_pair(uint32_t halves)
    {
        __half2 pair = *reinterpret_cast<const __half2 *>(&halves);
        if (exponent != 0)
            pair = __hmul2(pair,
                           __float2half2_rn(exponent < 0 ? 1.0f / (1 << -exponent) : float(1 << exponent)));
        return __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2);
    }

    __device__ static uint32_t split(float (&values)[step_k], const place &place)
    {
        const uint4 first = take_part<take_short_fp16>(values);
        place.halves(first_byte(0)) = first;
        place.bytes(first_small_byte(0)) = make_small<-TB_SPLIT_SMALL_SHIFT>(first);
        const uint4 second = take_part<take_fp16>(values);
        place.halves(first_byte(1)) = second;
        place.bytes(first_small_byte(1)) = make_small<0>(second);
#pragma unroll
        for (float &value : values)
            value *= 1 << TB_SPLIT_SMALL_SHIFT;
        const uint2 third = make_small<0>(take_part<take_fp16>(values));
        place.bytes(first_small_byte(2)) = third;
        return (third.x | third.y) & 0x7f7f7f7f ? 3 : holds_any(second) ? 2 : holds_any(first) ? 1 : 0;
    }
};

} // namespace split
