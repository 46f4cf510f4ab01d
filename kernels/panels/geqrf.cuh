/* geqrf: QR of a panel of up to 32 columns by reflectors, in place, and the triangle of their product. Blocks have rows of it each, on the
 * chip as far as there is room (geqrf_rows.cuh), so that global memory is read once and written once. In each step each warp leaves the
 * step's column in shared memory and multiplies what is below the step's row with all columns: with itself for the norm, with later ones
 * for what is subtracted of them, with earlier ones, which are reflectors, for the triangle. All of these sums are told between blocks at
 * once (sums.cuh), with the step's row, whose part in them each lane adds itself.
 */
#pragma once

#include "kernels/panels/block_reflector.cuh"
#include "kernels/panels/geqrf_rows.cuh"
#include "kernels/panels/reflector.cuh"
#include "kernels/panels/sums.cuh"

namespace panels
{

template <class number, template <class> class joined_sums>
struct geqrf : panel_rows<number, joined_sums<number>::has_further_rows> {
    using rows = panel_rows<number, joined_sums<number>::has_further_rows>;
    using rows::layers;
    using rows::own;
    using rows::place;
    using rows::x;
    using real = real_of<number>;
    using staged_column = staged_layer<number>;
    letters_of_warps<number> &of_warps;
    const joined_sums<number> sums;
    staged_column *const staged; /* one a warp and layer */
    const block_reflector<number> triangle;
    real *const backs; /* by which columns are multiplied in the end, from the diagonal up */
    int round = 0;

    static constexpr int numbers_before_staged = TB_GEQRF_OF_WARPS + joined_sums<number>::shared_numbers;

    __device__ static staged_column *first_staged(number *shared)
    {
        return reinterpret_cast<staged_column *>(shared + numbers_before_staged);
    }
    __device__ static number *behind_staged(number *shared)
    {
        return reinterpret_cast<number *>(first_staged(shared) + warps * layers);
    }
    __device__ geqrf(const tb_geqrf_panel &x, number *shared)
        : rows(x, rank(), behind_staged(shared) + TB_GEQRF_TRIANGLE + columns),
          of_warps(*reinterpret_cast<letters_of_warps<number> *>(shared)),
          sums(x, of_warps, shared + TB_GEQRF_OF_WARPS),
          staged(first_staged(shared)), triangle{behind_staged(shared)},
          backs(reinterpret_cast<real *>(behind_staged(shared) + TB_GEQRF_TRIANGLE))
    {
        static_assert(sizeof(staged_column) == TB_GEQRF_STAGED_BYTES(sizeof(number)) &&
                          sizeof of_warps == TB_GEQRF_OF_WARPS * sizeof(number),
                      "what is launched has room");
    }

    __device__ __forceinline__ static int rank()
    {
        return joined_sums<number>::rank();
    }
    /* The warp; the block. */
    __device__ __forceinline__ static bool has_first_rows()
    {
        return rank() == 0 && warp() == 0;
    }
    __device__ __forceinline__ bool makes_triangle() const
    {
        return rank() == x.blocks - 1;
    }
    __device__ __forceinline__ staged_column &staged_of(int layer) const
    {
        return staged[warp() * layers + layer];
    }

    /* ---- Sums of a warp, and of all -------------------------------------------------------------------------- */

