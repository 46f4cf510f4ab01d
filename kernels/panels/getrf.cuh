/* getrf: LU with partial pivoting of a panel of up to 32 columns, in place. Blocks have rows of it each:
 *
 *     block 0 |  threads have a row each of the first 256, of the next 256, ...  in registers
 *             |  and of what is beyond                                          in shared memory
 *     block 1 |  likewise
 *
 * so that global memory is read once and written once. Rows stay where they are: what is exchanged is their numbers, by which they are
 * written in the end. A step for each column: each warp leaves its best candidate, with the whole row; the blocks agree upon one
 * (exchange.cuh); and each thread subtracts what that row makes of its own ones, and has the numbers of the next column.
 */
#pragma once

#include "kernels/panels/exchange.cuh"

namespace panels
{

#if __CUDA_ARCH__ >= 1200
constexpr int rows_of_doubles = TB_GETRF_ROWS_FP64_SM120;
#else
constexpr int rows_of_doubles = TB_GETRF_ROWS_FP64;
#endif
template <class number>
constexpr int rows_in_registers = sizeof(number) == 4     ? TB_GETRF_ROWS_FP32
                                  : sizeof(number) == 16  ? TB_GETRF_ROWS_COMPLEX_FP64
                                  : reals_of<number> == 2 ? TB_GETRF_ROWS_COMPLEX_FP32
                                                          : rows_of_doubles;

/* Numbers that are read or written in one piece. */
template <class number> struct alignas(16) piece {
    static constexpr int count = 16 / sizeof(number);
    number at[count];
};

/* The rows of a thread that are in shared memory: neighbours' numbers of a column are neighbours. */
template <class number> struct further_rows {
    int32_t *numbers; /* where the rows end, of all threads; negative: there is no such row */
    number *rows;
    int count;

    __device__ __forceinline__ int32_t &number_of_row(int i) const
    {
        return numbers[i * rows_at_a_time + int(threadIdx.x)];
    }
    __device__ __forceinline__ number &at(int i, int column) const
    {
        return rows[(i * columns + column) * rows_at_a_time + int(threadIdx.x)];
    }
};

template <class number, template <class> class exchange> struct getrf {
    using real = real_of<number>;
    using rank = rank_type<number>;
    static constexpr int own_rows = rows_in_registers<number>;
    const tb_getrf_panel &x;
    letters_of_warps<number> &of_warps;
    const exchange<number> others;
    further_rows<number> further;
    number own[own_rows][columns], current[own_rows]; /* and of these the column of the step */
    int row[own_rows];                                /* as in further_rows */

    static constexpr int fixed_bytes = sizeof(letters_of_warps<number>) + exchange<number>::shared_bytes;

    __device__ getrf(const tb_getrf_panel &x, char *shared)
        : x(x), of_warps(*reinterpret_cast<letters_of_warps<number> *>(shared)),
          others(x, of_warps, shared + sizeof of_warps)
    {
        const int times = (x.rows_of_block + rows_at_a_time - 1) / rows_at_a_time;
        further.count = max(times - own_rows, 0);
        further.rows = reinterpret_cast<number *>(shared + fixed_bytes);
        further.numbers =
            reinterpret_cast<int32_t *>(further.rows + further.count * columns * rows_at_a_time);
    }

    __device__ __forceinline__ real *in_memory(int in_row, int column) const
    {
        return static_cast<real *>(x.a) + reals_of<number> * (in_row + column * x.ld);
    }

    /* ---- In and out ----------------------------------------------------------------------------------------- */

    __device__ __forceinline__ int first_number(int i) const
    {
        const int in_block = i * rows_at_a_time + int(threadIdx.x),
                  number_of_row = exchange<number>::rank() * x.rows_of_block + in_block;
        return in_block < x.rows_of_block && number_of_row < x.rows ? number_of_row : -1;
    }

    __device__ __forceinline__ void load()
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++) {
            row[i] = first_number(i);
            const real *from = in_memory(row[i], 0);
#pragma unroll
            for (int k = 0; k < columns; k++, from += reals_of<number> * x.ld) {
                own[i][k] = number_of<number>(0);
                if (row[i] >= 0 && k < x.columns)
                    own[i][k] = read<number>(from);
            }
            current[i] = own[i][0];
        }
        for (int i = 0; i < further.count; i++) {
            const int in_row = further.number_of_row(i) = first_number(own_rows + i);
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
            real *to = in_memory(row[i], 0);
#pragma unroll
            for (int k = 0; k < columns; k++, to += reals_of<number> * x.ld)
                if (row[i] >= 0 && k < x.columns)
                    write(to, own[i][k]);
        }
        for (int i = 0; i < further.count; i++)
            if (const int in_row = further.number_of_row(i); in_row >= 0)
                for (int k = 0; k < x.columns; k++)
                    write(in_memory(in_row, k), further.at(i, k));
    }

    /* ---- A step --------------------------------------------------------------------------------------------- */

    /* The warp's letter: the lane that has the candidate writes it, or if none has one the first. */
    __device__ __forceinline__ void leave_candidate(int step)
    {
        const int warp = threadIdx.x / lanes;
        candidate<rank> best;
        int which = 0;
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            if (row[i] >= step &&
                best.consider(rank_of_candidate(current[i], row[i] == step), place_of(row[i], warp)))
                which = i;
        for (int i = 0; i < further.count; i++)
            if (const int in_row = further.number_of_row(i);
                in_row >= step &&
                best.consider(rank_of_candidate(further.at(i, step), in_row == step), place_of(in_row, warp)))
                which = own_rows + i;
        const candidate<rank> of_warp = best_of_warp(best);
        letter<number> &left = of_warps[step % 2][warp];
        if (of_warp.place == nowhere ? threadIdx.x % lanes == 0 : best.place == of_warp.place) {
            left.size = of_warp.size;
            left.place = of_warp.place;
            write_row(left, which);
        }
    }

    __device__ __forceinline__ void write_row(letter<number> &left, int which)
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            if (which == i)
#pragma unroll
                for (int k = 0; k < columns; k += piece<number>::count) {
                    piece<number> written;
#pragma unroll
                    for (int e = 0; e < piece<number>::count; e++)
                        written.at[e] = own[i][k + e];
                    *reinterpret_cast<piece<number> *>(&left.row[k]) = written;
                }
        if (which >= own_rows)
