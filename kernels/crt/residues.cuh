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

#include "kernels/crt/copies.cuh"
#include "kernels/crt/moduli.cuh"
#include "kernels/crt/survey.cuh"

namespace crt
{

/* A block takes one piece after the other, and copies the next while it works on this one. */
constexpr int piece_rows = TB_CRT_PIECE_ROWS, piece_k = TB_CRT_PIECE_K, step_k = 16,
              piece_threads = TB_CRT_PIECE_THREADS;
constexpr int piece_copies = piece_rows * piece_k / piece_threads, padded_k = piece_k + 1;
static_assert(piece_rows * piece_k == piece_threads * step_k && TB_CRT_STAGE_K % piece_k == 0,
              "a thread has 16 steps of a row");

/* Where neighbours in memory are rows they lie [k][row], else [row][k]. */
struct staged_piece {
    double of[piece_rows * padded_k];
};

/* A piece of an operand: so many of its rows and steps of k exist. */
struct piece {
    const tb_crt_operand *operand;
    int row, k; /* the first */
    int rows_left, k_left;
    int quantum; /* of the thread's row */
};

__device__ inline piece piece_at(const tb_crt_operand &x, int number)
{
    const int across = x.panels * (x.panel / piece_rows), row = number % across * piece_rows,
              k = number / across * piece_k, own = row + int(threadIdx.x) % piece_rows;
    const int rows = int(x.rows);
    return {&x, row, k, rows - row, int(x.k) - k, own < rows ? x.quantum[own] : 0};
}

/* The thread's copies number i and following; they are `source_apart` and `target_apart` doubles from each other. */
template <bool whole, int target_apart, int apart, int i = 0>
__device__ __forceinline__ void copy_steps(uint32_t target, const double *source, int64_t source_apart,
                                           int left)
{
    if constexpr (i < piece_copies) {
        copies::take_8<i * target_apart *int(sizeof(double))>(target, source, whole || i * apart < left);
        copy_steps<whole, target_apart, apart, i + 1>(target, source + source_apart, source_apart, left);
    }
}

template <bool whole> __device__ __forceinline__ void copy_piece(const piece &from, staged_piece &to)
{
    const tb_crt_operand &x = *from.operand;
    const int64_t ld = x.leading_dimension;
    if (x.k_contiguous) {
        constexpr int apart = piece_threads / piece_k;
        const int k = threadIdx.x % piece_k, row = threadIdx.x / piece_k;
        copy_steps<whole, apart * padded_k, apart>(copies::shared(&to.of[row * padded_k + k]),
                                                   x.elements + (from.row + row) * ld + from.k + k,
                                                   apart * ld, k < from.k_left ? from.rows_left - row : 0);
    } else {
        constexpr int apart = piece_threads / piece_rows;
        const int row = threadIdx.x % piece_rows, k = threadIdx.x / piece_rows;
        copy_steps<whole, apart * piece_rows, apart>(copies::shared(&to.of[k * piece_rows + row]),
                                                     x.elements + from.row + row + (from.k + k) * ld,
                                                     apart * ld, row < from.rows_left ? from.k_left - k : 0);
    }
    copies::commit();
}

__device__ inline void copy_piece(const piece &from, staged_piece &to)
{
    if (from.rows_left >= piece_rows && from.k_left >= piece_k)
        copy_piece<true>(from, to);
    else
        copy_piece<false>(from, to);
}

/* A thread's 16 steps of a row. */
__device__ inline void read_piece(bool k_contiguous, const staged_piece &from, double (&values)[step_k])
{
    const int row = threadIdx.x % piece_rows, step = threadIdx.x / piece_rows * step_k;
    if (k_contiguous) {
#pragma unroll
        for (int i = 0; i < step_k; i++)
            values[i] = from.of[row * padded_k + step + i];
    } else {
#pragma unroll
        for (int i = 0; i < step_k; i++)
            values[i] = from.of[(step + i) * piece_rows + row];
    }
}

__device__ inline void store_residues(const piece &piece, const double (&values)[step_k], int count,
                                      int stages)
{
    const tb_crt_operand &x = *piece.operand;
    const double scale = __longlong_as_double(int64_t(exponent_bias - piece.quantum) << mantissa_bits);
    uint32_t low[step_k], high[step_k];
#pragma unroll
    for (int i = 0; i < step_k; i++) {
        const uint64_t y = uint64_t(__double2ll_rn(values[i] * scale)) + (uint64_t(1) << bias_bits);
        low[i] = uint32_t(y);
        high[i] = uint32_t(y >> 32);
    }
    const int row = piece.row + int(threadIdx.x) % piece_rows,
              k = piece.k + int(threadIdx.x) / piece_rows * step_k;
    const int64_t at =
        (int64_t(row / x.panel) * stages * TB_CRT_STAGE_K + k) / step_k * x.panel + row % x.panel;
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

/* Of A, where its residues are not there already, and of B. */
__device__ inline void make_residues(const tb_crt_arguments &arguments)
{
    __shared__ staged_piece ring[2];
    const int count = arguments.decision->moduli, pieces_a = arguments.pieces_a,
              end = count > 0 ? pieces_a + arguments.pieces_b : 0;
    const auto at = [&](int number) {
        return number < pieces_a ? piece_at(arguments.a, number) : piece_at(arguments.b, number - pieces_a);
    };
    int number = int(blockIdx.x) + (arguments.decision->makes_a ? 0 : pieces_a), turn = 0;
    if (number >= end)
        return;
    piece own = at(number);
    copy_piece(own, ring[0]);
    while (true) {
        number += int(gridDim.x);
        piece next = own;
        if (number < end) {
            next = at(number);
            copy_piece(next, ring[turn ^ 1]);
            copies::wait<1>();
        } else
            copies::wait<0>();
        __syncthreads();
        double values[step_k];
        read_piece(own.operand->k_contiguous, ring[turn], values);
        __syncthreads(); /* before the buffer is filled again */
        store_residues(own, values, count, arguments.stages);
        if (number >= end)
            return;
        own = next;
        turn ^= 1;
    }
}

} // namespace crt
