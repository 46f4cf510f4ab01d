/* The rows of a GETRF panel's block. A row is in the registers of four lanes, which have pairs of its columns in turn:
 *
 *     columns            0 1   2 3   4 5   6 7   8 9   ...  24 25  26 27  28 29  30 31
 *     lane of the four     0     1     2     3     0            0      1      2      3
 *     its pair             0     0     0     0     1            3      3      3      3
 *
 * Four lanes have `own_rows` rows, 8 apart, so that a warp's are neighbours; a deep block has further ones in shared memory, of which a
 * thread has as many as all others. Rows stay where they are: what is exchanged is their numbers, by which they are written in the end.
 */
#pragma once

#include "kernels/panels/exchange.cuh"

namespace panels
{

constexpr int lanes_of_row = TB_GETRF_LANES, rows_at_a_time = lanes / lanes_of_row,
              pairs = columns / (2 * lanes_of_row);

/* Neighbours of a row, which a lane has. */
template <class number> struct alignas(2 * sizeof(number) < 16 ? 2 * sizeof(number) : 16) pair {
    number at[2];
};

/* The rows of a thread that are in shared memory: neighbours' numbers of a column are neighbours. */
template <class number> struct further_rows {
    int32_t *numbers; /* where the rows end, of all threads; negative: there is no such row */
    number *rows;
    int count;

    __device__ __forceinline__ int32_t &number_of_row(int i) const
    {
        return numbers[i * int(blockDim.x) + int(threadIdx.x)];
    }
    __device__ __forceinline__ number &at(int i, int column) const
    {
        return rows[(i * columns + column) * int(blockDim.x) + int(threadIdx.x)];
    }
};

template <class number, template <class> class exchange, int own_rows, bool is_deep> struct lu_rows {
    using real = real_of<number>;
    static constexpr int ranked_rows =
        own_rows / lanes_of_row; /* those of which a lane looks for candidates: its own of each four */
    const tb_getrf_panel &x;
    further_rows<number> further;
    const int lane, part; /* of the warp, and of the row's lanes */
    const int home;       /* the first row's number before any exchange */
    number own[own_rows][pairs][2];
    uint32_t left = 0;    /* bit by bit, the rows that have not been a pivot's */
    int row[ranked_rows]; /* numbers; as in further_rows */

    __device__ lu_rows(const tb_getrf_panel &x, char *in_shared)
        : x(x), lane(threadIdx.x % lanes), part(lane % lanes_of_row),
          home(first_of_block() + first_in_block())
    {
        const int beyond = x.rows_of_block - rows_in_registers();
        further.count = is_deep && beyond > 0 ? (beyond + int(blockDim.x) - 1) / int(blockDim.x) : 0;
        further.rows = reinterpret_cast<number *>(in_shared);
        further.numbers =
            reinterpret_cast<int32_t *>(further.rows + further.count * columns * int(blockDim.x));
    }

    __device__ __forceinline__ int first_of_block() const
    {
        return exchange<number>::rank() * x.rows_of_block;
    }
    __device__ __forceinline__ static int rows_in_registers()
    {
        return int(blockDim.x) / lanes_of_row * own_rows;
    }
    __device__ __forceinline__ int first_in_block() const
    {
        return int(threadIdx.x) / lanes * (rows_at_a_time * own_rows) + lane / lanes_of_row;
    }
    /* Where it is in the block: the number that the row has at first. */
    __device__ __forceinline__ int number_at_first(int in_block) const
    {
        const int number_of_row = first_of_block() + in_block;
        return in_block < x.rows_of_block && number_of_row < x.rows ? number_of_row : -1;
    }
    __device__ __forceinline__ int further_in_block(int i) const
    {
        return rows_in_registers() + i * int(blockDim.x) + int(threadIdx.x);
    }
    __device__ __forceinline__ real *in_memory(int in_row, int column) const
    {
        return static_cast<real *>(x.a) + reals_of<number> * (in_row + column * x.ld);
    }
    __device__ __forceinline__ int column_of(int pair, int half) const
    {
        return (pair * lanes_of_row + part) * 2 + half;
    }

    __device__ __forceinline__ void load()
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++) {
            const int in_row = number_at_first(first_in_block() + i * rows_at_a_time);
            left |= in_row >= 0 ? 1u << i : 0;
            if (i % lanes_of_row == part)
                row[i / lanes_of_row] = in_row;
#pragma unroll
            for (int k = 0; k < 2 * pairs; k++) {
                const int column = column_of(k / 2, k % 2);
                own[i][k / 2][k % 2] = number_of<number>(0);
                if (in_row >= 0 && column < x.columns)
                    own[i][k / 2][k % 2] = read<number>(in_memory(in_row, column));
            }
        }
        for (int i = 0; is_deep && i < further.count; i++) {
            const int in_row = further.number_of_row(i) = number_at_first(further_in_block(i));
#pragma unroll 8
            for (int k = 0; k < columns; k++)
                further.at(i, k) =
                    in_row >= 0 && k < x.columns ? read<number>(in_memory(in_row, k)) : number_of<number>(0);
        }
    }

    __device__ __forceinline__ void store() const
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++) {
            const int in_row = __shfl_sync(UINT32_MAX, row[i / lanes_of_row], lane - part + i % lanes_of_row);
#pragma unroll
            for (int k = 0; k < 2 * pairs; k++) {
                const int column = column_of(k / 2, k % 2);
                if (in_row >= 0 && column < x.columns)
                    write(in_memory(in_row, column), own[i][k / 2][k % 2]);
            }
        }
        for (int i = 0; is_deep && i < further.count; i++)
            if (const int in_row = further.number_of_row(i); in_row >= 0)
                for (int k = 0; k < x.columns; k++)
                    write(in_memory(in_row, k), further.at(i, k));
    }

    __device__ __forceinline__ bool is_left(int i) const
    {
        return (left & 1u << i) != 0;
    }
};

} // namespace panels