#pragma unroll 8
            for (int k = 0; k < columns; k++)
                left.row[k] = further.at(which - own_rows, k);
    }

    __device__ __forceinline__ static void renumber(int &number_of_row, int step, int pivot_row)
    {
        number_of_row = number_of_row == step ? pivot_row : number_of_row == pivot_row ? step : number_of_row;
    }

    /* What a number below a pivot becomes. By a pivot that is 0 none is divided, and elimination goes on, as the reference's does. */
    struct divisor {
        number pivot, reciprocal;
        bool is_zero, by_reciprocal;

        __device__ __forceinline__ number operator()(number a) const
        {
            return is_zero ? a : by_reciprocal ? product(a, reciprocal) : quotient(a, pivot);
        }
    };

    __device__ __forceinline__ static divisor divisor_of(const letter<number> &agreed, int step)
    {
        const number pivot = agreed.row[step];
        const bool by_reciprocal = has_reciprocal(pivot);
        return {pivot, quotient(number_of<number>(1), pivot), agreed.size == rank_of_zero, by_reciprocal};
    }

    /* Rows in registers, whose columns are the compiler's to number. `current` is divided, and becomes the next column. */
    template <int step> __device__ __forceinline__ void eliminate(const letter<number> &agreed)
    {
        constexpr int count = piece<number>::count;
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            own[i][step] = current[i];
#pragma unroll
        for (int k = (step + 1) / count * count; k < columns; k += count) {
            const piece<number> of_pivot = *reinterpret_cast<const piece<number> *>(&agreed.row[k]);
#pragma unroll
            for (int e = 0; e < count; e++)
#pragma unroll
                for (int i = 0; i < own_rows; i++)
                    if (k + e > step && row[i] > step)
                        own[i][k + e] = less_product(own[i][k + e], current[i], of_pivot.at[e]);
        }
#pragma unroll
        for (int i = 0; i < own_rows && step + 1 < columns; i++)
            current[i] = own[i][step + 1 < columns ? step + 1 : step];
    }

    template <int first, int count>
    __device__ __forceinline__ void eliminate_at(int step, const letter<number> &agreed)
    {
        if constexpr (count == 1)
            eliminate<first>(agreed);
        else if (step < first + count / 2)
            eliminate_at<first, count / 2>(step, agreed);
        else
            eliminate_at<first + count / 2, count / 2>(step, agreed);
    }

    __device__ __forceinline__ void eliminate_further(int step, int pivot_row, const letter<number> &agreed,
                                                      const divisor &divide) const
    {
        for (int i = 0; i < further.count; i++) {
            renumber(further.number_of_row(i), step, pivot_row);
            if (further.number_of_row(i) <= step)
                continue;
            const number below = further.at(i, step) = divide(further.at(i, step));
#pragma unroll 8
            for (int k = step + 1; k < columns; k++)
                further.at(i, k) = less_product(further.at(i, k), below, agreed.row[k]);
        }
    }

    __device__ __forceinline__ void factor()
    {
        const int steps = min(x.rows, x.columns);
        const bool notes = exchange<number>::rank() == 0 && threadIdx.x == 0;
        int without_pivot = 0; /* from 1, the first column whose pivot is 0 */
        load();
        others.begin();
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
            leave_candidate(step);
            __syncthreads();
            const letter<number> &agreed = others.agree(step);
            const int pivot_row = row_of(agreed.place);
            const divisor divide = divisor_of(agreed, step);
            if (divide.is_zero && without_pivot == 0)
                without_pivot = step + 1;
            if (notes)
                x.pivots[step] = int32_t(x.position) + pivot_row + 1;
#pragma unroll
            for (int i = 0; i < own_rows; i++) {
                renumber(row[i], step, pivot_row);
                if (row[i] > step)
                    current[i] = divide(current[i]);
            }
            eliminate_at<0, columns>(step, agreed);
            eliminate_further(step, pivot_row, agreed, divide);
        }
        store();
        if (notes && without_pivot != 0 && *x.info == 0)
            *x.info = x.position + without_pivot;
        others.end(steps);
    }
};

