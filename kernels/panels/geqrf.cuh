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

/* What a block's first warp finds of a step, and tells the others: what each column takes of the step's one. */
enum step_outcome { NOTHING, REFLECTED, TO_BE_LIFTED };
template <class number> struct step_letter {
    number times_column[columns];
    real_of<number> beta;
    step_outcome outcome;
};

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
    step_letter<number> &of_step;
    const bool has_first_rows, makes_triangle; /* the warp; the block */
    unsigned round = 0;

    /* Of a step, by its warp: what the reflector is, and what it makes of the lane's column, for the triangle. */
    struct found {
        number tau, with_column;
    };

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
        : rows(x, rank(), behind_staged(shared) + TB_GEQRF_TRIANGLE + columns + TB_GEQRF_OF_STEP),
          of_warps(*reinterpret_cast<letters_of_warps<number> *>(shared)),
          sums(x, of_warps, shared + TB_GEQRF_OF_WARPS),
          staged(first_staged(shared)), triangle{behind_staged(shared)},
          backs(reinterpret_cast<real *>(behind_staged(shared) + TB_GEQRF_TRIANGLE)),
          of_step(
              *reinterpret_cast<step_letter<number> *>(behind_staged(shared) + TB_GEQRF_TRIANGLE + columns)),
          has_first_rows(of_lane(rank() == 0 && warp() == 0, 0)), makes_triangle(rank() == x.blocks - 1)
    {
        static_assert(sizeof(staged_column) == TB_GEQRF_STAGED_BYTES(sizeof(number)) &&
                          sizeof of_warps == TB_GEQRF_OF_WARPS * sizeof(number) &&
                          sizeof of_step <= TB_GEQRF_OF_STEP * sizeof(number),
                      "what is launched has room");
    }

    __device__ __forceinline__ static int rank()
    {
        return joined_sums<number>::rank();
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

    template <class operation> __device__ __forceinline__ void exchange(const number (&of_slots)[slots])
    {
        of_warps[round % 2].numbers[warp()][lane()] = of_warp<operation>(of_slots);
        sums.template exchange<operation>(round);
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
        for (int s = 0; s < slots; s++)
            largest_of[s] = number_of<number>(0);
        rows::for_layers([&](int layer) {
#pragma unroll
            for (int s = 0; s < slots; s++)
#pragma unroll
                for (int i = 0; i < rows_of_lane; i++)
                    largest_of[s] = larger(largest_of[s], own[layer][i][s]);
        });
        rows::for_further([&](int layer, int i, const real *from, int64_t column) {
#pragma unroll
            for (int s = 0; s < slots; s++)
                largest_of[s] = larger(largest_of[s], further(layer, i, from, rows::column_of(s), column));
        });
        exchange<largest>(largest_of);
        const scaling<real> scaling = scaling_of(real_part(sums.template joined<largest>(round)));
        round++;
        if (warp() == 0)
            backs[lane()] = scaling.back;
        real there[slots];
        by_slots(scaling.there, there);
        multiply_columns(there);
    }
    __device__ __forceinline__ static number larger(number a, number b)
    {
        const number of_real = largest()(a, number_of<number>(real(fabs(real_part(b)))));
        if constexpr (reals_of<number> == 2)
            return largest()(of_real, number_of<number>(real(fabs(imaginary_part(b)))));
        else
            return of_real;
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
        rows::for_layers([&](int layer) {
#pragma unroll
            for (int i = 0; i < rows_of_lane; i++)
#pragma unroll
                for (int s = 0; s < slots; s++)
                    own[layer][i][s] = times(own[layer][i][s], by[s]);
        });
        rows::for_further([&](int layer, int i, real *at, int64_t column) {
#pragma unroll
            for (int s = 0; s < slots; s++)
                multiply_further(layer, i, at + rows::column_of(s) * column, rows::column_of(s), by[s]);
        });
    }

    /* ---- A step ---------------------------------------------------------------------------------------------- */

    /* The step's column is staged: in the warp that has the panel's first rows, row `row` of these. */
    __device__ __forceinline__ number &staged_first(int row) const
    {
        constexpr int count = piece<number>::count;
        const int i = row / quarters;
        return staged_of(0).of_quarter[row % quarters][i / count].at[i % count];
    }
    /* Instructions that differ by slots are few: of the others there is one copy. */
    template <int slot = 0> __device__ __forceinline__ void stage(int step) const
    {
        if constexpr (slot + 1 < slots)
            if (step >= groups * (slot + 1))
                return stage<slot + 1>(step);
        constexpr int count = piece<number>::count;
        if (rows::column_of(slot) == step)
            rows::for_layers([&](int layer) {
#pragma unroll
                for (int i = 0; i < rows_of_lane; i += count) {
                    piece<number> written;
#pragma unroll
                    for (int e = 0; e < count; e++)
                        written.at[e] = own[layer][i + e][slot];
                    staged_of(layer).of_quarter[place.quarter][i / count] = written;
                }
            });
        if (has_first_rows && place.quarter == step % quarters)
#pragma unroll
            for (int s = 0; s < slots; s++)
                of_warps[round % 2].row[rows::column_of(s)] =
                    step % groups < quarters ? own[0][2 * slot][s] : own[0][2 * slot + 1][s];
        mark<slot>();
    }
    /* The step's column below its row, above that zeros. */
    __device__ __forceinline__ void stage_below(int step) const
    {
        __syncwarp();
        stage(step);
        __syncwarp();
        if (has_first_rows) {
            if (lane() <= step)
                staged_first(lane()) = number_of<number>(0);
            __syncwarp();
        }
    }
    /* What a lane has of it. */
    __device__ __forceinline__ void read_staged(int layer, number (&below)[rows_of_lane]) const
    {
        constexpr int count = piece<number>::count;
#pragma unroll
        for (int i = 0; i < rows_of_lane; i += count) {
            const piece<number> some = staged_of(layer).of_quarter[place.quarter][i / count];
#pragma unroll
            for (int e = 0; e < count; e++)
                below[i + e] = some.at[e];
        }
    }

    /* Sums of the step's column, below its row, with all columns: the conjugate of one times the other. */
    __device__ __forceinline__ void multiply(int step)
    {
        number of_slots[slots];
#pragma unroll
        for (int s = 0; s < slots; s++)
            of_slots[s] = number_of<number>(0);
        rows::for_layers([&](int layer) {
            number below[rows_of_lane];
            read_staged(layer, below);
#pragma unroll
            for (int i = 0; i < rows_of_lane; i++)
#pragma unroll
                for (int s = 0; s < slots; s++)
                    of_slots[s] = plus_product(of_slots[s], below[i], own[layer][i][s]);
        });
        rows::for_further([&](int layer, int i, const real *from, int64_t column) {
            const number below = further(layer, i, from, step, column);
#pragma unroll
            for (int s = 0; s < slots; s++)
                of_slots[s] =
                    plus_product(of_slots[s], below, further(layer, i, from, rows::column_of(s), column));
        });
        exchange<sum>(of_slots);
    }

    /* Multiplies the step's column below its row. */
    __device__ __forceinline__ void lift_column(int step)
    {
        const int last_above = step - place.quarter;
        rows::for_layers([&](int layer) {
#pragma unroll
            for (int s = 0; s < slots; s++)
                if (rows::column_of(s) == step)
#pragma unroll
                    for (int i = 0; i < rows_of_lane; i++)
                        if (layer > 0 || !has_first_rows || quarters * i > last_above)
                            own[layer][i][s] = times(own[layer][i][s], lift<real>);
        });
        if (place.group == step % groups)
            rows::for_further([&](int layer, int i, real *at, int64_t column) {
                multiply_further(layer, i, at + step * column, step, lift<real>);
            });
    }

    /* Below the step's row the reflector replaces its column, and is subtracted from later ones, `times_column` times as it was. */
    __device__ __forceinline__ void update(int step, const number (&times_column)[slots])
    {
        rows::for_layers([&](int layer) {
            number below[rows_of_lane];
            read_staged(layer, below);
            if (layer == 0 && has_first_rows)
                update_layer<true>(layer, step, below, times_column);
            else
                update_layer<false>(layer, step, below, times_column);
        });
        if (has_first_rows && place.quarter == step % quarters)
            put_beta(step, of_step.beta);
        rows::for_further([&](int layer, int i, real *at, int64_t column) {
            const number below = further(layer, i, at, step, column);
            __syncwarp();
#pragma unroll
            for (int s = 0; s < slots; s++)
                if (const int own = rows::column_of(s); own >= step && rows::has(layer, i, own))
                    write(at + own * column,
                          less_product(own == step ? number_of<number>(0) : read<number>(at + own * column),
                                       below, times_column[s]));
            __syncwarp();
        });
    }
    /* Rows above the step's one, if there may be any, stay as they are. */
    template <bool has_above, int slot = 0>
    __device__ __forceinline__ void update_layer(int layer, int step, const number (&below)[rows_of_lane],
                                                 const number (&times_column)[slots])
    {
        if constexpr (slot < slots) {
            const int column = rows::column_of(slot), first_changed = step - place.quarter;
            if (step < groups * (slot + 1)) {
                if (step >= groups * slot) {
                    mark<slot>();
#pragma unroll
                    for (int i = 0; i < rows_of_lane; i++)
                        if (column == step && (!has_above || quarters * i >= first_changed))
                            own[layer][i][slot] = number_of<number>(0);
                    mark<slot>();
                }
#pragma unroll
                for (int i = 0; i < rows_of_lane; i++)
                    if (column >= step && (!has_above || quarters * i >= first_changed))
                        own[layer][i][slot] = less_product(own[layer][i][slot], below[i], times_column[slot]);
            }
            update_layer<has_above, slot + 1>(layer, step, below, times_column);
        }
    }
    __device__ __forceinline__ void put_beta(int step, real beta)
    {
#pragma unroll
        for (int s = 0; s < slots; s++)
#pragma unroll
            for (int i = 2 * s; i <= 2 * s + 1; i++)
                own[0][i][s] = rows::column_of(s) == step && i == step / quarters ? number_of<number>(beta)
                                                                                  : own[0][i][s];
    }

    /* By one warp, which also is the one that may have the first rows. */
    __device__ __forceinline__ found find(int step, bool was_lifted) const
    {
        const number of_column = sums.template joined<sum>(round), in_row = sums.row(round)[lane()],
                     alpha = sums.row(round)[step];
        const real squares = real_part(of_lane(of_column, step));
        const bool is_lifted = was_lifted || upper_bits(squares) < upper_bits(least_square<real>),
                   is_there = !is_lifted || squares != 0 || imaginary_part(alpha) != 0;
        if (is_lifted && !was_lifted && step + 1 < x.rows) {
            of_step.outcome = TO_BE_LIFTED;
            return {};
        }
        reflector<number> reflector =
            is_lifted ? lifted_reflector_of(alpha, squares) : reflector_of(alpha, squares);
        if (!is_there)
            reflector.tau = reflector.factor = number_of<number>(0);
        const number taken = taken_of(reflector, in_row, of_column);
        of_step.times_column[lane()] = lane() == step ? negative(reflector.factor) : taken;
        of_step.outcome = is_there ? REFLECTED : NOTHING;
        of_step.beta = reflector.beta;
        if (has_first_rows && lane() == 0)
            staged_first(step) = reflector.first;
        return {reflector.tau, plus_product(in_row, reflector.factor, of_column)};
    }
    __device__ __forceinline__ void take_step(int step)
    {
        bool is_lifted = false;
        found found;
        number times_column[slots];
        step_outcome outcome;
#pragma unroll 1
        while (true) {
            uses_of(place.group);
            stage_below(step);
            multiply(step);
            if (warp() == 0)
                found = find(step, is_lifted);
            else if (!is_lifted && step > 0)
                join_triangle(step - 1);
            __syncthreads();
            round++;
            outcome = of_step.outcome;
#pragma unroll
            for (int s = 0; s < slots; s++)
                times_column[s] = of_step.times_column[rows::column_of(s)];
            if (outcome != TO_BE_LIFTED)
                break;
            is_lifted = true;
            lift_column(step);
        }
        if (makes_triangle && warp() == 0)
            note_in_triangle(step, found);
        uses_of(place.group);
        if (outcome == REFLECTED)
            update(step, times_column);
    }
    /* By a warp that would wait. */
    __device__ __forceinline__ void join_triangle(int column) const
    {
        if (makes_triangle && warp() == warps - 1)
            triangle.join(column);
    }
    __device__ __forceinline__ void note_in_triangle(int step, const found &found) const
    {
        if (lane() < step)
            triangle(lane(), step) = conjugate(found.with_column);
        if (lane() == step)
            triangle(step, step) = found.tau;
    }

    __device__ __forceinline__ void factor()
    {
        rows::load();
        sums.begin();
        if (makes_triangle)
            triangle.clear();
        scale_columns();
        const int steps = min(x.rows, x.columns);
#pragma unroll 1
        for (int step = 0; step < steps; step++)
            take_step(step);
        __syncthreads();
        join_triangle(steps - 1);
        rows::store(rank(), backs);
        if (makes_triangle) {
            __syncthreads();
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
