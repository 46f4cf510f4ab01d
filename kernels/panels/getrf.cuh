/* getrf: LU with partial pivoting of a panel of up to 32 columns, in place. Global memory is read once and written once. Blocks have
 * rows of it each, and a row is in the registers of four lanes (getrf_rows.cuh).
 *
 * A step for each column: each warp leaves its best candidate, with the whole row; the blocks agree upon one (exchange.cuh); and each
 * thread subtracts what that row makes of its own ones. The next column comes first, and all lanes of its rows are told of it, so that
 * its search goes on while the others are subtracted from. Steps are code of their own for each pair and for its two columns.
 */
#pragma once

#include "kernels/panels/getrf_rows.cuh"

namespace panels
{

template <class number, template <class> class exchange, int own_rows, bool is_deep>
struct getrf : lu_rows<number, exchange, own_rows, is_deep> {
    using base = lu_rows<number, exchange, own_rows, is_deep>;
    using base::column_of;
    using base::first_of_block;
    using base::further;
    using base::further_in_block;
    using base::home;
    using base::is_left;
    using base::lane;
    using base::left;
    using base::own;
    using base::part;
    using base::ranked_rows;
    using base::row;
    using base::x;
    using rank = rank_type<number>;
    letters_of_warps<number> &of_warps;
    const exchange<number> others;
    number current[own_rows]; /* the step's column of the rows, which all of their lanes have */
    int pivot_of_lane;        /* the row of the step that has the lane's number */
    int without_pivot = 0;    /* from 1, the first column whose pivot is 0 */

    static constexpr int fixed_bytes = sizeof(letters_of_warps<number>) + exchange<number>::shared_bytes;

    __device__ getrf(const tb_getrf_panel &x, char *shared)
        : base(x, shared + fixed_bytes), of_warps(*reinterpret_cast<letters_of_warps<number> *>(shared)),
          others(x, of_warps, shared + sizeof of_warps)
    {
    }

    /* ---- Candidates ----------------------------------------------------------------------------------------- */

    struct found {
        candidate<rank> best;
        number value;
        int which, home; /* its row, of the thread's or of its further ones */
    };

    /* The number of the step's column that a lane looks at, of the four rows from i on. */
    __device__ __forceinline__ number looked_at(int i) const
    {
        const number even = part & 2 ? current[i + 2] : current[i],
                     odd = part & 2 ? current[i + 3] : current[i + 1];
        return part & 1 ? odd : even;
    }

    /* What the thread has. Where `careful`, numbers may be none. */
    template <bool careful> __device__ __forceinline__ found best_of_thread(int step) const
    {
        found result = {{}, number_of<number>(1), part, home + part * rows_at_a_time};
        const auto consider = [&](number value, int in_row, int which, int its_home) {
            rank size = rank_of(value);
            if (careful)
                size = rank_among_numbers(size, in_row == step);
            if (in_row < step)
                size = rank_of_none;
            if (result.best.consider(size, uint32_t(in_row))) {
                result.value = value;
                result.which = which;
                result.home = its_home;
            }
        };
        if constexpr (ranked_rows == 1 && !is_deep) {
            const rank size = rank_of(result.value = looked_at(0));
            result.best.size = row[0] < step ? rank(rank_of_none)
                               : careful     ? rank_among_numbers(size, row[0] == step)
                                             : size;
            result.best.row = uint32_t(row[0]);
        } else {
#pragma unroll
            for (int j = 0; j < ranked_rows; j++)
                consider(looked_at(j * lanes_of_row), row[j], j * lanes_of_row + part,
                         home + (j * lanes_of_row + part) * rows_at_a_time);
            for (int i = 0; is_deep && i < further.count; i++)
                consider(further.at(i, step), further.number_of_row(i), own_rows + i,
                         first_of_block() + further_in_block(i));
        }
        return result;
    }

    /* The warp's letter, of which columns from a pair on are written: the lane that has the candidate knows what it is, and those of its row
     * have the row. What is rare is seen to together. Of a warp that has
     * no candidate any lane says so. */
    template <int first> __device__ __forceinline__ void leave_candidate(int step)
    {
        found own_best = best_of_thread<false>(step);
        const uint32_t largest = largest_of_warp(upper(own_best.best.size));
        number reciprocal = reciprocal_of(own_best.value);
        is_used(reciprocal);
        bool is_tied = upper(own_best.best.size) == largest;
        uint32_t best = __ballot_sync(UINT32_MAX, is_tied);
        if (largest >= upper_of_infinity<rank> ||
            (are_several(best) && __any_sync(UINT32_MAX, own_best.best.size != rank(rank_of_none)))) {
            own_best = best_of_thread<true>(step);
            best = uint32_t(1) << lane_of_best(own_best.best);
            reciprocal = reciprocal_of(own_best.value);
        }
        const int winner = lane_in(best);
        const int which = ranked_rows == 1 && !is_deep ? int(unsigned(winner) % lanes_of_row)
                                                       : __shfl_sync(UINT32_MAX, own_best.which, winner);
        letter<number> &left = of_warps[step % 2][threadIdx.x / lanes];
        if ((lane ^ winner) < lanes_of_row)
            write_row<first>(left, which);
        if (lane == winner) {
            between_blocks::write_piece(left.head, heading::of(own_best.best, own_best.home));
            left.reciprocal = reciprocal;
        }
        if (is_deep && lane == winner && which >= own_rows)
#pragma unroll 8
            for (int k = 0; k < columns; k++)
                left.row[k] = further.at(which - own_rows, k);
    }

