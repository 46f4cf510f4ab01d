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

/* Numbers as multiples of their quantum, and 2^63. */
struct biased {
    uint32_t low, high;

    biased() = default;
    __device__ biased(double value, double scale)
    {
        const uint64_t y = uint64_t(__double2ll_rn(value * scale)) + (uint64_t(1) << bias_bits);
        low = uint32_t(y);
        high = uint32_t(y >> 32);
    }
};

/* What `reduce` takes. */
__device__ inline int32_t dot_bytes_of(const biased &y, const reduction &by)
{
    return dot_bytes(y.high, by.bytes[1], dot_bytes(y.low, by.bytes[0], by.start_y));
}

__device__ inline double scale_of(const piece &piece)
{
    return __longlong_as_double(int64_t(exponent_bias - piece.quantum) << mantissa_bits);
}

/* Where a thread's residues by the first modulus go, 16 steps of a row. */
__device__ inline uint4 *residues_at(const piece &piece, int stages)
{
    const tb_crt_operand &x = *piece.operand;
    const int row = piece.row + int(threadIdx.x) % piece_rows,
              k = piece.k + int(threadIdx.x) / piece_rows * step_k;
    const int64_t at =
        (int64_t(row / x.panel) * stages * TB_CRT_STAGE_K + k) / step_k * x.panel + row % x.panel;
    return reinterpret_cast<uint4 *>(x.residues) + at;
}

/* Residues of 16 integers, which are given in bits as `reduce` takes them. */
__device__ inline uint4 reduce_steps(const int32_t (&bits)[step_k], const reduction &by)
{
    uint32_t words[4];
#pragma unroll
    for (int word = 0; word < 4; word++) {
        uint32_t residue[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            residue[i] = reduce(bits[4 * word + i], by.inverse, by.modulus);
        words[word] = pack(residue[0], residue[1], residue[2], residue[3]);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ inline void store_residues(const piece &piece, const double (&values)[step_k], int count,
                                      int stages)
{
    const double scale = scale_of(piece);
    biased y[step_k];
#pragma unroll
    for (int i = 0; i < step_k; i++)
        y[i] = biased(values[i], scale);
    uint4 *to = residues_at(piece, stages);
    for (int modulus = 0; modulus < count; modulus++, to += piece.operand->plane / 16) {
        const reduction &by = device_reductions.of[modulus];
        int32_t bits[step_k];
#pragma unroll
        for (int i = 0; i < step_k; i++)
            bits[i] = dot_bytes_of(y[i], by);
        *to = reduce_steps(bits, by);
    }
}

/* Pieces of both operands are numbered, A's first. */
__device__ inline piece piece_of_both(const tb_crt_arguments &arguments, int number)
{
    return number < arguments.pieces_a ? piece_at(arguments.a, number)
                                       : piece_at(arguments.b, number - arguments.pieces_a);
}

/* A block's first; A has none where its residues are there already. */
__device__ inline int first_piece(const tb_crt_arguments &arguments)
{
    return int(blockIdx.x) + (arguments.decision->makes_a ? 0 : arguments.pieces_a);
}

__device__ inline void make_residues(const tb_crt_arguments &arguments)
{
    __shared__ staged_piece ring[2];
    const int count = arguments.decision->moduli,
              end = count > 0 ? arguments.pieces_a + arguments.pieces_b : 0;
    int number = first_piece(arguments), turn = 0;
    if (number >= end)
        return;
    piece own = piece_of_both(arguments, number);
    copy_piece(own, ring[0]);
    while (true) {
        number += int(gridDim.x);
        piece next = own;
        if (number < end) {
            next = piece_of_both(arguments, number);
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

/* Complex numbers have residues of real parts, of imaginary parts, and of the sums of both. */
__device__ inline void store_residues_of_pairs(const piece &piece, int count, int stages)
{
    const tb_crt_operand &x = *piece.operand;
    const int row = threadIdx.x % piece_rows, step = threadIdx.x / piece_rows * step_k;
    const int64_t apart = x.k_contiguous ? 2 : 2 * x.leading_dimension;
    const double *source = x.elements + (piece.row + row) * (x.k_contiguous ? x.leading_dimension : 2) +
                           (piece.k + step) * apart;
    const int left = row < piece.rows_left ? piece.k_left - step : 0;
    const double scale = scale_of(piece);
    biased real[step_k], imaginary[step_k];
#pragma unroll
    for (int i = 0; i < step_k; i++, source += apart) {
        real[i] = biased(i < left ? source[0] : 0, scale);
        imaginary[i] = biased(i < left ? source[1] : 0, scale);
    }
    uint4 *to = residues_at(piece, stages);
    const int64_t plane = x.plane / 16;
    for (int modulus = 0; modulus < count; modulus++, to += TB_CRT_SETS * plane) {
        const reduction &by = device_reductions.of[modulus];
        int32_t bits[step_k], sums[step_k];
#pragma unroll
        for (int i = 0; i < step_k; i++)
            sums[i] = bits[i] = dot_bytes_of(real[i], by);
        to[0] = reduce_steps(bits, by);
#pragma unroll
        for (int i = 0; i < step_k; i++) {
            bits[i] = dot_bytes_of(imaginary[i], by);
            sums[i] += bits[i] - magic;
        }
        to[plane] = reduce_steps(bits, by);
        to[2 * plane] = reduce_steps(sums, by);
    }
}

__device__ inline void make_residues_of_pairs(const tb_crt_arguments &arguments)
{
    const int count = arguments.decision->moduli,
              end = count > 0 ? arguments.pieces_a + arguments.pieces_b : 0;
    for (int number = first_piece(arguments); number < end; number += int(gridDim.x))
        store_residues_of_pairs(piece_of_both(arguments, number), count, arguments.stages);
}

} // namespace crt