    /* Lanes that have the same columns join theirs; each is told that of one of the columns, the lane's. */
    template <class operation>
    __device__ __forceinline__ static number of_warp(const number (&of_slots)[slots])
    {
        const bool upper = lane() & 2 * groups, odd = lane() & groups;
        number of_two[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            of_two[i] = operation()(upper ? of_slots[i + 2] : of_slots[i],
                                    of_other_lane(upper ? of_slots[i] : of_slots[i + 2], 2 * groups));
        return operation()(odd ? of_two[1] : of_two[0], of_other_lane(odd ? of_two[0] : of_two[1], groups));
    }

    template <class operation> __device__ __forceinline__ number join(const number (&of_slots)[slots])
    {
        of_warps[round % 2].numbers[warp()][lane()] = of_warp<operation>(of_slots);
        return sums.template join<operation>(round);
    }

    /* What lanes have of their columns, by slots. */
    template <class type> __device__ __forceinline__ void by_slots(type of_column, type (&to)[slots]) const
    {
#pragma unroll
        for (int s = 0; s < slots; s++)
            to[s] = of_lane(of_column, rows::column_of(s));
    }

    /* ---- Powers of two --------------------------------------------------------------------------------------- */

    /* Columns are multiplied by powers of two, so that squares neither overflow nor vanish: that changes no reflector. */
    __device__ __forceinline__ void scale_columns()
    {
        number largest_of[slots];
#pragma unroll
        for (int s = 0; s < slots; s++) {
            largest_of[s] = number_of<number>(0);
#pragma unroll
            for (int layer = 0; layer < layers; layer++)
                if (layer < place.layers)
#pragma unroll
                    for (int i = 0; i < rows_of_lane; i++)
                        largest_of[s] = larger(largest_of[s], own[layer][i][s]);
        }
        rows::for_further([&](int layer, int i, const real *from, int64_t column) {
#pragma unroll
            for (int s = 0; s < slots; s++)
                largest_of[s] = larger(largest_of[s], further(layer, i, from, rows::column_of(s), column));
        });
        const scaling<real> scaling = scaling_of(real_part(join<largest>(largest_of)));
        round++;
        if (warp() == 0)
            backs[lane()] = scaling.back;
        real there[slots];
        by_slots(scaling.there, there);
        multiply_columns(there);
    }
    __device__ __forceinline__ static number larger(number a, number b)
    {
        return number_of<number>(
            fmax(real_part(a), fmax(real(fabs(real_part(b))), real(fabs(imaginary_part(b))))));
    }
    __device__ __forceinline__ number further(int layer, int i, const real *row, int in_column,
                                              int64_t column) const
    {
        return rows::has(layer, i, in_column) ? read<number>(row + in_column * column) : number_of<number>(0);
    }
    __device__ __forceinline__ void multiply_further(int layer, int i, real *at, int column, real by) const
    {
        if (rows::has(layer, i, column))
            write(at, times(read<number>(at), by));
    }
    __device__ __forceinline__ void multiply_columns(const real (&by)[slots])
    {
#pragma unroll
        for (int layer = 0; layer < layers; layer++)
            if (layer < place.layers)
#pragma unroll
                for (int i = 0; i < rows_of_lane; i++)
#pragma unroll
                    for (int s = 0; s < slots; s++)
                        own[layer][i][s] = times(own[layer][i][s], by[s]);
        rows::for_further([&](int layer, int i, real *at, int64_t column) {
#pragma unroll
            for (int s = 0; s < slots; s++)
                multiply_further(layer, i, at + rows::column_of(s) * column, rows::column_of(s), by[s]);
        });
    }

    /* ---- A step: columns 8 slot + inner ---------------------------------------------------------------------- */

    /* Of the warp that has the first rows: the only ones that may be the step's, or above it, are the first up to 2 slot + 1. */
    template <int slot> __device__ static constexpr bool may_be_above(int layer, int i)
    {
        return layer == 0 && i <= 2 * slot + 1;
    }
    template <int slot> __device__ __forceinline__ bool is_below(int layer, int i, int step) const
    {
        return !may_be_above<slot>(layer, i) || !has_first_rows() || quarters * i + place.quarter > step;
    }
    template <int slot> __device__ __forceinline__ bool is_step(int layer, int i, int step) const
    {
        return may_be_above<slot>(layer, i) && has_first_rows() && quarters * i + place.quarter == step;
    }

    /* The step's column below its row, above that zeros. */
    template <int slot> __device__ __forceinline__ void stage(int step) const
    {
        constexpr int count = piece<number>::count;
        __syncwarp();
        if (place.group == step % groups)
#pragma unroll
            for (int layer = 0; layer < layers; layer++)
                if (layer < place.layers)
#pragma unroll
                    for (int i = 0; i < rows_of_lane; i += count) {
                        piece<number> written;
#pragma unroll
                        for (int e = 0; e < count; e++)
                            written.at[e] = is_below<slot>(layer, i + e, step) ? own[layer][i + e][slot]
                                                                               : number_of<number>(0);
                        staged_of(layer).of_quarter[place.quarter][i / count] = written;
                    }
        if (has_first_rows() && place.quarter == step % quarters)
#pragma unroll
            for (int s = 0; s < slots; s++)
                of_warps[round % 2].row[rows::column_of(s)] =
                    step % groups < quarters ? own[0][2 * slot][s] : own[0][2 * slot + 1][s];
        __syncwarp();
    }

    /* Sums of the step's column, below its row, with all columns: the conjugate of one times the other. */
    __device__ __forceinline__ number multiply(int step)
    {
        constexpr int count = piece<number>::count;
        number of_slots[slots];
#pragma unroll
        for (int s = 0; s < slots; s++)
            of_slots[s] = number_of<number>(0);
#pragma unroll
        for (int layer = 0; layer < layers; layer++)
            if (layer < place.layers)
#pragma unroll
                for (int i = 0; i < rows_of_lane; i += count) {
                    const piece<number> below = staged_of(layer).of_quarter[place.quarter][i / count];
#pragma unroll
                    for (int e = 0; e < count; e++)
#pragma unroll
                        for (int s = 0; s < slots; s++)
                            of_slots[s] = plus_product(of_slots[s], below.at[e], own[layer][i + e][s]);
                }
        rows::for_further([&](int layer, int i, const real *from, int64_t column) {
            const number below = further(layer, i, from, step, column);
#pragma unroll
            for (int s = 0; s < slots; s++)
                of_slots[s] =
                    plus_product(of_slots[s], below, further(layer, i, from, rows::column_of(s), column));
        });
        return join<sum>(of_slots);
    }

    /* Multiplies the step's column below its row. */
    template <int slot> __device__ __forceinline__ void lift_column(int step)
    {
        if (place.group == step % groups) {
#pragma unroll
            for (int layer = 0; layer < layers; layer++)
#pragma unroll
                for (int i = 0; i < rows_of_lane; i++)
                    if (layer < place.layers && is_below<slot>(layer, i, step))
                        own[layer][i][slot] = times(own[layer][i][slot], lift<real>);
            rows::for_further([&](int layer, int i, real *at, int64_t column) {
                multiply_further(layer, i, at + step * column, step, lift<real>);
            });
        }
    }

    /* Below the step's row the reflector replaces its column, and is subtracted from later ones, `times_column` times as it was. */
    template <int slot>
    __device__ __forceinline__ void update(int step, const reflector<number> &reflector,
                                           const number (&times_column)[slots])
    {
        constexpr int count = piece<number>::count;
        const bool is_own = place.group == step % groups, is_later = place.group > step % groups;
#pragma unroll
        for (int layer = 0; layer < layers; layer++)
            if (layer < place.layers)
#pragma unroll
                for (int i = 0; i < rows_of_lane; i += count) {
                    const piece<number> below = staged_of(layer).of_quarter[place.quarter][i / count];
#pragma unroll
                    for (int e = 0; e < count; e++)
                        update_row<slot>(own[layer][i + e], below.at[e], is_below<slot>(layer, i + e, step),
                                         is_step<slot>(layer, i + e, step), is_own, is_later, reflector,
                                         times_column);
                }
        rows::for_further([&](int layer, int i, real *at, int64_t column) {
            const number below = further(layer, i, at, step, column);
            __syncwarp();
#pragma unroll
            for (int s = slot; s < slots; s++)
                if (const int own = rows::column_of(s); own >= step && rows::has(layer, i, own))
                    write(at + own * column, own == step ? product(below, reflector.factor)
                                                         : less_product(read<number>(at + own * column),
                                                                        below, times_column[s]));
            __syncwarp();
        });
    }
    template <int slot>
    __device__ __forceinline__ static void
    update_row(number (&row)[slots], number below, bool is_below, bool is_step, bool is_own, bool is_later,
               const reflector<number> &reflector, const number (&times_column)[slots])
    {
        if (!is_below && !is_step)
            return;
        const number of_column = is_step ? reflector.first : below;
        if (is_later)
            row[slot] = less_product(row[slot], of_column, times_column[slot]);
        if (is_own)
            row[slot] = is_step ? number_of<number>(reflector.beta) : product(below, reflector.factor);
#pragma unroll
        for (int s = slot + 1; s < slots; s++)
            row[s] = less_product(row[s], of_column, times_column[s]);
    }
    template <int slot> __device__ __forceinline__ void take_step(int step)
    {
        const bool is_last_row = step + 1 == x.rows;
        bool is_lifted = false;
        real squares;
        number of_column, in_row, alpha;
#pragma unroll 1
        while (true) {
            stage<slot>(step);
            of_column = multiply(step);
            in_row = sums.row(round)[lane()];
            round++;
            squares = real_part(of_lane(of_column, step));
            alpha = of_lane(in_row, step);
            if (!(squares < least_square<real>) || is_lifted)
                break;
            is_lifted = true;
            if (is_last_row)
                break;
            lift_column<slot>(step);
        }
        const bool is_there = squares != 0 || imaginary_part(alpha) != 0;
        const reflector<number> reflector =
            is_there ? reflector_of(alpha, squares, is_lifted) : no_reflector(alpha);
        /* Of the reflector with the lane's column. */
        const number with_column = plus_product(in_row, reflector.factor, of_column);
        if (makes_triangle() && warp() == 0)
            note_in_triangle(step, reflector, with_column);
        if (!is_there)
            return;
        const number taken = product(product(conjugate(reflector.tau), with_column), reflector.factor);
        number times_column[slots];
        by_slots(taken, times_column);
        update<slot>(step, reflector, times_column);
    }
    __device__ __forceinline__ void note_in_triangle(int step, const reflector<number> &reflector,
                                                     number with_column) const
    {
        if (lane() < step)
            triangle(lane(), step) = conjugate(with_column);
        if (lane() == step)
            triangle(step, step) = reflector.tau;
    }

    template <int slot> __device__ __forceinline__ void take_steps(int steps)
    {
#pragma unroll 1
        for (int step = groups * slot; step < min(groups * slot + groups, steps); step++)
            take_step<slot>(step);
        if constexpr (slot + 1 < slots)
            take_steps<slot + 1>(steps);
    }

    __device__ __forceinline__ void factor()
    {
        rows::load();
        sums.begin();
        if (makes_triangle())
            triangle.clear();
        scale_columns();
        take_steps<0>(min(x.rows, x.columns));
        rows::store(rank(), backs);
        if (makes_triangle()) {
            __syncthreads();
            triangle.join();
            triangle.store(x);
        }
        sums.end();
    }
};

template <class number, template <class> class joined_sums>
__device__ __forceinline__ void run_geqrf(const tb_geqrf_panel &x)
{
    geqrf<number, joined_sums>(x, reinterpret_cast<number *>(between_blocks::dynamic_shared())).factor();
}

} // namespace panels

/* Before 9.0 there are no clusters. */
#if __CUDA_ARCH__ >= 900
#define TB_GEQRF_RUN_CLUSTER(number) panels::run_geqrf<number, panels::sums_of_cluster>(x)
#else
#define TB_GEQRF_RUN_CLUSTER(number)
#endif

#define TB_GEQRF_ENTRY(name)                                                                                 \
    extern "C" __global__ void __launch_bounds__(TB_GEQRF_THREADS)                                           \
        name(const __grid_constant__ tb_geqrf_panel x)

#define TB_GEQRF_STAMP(letter, number)                                                                       \
    TB_GEQRF_ENTRY(letter##geqrf_alone)                                                                      \
    {                                                                                                        \
        panels::run_geqrf<number, panels::sums_alone>(x);                                                    \
    }                                                                                                        \
    TB_GEQRF_ENTRY(letter##geqrf_cluster)                                                                    \
    {                                                                                                        \
        TB_GEQRF_RUN_CLUSTER(number);                                                                        \
    }                                                                                                        \
    TB_GEQRF_ENTRY(letter##geqrf_grid)                                                                       \
    {                                                                                                        \
        panels::run_geqrf<number, panels::sums_of_grid>(x);                                                  \
    }
