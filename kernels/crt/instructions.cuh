/* Instructions that have no name in CUDA. tests/emulated has the same functions for the host.
 */
#pragma once

#include <stdint.h>

namespace crt
{

/* Bytes of a, without sign, times bytes of b, with a sign. */
__device__ inline int32_t dot_bytes(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* Bytes with a sign of a, times bytes without one of b. */
__device__ inline int32_t dot_residues(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* Halves of a, without sign, times the lower two bytes of b, with a sign. */
__device__ inline int32_t dot_halves(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* Adds a word in one instruction. */
__device__ inline void add_wide(uint64_t &sum, uint32_t word)
{
    asm("mad.wide.u32 %0, %1, 1, %0;" : "+l"(sum) : "r"(word));
}

/* Four matrices of 8 rows of 16 bytes; lanes 8 i to 8 i + 7 have the addresses of matrix i's rows. Lane l
 * gets word l % 4 of row l / 4. */
__device__ inline void load_matrices(uint32_t (&to)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

/* m8 n8 k16, which chips before 8.0 have. */
__device__ inline void multiply_add_k16(int32_t *sum, uint32_t a, uint32_t b)
{
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(a), "r"(b));
}

/* m16 n8 k32, from 8.0 on. */
__device__ inline void multiply_add_k32(int32_t *sum, const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

} // namespace crt
