/* wgmma m64 n256 k32: INT8 operands in shared memory, K-major without swizzle as in kernels/tensor/wgmma.cuh
 * but for core matrices of 8 rows x 16 steps of k; INT32 accumulators.
 */
#pragma once

#include <stdint.h>

namespace ptx
{

#define TB_TEN(t)    "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define TB_SUM_1(i)  "+r"(sum[i])
#define TB_SUM_4(i)  TB_SUM_1(i), TB_SUM_1(i + 1), TB_SUM_1(i + 2), TB_SUM_1(i + 3)
#define TB_SUM_16(i) TB_SUM_4(i), TB_SUM_4(i + 4), TB_SUM_4(i + 8), TB_SUM_4(i + 12)
#define TB_SUM_64(i) TB_SUM_16(i), TB_SUM_16(i + 16), TB_SUM_16(i + 32), TB_SUM_16(i + 48)

__device__ inline void wgmma_s8_n256(int32_t (&sum)[128], uint64_t descriptor_a, uint64_t descriptor_b,
                                     int keep_sum)
{
    asm volatile("{\n"
                 ".reg .pred keep;\n"
                 "setp.ne.b32 keep, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
                 "{" TB_TEN() TB_TEN(1) TB_TEN(2) TB_TEN(3) TB_TEN(4) TB_TEN(5) TB_TEN(6) TB_TEN(7) TB_TEN(8)
                     TB_TEN(9) TB_TEN(10)
                         TB_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, keep;\n"
                                    "}"
                 : TB_SUM_64(0), TB_SUM_64(64)
                 : "l"(descriptor_a), "l"(descriptor_b), "r"(keep_sum));
}

#undef TB_SUM_64
#undef TB_SUM_16
#undef TB_SUM_4
#undef TB_SUM_1
#undef TB_TEN

} // namespace ptx