template <class number, template <class> class exchange>
__device__ __forceinline__ void run_getrf(const tb_getrf_panel &x)
{
    getrf<number, exchange>(x, between_blocks::dynamic_shared()).factor();
}

} // namespace panels

/* Before 9.0 there are no clusters. */
#if __CUDA_ARCH__ >= 900
#define TB_GETRF_RUN_CLUSTER(number) panels::run_getrf<number, panels::of_cluster>(x)
#else
#define TB_GETRF_RUN_CLUSTER(number)
#endif

#define TB_GETRF_ENTRY(name)                                                                                 \
    extern "C" __global__ void __launch_bounds__(TB_GETRF_THREADS)                                           \
        name(const __grid_constant__ tb_getrf_panel x)

#define TB_GETRF_STAMP(letter, number)                                                                       \
    TB_GETRF_ENTRY(letter##getrf_alone)                                                                      \
    {                                                                                                        \
        panels::run_getrf<number, panels::alone>(x);                                                         \
    }                                                                                                        \
    TB_GETRF_ENTRY(letter##getrf_cluster)                                                                    \
    {                                                                                                        \
        TB_GETRF_RUN_CLUSTER(number);                                                                        \
    }                                                                                                        \
    TB_GETRF_ENTRY(letter##getrf_grid)                                                                       \
    {                                                                                                        \
        panels::run_getrf<number, panels::of_grid>(x);                                                       \
    }