    template <int first> __device__ __forceinline__ void write_row(letter<number> &left, int which) const
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            if (which == i)
#pragma unroll
                for (int k = first; k < pairs; k++)
                    *reinterpret_cast<pair<number> *>(&left.row[column_of(k, 0)]) = {own[i][k][0],
                                                                                     own[i][k][1]};
    }

    /* ---- Elimination ---------------------------------------------------------------------------------------- */

    __device__ __forceinline__ static void renumber(int &number_of_row, int step, int pivot_row)
    {
        number_of_row = number_of_row == step ? pivot_row : number_of_row == pivot_row ? step : number_of_row;
    }

    /* What a number below a pivot becomes where that is not of ordinary size. By a pivot that is 0 none is divided, and elimination goes
     * on, as the reference's does. */
    __device__ __attribute__((noinline)) static number divided(number a, number pivot)
    {
        const rank size = rank_of(pivot);
        return size == rank_of_zero   ? a
               : has_reciprocal(size) ? product(a, quotient(number_of<number>(1), pivot))
                                      : quotient(a, pivot);
    }

    /* The rows' numbers of the step's column become what they are multiplied by, which its owner keeps. */
    template <int k, int half>
    __device__ __forceinline__ void divide(const letter<number> &agreed, const heading &head, bool keeps,
                                           int step)
    {
        if (__builtin_expect(is_ordinary(size_in<rank>(head)), 1)) {
            const number reciprocal = agreed.reciprocal;
#pragma unroll
            for (int i = 0; i < own_rows; i++) {
                if (keeps && is_left(i))
                    own[i][k][half] = product(own[i][k][half], reciprocal);
                current[i] = product(current[i], reciprocal);
            }
            return;
        }
        if (size_in<rank>(head) == rank_of_zero && without_pivot == 0)
            without_pivot = step + 1;
#pragma unroll
        for (int i = 0; i < own_rows; i++) {
            current[i] = divided(current[i], agreed.row[step]);
            if (keeps && is_left(i))
                own[i][k][half] = current[i];
        }
    }

    __device__ __forceinline__ void note(const heading &head, int step)
    {
        const int pivot_row = int(head.row);
        const unsigned away = head.home - unsigned(home), which = away / rows_at_a_time | away << (32 - 3);
        static_assert(rows_at_a_time == 1 << 3, "bits go round");
        left &= which < own_rows ? ~(1u << which) : UINT32_MAX;
#pragma unroll
        for (int j = 0; j < ranked_rows; j++)
            renumber(row[j], step, pivot_row);
        if (lane == step)
            pivot_of_lane = pivot_row;
    }

    __device__ __forceinline__ void subtract(int k, int half, number of_pivot, uint32_t rows,
                                             bool is_behind = true)
    {
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            if ((rows & 1u << i) != 0 && is_behind)
                own[i][k][half] = less_product(own[i][k][half], current[i], of_pivot);
    }

    /* A column of a pair, and of `owner` among the lanes that have it. The next column comes first: what is subtracted from the ones behind
     * waits for something that comes from the other lanes, so that the compiler cannot place it before. */
    template <int k, int half>
    __device__ __forceinline__ void eliminate(const letter<number> &agreed, int owner, int step)
    {
        constexpr int behind = k + 1 < pairs ? k + 1 : k;
        const heading head = between_blocks::read_piece(agreed.head);
        pair<number> of_pivot[pairs];
#pragma unroll
        for (int other = k; other < pairs; other++)
            of_pivot[other] = *reinterpret_cast<const pair<number> *>(&agreed.row[column_of(other, 0)]);
        note(head, step);
        divide<k, half>(agreed, head, part == owner, step);
        if (half == 0) {
            subtract(k, 1, of_pivot[k].at[1], left, part >= owner);
        } else {
            subtract(k, 0, of_pivot[k].at[0], left, part > owner);
            if (behind > k)
                subtract(behind, 0, of_pivot[behind].at[0], left);
        }
        number next[own_rows];
        const bool is_last = owner == lanes_of_row - 1;
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            next[i] = of_lane(half == 0 ? own[i][k][1]
                              : is_last ? own[i][behind][0]
                                        : own[i][k][0],
                              lane - part + (owner + half) % lanes_of_row);
        const uint32_t still_left = of_lane(left, lane);
        subtract(k, half, of_pivot[k].at[half], still_left, part > owner);
        if (half == 0 && behind > k)
            subtract(behind, 0, of_pivot[behind].at[0], still_left);
        if (behind > k)
            subtract(behind, 1, of_pivot[behind].at[1], still_left);
#pragma unroll
        for (int other = k + 2; other < pairs; other++) {
            subtract(other, 0, of_pivot[other].at[0], still_left);
            subtract(other, 1, of_pivot[other].at[1], still_left);
        }
        if (is_deep)
            eliminate_further(agreed, step);
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            current[i] = next[i];
    }

