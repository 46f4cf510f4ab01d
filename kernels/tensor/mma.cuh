/* The tensor cores' instructions of sm_80, one function each: matrices from shared memory into a warp's registers, and
 * their products.
 *
 * Words: a core matrix is 8 rows of 8 BF16, 128 bytes in one piece here, so that reading one touches every bank once.
 * Of it thread t of the warp holds, in one register, elements 2 (t % 4) and 2 (t % 4) + 1 of row t / 4.
 */
#pragma once

#include <stdint.h>

namespace ptx
{

/* Four core matrices. Threads 8 i to 8 i + 7 give the addresses of the i-th one's rows, multiples of 16. */
__device__ inline void load_matrices(uint32_t (&matrices)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
                 : "r"(row)
                 : "memory");
}

/* sum (16 x 8) += a (16 x 16) * b (16 x 8). A is rows 0-7 and 8-15 of k 0-7, then the same of k 8-15; B, whose rows in
 * shared memory are columns, is k 0-7 and 8-15. Of the sum thread t holds, as sum[2 h + l], row 8 h + t / 4 and column
 * 2 (t % 4) + l (PTX ISA, "Matrix fragments for mma.m16n8k16"). */
__device__ inline void multiply_matrices(float (&sum)[4], const uint32_t (&a)[4], uint32_t b_low,
                                         uint32_t b_high)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

} // namespace ptx
