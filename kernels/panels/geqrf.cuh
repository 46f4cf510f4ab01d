/* geqrf: QR of a panel of up to 32 columns by reflectors, in place, and the triangle of their product. Blocks have rows of it each, on the
 * chip as far as there is room (geqrf_rows.cuh), so that global memory is read once and written once. In each step each warp leaves the
 * step's column in shared memory and multiplies what is below the step's row with all columns: with itself for the norm, with later ones
 * for what is subtracted of them, with earlier ones, which are reflectors, for the triangle. All of these sums are told between blocks at
 * once (sums.cuh), with the step's row, whose part in them is added by who has them: the first warp of each block, which tells the others
 * what each column takes of the step's one. Meanwhile another has the triangle's last column.
 */
#pragma once

#include "kernels/panels/block_reflector.cuh"
#include "kernels/panels/geqrf_columns.cuh"
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
struct geqrf : panel_columns<number, joined_sums<number>::has_further_rows> {
    using rows = panel_columns<number, joined_sums<number>::has_further_rows>;
    using rows::further;
    using rows::has_first_rows;
    using rows::layers;
    using rows::own;
    using rows::place;
    using rows::x;
    using typename rows::real;
    using typename rows::staged_column;
    letters_of_warps<number> &of_warps;
    const joined_sums<number> sums;
    const block_reflector<number> triangle;
    real *const backs; /* by which columns are multiplied in the end, from the diagonal up */
    step_letter<number> &of_step;
    const bool makes_triangle; /* the block */
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
        : rows(x, rank(), behind_staged(shared) + TB_GEQRF_TRIANGLE + columns + TB_GEQRF_OF_STEP,
               first_staged(shared)),
          of_warps(*reinterpret_cast<letters_of_warps<number> *>(shared)),
          sums(x, of_warps, shared + TB_GEQRF_OF_WARPS), triangle{behind_staged(shared)},
          backs(reinterpret_cast<real *>(behind_staged(shared) + TB_GEQRF_TRIANGLE)),
          of_step(
              *reinterpret_cast<step_letter<number> *>(behind_staged(shared) + TB_GEQRF_TRIANGLE + columns)),
          makes_triangle(rank() == x.blocks - 1)
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
        rows::multiply_columns(there);
    }
    __device__ __forceinline__ static number larger(number a, number b)
    {
        const number of_real = largest()(a, number_of<number>(real(fabs(real_part(b)))));
        if constexpr (reals_of<number> == 2)
            return largest()(of_real, number_of<number>(real(fabs(imaginary_part(b)))));
        else
            return of_real;
    }
    /* ---- A step ---------------------------------------------------------------------------------------------- */

    /* Sums of the step's column, below its row, with all columns: the conjugate of one times the other. */
    __device__ __forceinline__ void multiply(int step)
    {
        number of_slots[slots];
#pragma unroll
        for (int s = 0; s < slots; s++)
            of_slots[s] = number_of<number>(0);
        rows::for_layers([&](int layer) {
            number below[rows_of_lane];
            rows::read_staged(layer, below);
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

    /* By one warp, which also is the one that may have the first rows. */
    __device__ __forceinline__ found find(int step, bool was_lifted) const
    {
        uses_of(step);
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
            rows::staged_first(unsigned(step)) = reflector.first;
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
            rows::stage_below(step, of_warps[round % 2].row);
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
            rows::lift_column(step);
        }
        if (makes_triangle && warp() == 0)
            note_in_triangle(step, found);
        uses_of(place.group);
        if (outcome == REFLECTED)
            rows::update(step, times_column, of_step.beta);
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
