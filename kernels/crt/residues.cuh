/* The pass that makes residues: rounds numbers to multiples of their outer index's quantum, and divides the integers by every
 * modulus. Outer indices and steps of k that do not exist become zeros, so that the kernel that multiplies has no edges there.
 *
 *   op(X), rows x k            planes, one for each modulus
 *   +--------+--------+--      +----------------------------------------------------------+
 *   | panel, | panel, |        | k 0-15 of row 0, of row 1, ... | k 16-31 of row 0, ...     |   a panel's rows over a stage,
 *   | stage  | stage  |        +----------------------------------------------------------+   as wgmma wants it
 *   +--------+--------+--
 */
#pragma once

#include "kernels/crt/moduli.cuh"
#include "kernels/crt/survey.cuh"

namespace crt
{

constexpr int pass_k = TB_CRT_PASS_K, step_k = 16;
static_assert(block_rows * pass_k == pass_threads * step_k && TB_CRT_STAGE_K % pass_k == 0,
              "a thread has 16 steps of a row");

/* A thread's steps of one row. */
__device__ inline void read_rows(const tb_crt_operand &x, int64_t row, int64_t k, double (&values)[step_k])
{
    const double *source = x.elements + row + k * x.leading_dimension;
    const int64_t left = row < x.rows ? x.k - k : 0;
#pragma unroll
    for (int i = 0; i < step_k; i++)
        values[i] = i < left ? source[i * x.leading_dimension] : 0;
}

/* The same where neighbours in memory are steps of k: shared memory turns them. */
__device__ inline void read_columns(const tb_crt_operand &x, int64_t first_row, int64_t first_k, int row,
                                    int step, double (&values)[step_k])
{
    __shared__ double staged[block_rows][pass_k + 1];
    constexpr int apart = pass_threads / pass_k;
    const int own_k = threadIdx.x % pass_k;
    const bool exists = first_k + own_k < x.k;
#pragma unroll
    for (int i = threadIdx.x / pass_k; i < block_rows; i += apart)
        staged[i][own_k] = exists && first_row + i < x.rows
                               ? x.elements[(first_row + i) * x.leading_dimension + first_k + own_k]
                               : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < step_k; i++)
        values[i] = staged[row][step + i];
}

__device__ inline void make_residues(const tb_crt_operand &x, int count, int stages, int64_t block)
{
    const int64_t blocks_rows = int64_t(x.panels) * x.panel / block_rows;
    const int64_t first_row = block % blocks_rows * block_rows, first_k = block / blocks_rows * pass_k;
    const int own = threadIdx.x % block_rows, step = threadIdx.x / block_rows * step_k;
    const int64_t row = first_row + own;
    double values[step_k];
    if (x.k_contiguous)
        read_columns(x, first_row, first_k, own, step, values);
    else
        read_rows(x, row, first_k + step, values);
    const int quantum = row < x.rows ? x.quantum[row] : 0;
    const double scale = __longlong_as_double(int64_t(exponent_bias - quantum) << mantissa_bits);
    uint32_t low[step_k], high[step_k];
#pragma unroll
    for (int i = 0; i < step_k; i++) {
        const uint64_t y = uint64_t(__double2ll_rn(values[i] * scale)) + (uint64_t(1) << bias_bits);
        low[i] = uint32_t(y);
        high[i] = uint32_t(y >> 32);
    }
    const int64_t panel = row / x.panel, row_of_panel = row % x.panel;
    const int64_t at = ((panel * stages + first_k / TB_CRT_STAGE_K) * (TB_CRT_STAGE_K / step_k) +
                        (first_k % TB_CRT_STAGE_K + step) / step_k) *
                           x.panel +
                       row_of_panel;
    uint4 *to = reinterpret_cast<uint4 *>(x.residues) + at;
    for (int modulus = 0; modulus < count; modulus++) {
        const reduction &by = device_reductions.of[modulus];
        uint32_t words[4];
#pragma unroll
        for (int word = 0; word < 4; word++) {
            uint32_t residue[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                residue[i] = reduce(dot_bytes(high[4 * word + i], by.bytes[1],
                                              dot_bytes(low[4 * word + i], by.bytes[0], by.start_y)),
                                    by.inverse, by.modulus);
            words[word] = pack(residue[0], residue[1], residue[2], residue[3]);
        }
        *to = make_uint4(words[0], words[1], words[2], words[3]);
        to += x.plane / 16;
    }
}

} // namespace crt