    __device__ __forceinline__ void eliminate_further(const letter<number> &agreed, int step) const
    {
        const bool by_reciprocal = is_ordinary(size_in<rank>(agreed.head));
        for (int i = 0; i < further.count; i++) {
            renumber(further.number_of_row(i), step, int(agreed.head.row));
            if (further.number_of_row(i) <= step)
                continue;
            const number before = further.at(i, step), below = by_reciprocal
                                                                   ? product(before, agreed.reciprocal)
                                                                   : divided(before, agreed.row[step]);
            further.at(i, step) = below;
#pragma unroll 8
            for (int k = step + 1; k < columns; k++)
                further.at(i, k) = less_product(further.at(i, k), below, agreed.row[k]);
        }
    }

    /* ---- Steps ---------------------------------------------------------------------------------------------- */

    template <int k, int half> __device__ __forceinline__ void take(int owner)
    {
        const int step = (k * lanes_of_row + owner) * 2 + half;
        eliminate<k, half>(others.agree(step), owner, step);
        if (!is_deep || k + 1 < pairs || step + 1 < columns)
            leave_candidate<k>(step + 1);
    }

    /* Whether there are more. */
    template <int k> __device__ __forceinline__ bool take_pairs(int steps)
    {
#pragma unroll 1
        for (int owner = 0; owner < lanes_of_row; owner++) {
            const int step = (k * lanes_of_row + owner) * 2;
            if (step >= steps)
                return false;
            take<k, 0>(owner);
            if (step + 1 >= steps)
                return false;
            take<k, 1>(owner);
        }
        return true;
    }

    __device__ __forceinline__ void factor()
    {
        const int steps = min(x.rows, x.columns);
        base::load();
#pragma unroll
        for (int i = 0; i < own_rows; i++)
            current[i] = of_lane(own[i][0][0], lane - part);
        others.begin();
        leave_candidate<0>(0);
        static_assert(pairs == 4, "one after the other");
        (void)(take_pairs<0>(steps) && take_pairs<1>(steps) && take_pairs<2>(steps) && take_pairs<3>(steps));
        others.have_all();
        base::store();
        if (exchange<number>::rank() == 0 && int(threadIdx.x) < steps)
            x.pivots[lane] = int32_t(x.position) + pivot_of_lane + 1;
        if (exchange<number>::rank() == 0 && threadIdx.x == 0 && without_pivot != 0 && *x.info == 0)
            *x.info = x.position + without_pivot;
        others.end();
    }
};

template <class number, template <class> class exchange, int own_rows, bool is_deep>
__device__ __forceinline__ void run_getrf(const tb_getrf_panel &x)
{
    getrf<number, exchange, own_rows, is_deep>(x, between_blocks::dynamic_shared()).factor();
}

} // namespace panels

/* Before 9.0 there are no clusters. */
#if __CUDA_ARCH__ >= 900
#define TB_GETRF_RUN_CLUSTER(...) panels::run_getrf<__VA_ARGS__>(x)
#else
#define TB_GETRF_RUN_CLUSTER(...)
#endif

#define TB_GETRF_ENTRY(name)                                                                                 \
    extern "C" __global__ void __launch_bounds__(TB_GETRF_THREADS, 1)                                        \
        name(const __grid_constant__ tb_getrf_panel x)

#define TB_GETRF_STAMP(letter, suffix, number, rows, is_deep)                                                \
    TB_GETRF_ENTRY(letter##getrf_alone##suffix)                                                              \
    {                                                                                                        \
        panels::run_getrf<number, panels::alone, rows, is_deep>(x);                                          \
    }                                                                                                        \
    TB_GETRF_ENTRY(letter##getrf_cluster##suffix)                                                            \
    {                                                                                                        \
        TB_GETRF_RUN_CLUSTER(number, panels::of_cluster, rows, is_deep);                                     \
    }                                                                                                        \
    TB_GETRF_ENTRY(letter##getrf_grid##suffix)                                                               \
    {                                                                                                        \
        panels::run_getrf<number, panels::of_grid, rows, is_deep>(x);                                        \
    }
