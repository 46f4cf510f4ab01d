/* wgmma m64 n k16, BF16 or FP16 operands in shared memory, or k32 and FP8, FP32 accumulators: D (64 x n) = A * B + (keep
 * ? D : 0), for the widths n that kernels here use.
 *
 * Both operands are K-major without swizzle: shared memory holds core matrices of 8 rows x 8 steps of k (16 of FP8), 128
 * bytes in one piece, so that reading one touches every bank once. A descriptor says where the first core
 * matrix lies and how far apart neighbours are along k and along the rows.
 *
 * Of D, thread t of the warpgroup holds, as sum[4 c + 2 h + l], row 16 (t / 32) + 8 h + t % 32 / 4 and column
 * 8 c + 2 (t % 4) + l (PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16").
 */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace ptx
{

/* Distances in bytes, multiples of 16. Layout type 0 in the top bits: no swizzle. */
__device__ inline uint64_t wgmma_descriptor(uint32_t address, uint32_t apart_k, uint32_t apart_rows)
{
    return uint64_t((address & 0x3ffff) >> 4) | uint64_t(apart_k >> 4) << 16 |
           uint64_t(apart_rows >> 4) << 32;
}

template <int n, typename element> struct wgmma;

/* Operand lists, by ten and by one; the argument is the tens' digits, none for the first ten. */
#define TB_NAMES_8(t)  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,"
#define TB_NAMES_6(t)  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,"
#define TB_NAMES_4(t)  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,"
#define TB_NAMES_10(t) TB_NAMES_8(t) "%" #t "8,%" #t "9,"
#define TB_NAMES_60    TB_NAMES_10() TB_NAMES_10(1) TB_NAMES_10(2) TB_NAMES_10(3) TB_NAMES_10(4) TB_NAMES_10(5)
#define TB_NAMES_80    TB_NAMES_60 TB_NAMES_10(6) TB_NAMES_10(7)

#define TB_FLOATS_1(i)  "+f"(sum[i])
#define TB_FLOATS_4(i)  TB_FLOATS_1(i), TB_FLOATS_1(i + 1), TB_FLOATS_1(i + 2), TB_FLOATS_1(i + 3)
#define TB_FLOATS_16(i) TB_FLOATS_4(i), TB_FLOATS_4(i + 4), TB_FLOATS_4(i + 8), TB_FLOATS_4(i + 12)
#define TB_FLOATS_64    TB_FLOATS_16(0), TB_FLOATS_16(16), TB_FLOATS_16(32), TB_FLOATS_16(48)

/* names ends in a comma, which the braces' last register takes; a, b and keep are the numbers of the operands
 * that follow the accumulators. */
#define TB_WGMMA(n, element, type, k, turns, names, last, a, b, keep, ...)                                   \
    template <> struct wgmma<n, element> {                                                                   \
        static constexpr int registers = n / 2;                                                              \
        __device__ static void multiply(float (&sum)[n / 2], uint64_t descriptor_a, uint64_t descriptor_b,   \
                                        int keep_sum)                                                        \
        {                                                                                                    \
            asm volatile("{\n"                                                                               \
                         ".reg .pred keep;\n"                                                                \
                         "setp.ne.b32 keep, " keep ", 0;\n"                                                  \
                         "wgmma.mma_async.sync.aligned.m64n" #n k ".f32." type "." type " "                  \
                         "{" names last "}, " a ", " b ", keep, 1, 1" turns ";\n"                            \
                         "}"                                                                                 \
                         : __VA_ARGS__                                                                       \
                         : "l"(descriptor_a), "l"(descriptor_b), "r"(keep_sum));                             \
        }                                                                                                    \
    };

#define TB_WGMMA_128(element, type, k, turns)                                                                \
    TB_WGMMA(128, element, type, k, turns, TB_NAMES_60 "%60,%61,%62,", "%63", "%64", "%65", "%66",           \
             TB_FLOATS_64)
#define TB_WGMMA_192(element, type, k, turns)                                                                \
    TB_WGMMA(192, element, type, k, turns, TB_NAMES_80 TB_NAMES_10(8) "%90,%91,%92,%93,%94,", "%95", "%96",  \
             "%97", "%98", TB_FLOATS_64, TB_FLOATS_16(64), TB_FLOATS_16(80))

/* Operands of 16 bits could be turned. */
TB_WGMMA(8, __nv_bfloat16, "bf16", "k16", ", 0, 0", "%0,%1,%2,", "%3", "%4", "%5", "%6", TB_FLOATS_4(0))
TB_WGMMA_128(__nv_bfloat16, "bf16", "k16", ", 0, 0")
TB_WGMMA_192(__nv_bfloat16, "bf16", "k16", ", 0, 0")
TB_WGMMA_128(__half, "f16", "k16", ", 0, 0")
TB_WGMMA_192(__half, "f16", "k16", ", 0, 0")
TB_WGMMA_128(__nv_fp8_e5m2, "e5m2", "k32", "")
TB_WGMMA_192(__nv_fp8_e5m2, "e5m2", "k32", "")

#undef TB_WGMMA_192
#undef TB_WGMMA_128
#undef TB_WGMMA

} // namespace ptx
