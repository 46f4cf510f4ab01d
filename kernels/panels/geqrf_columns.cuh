/* What becomes of columns of a GEQRF panel in a step, which a block does by itself: the step's column is left in shared memory, by each
 * warp for itself, what is below its row; other columns are subtracted from, and it is replaced by the reflector.
 */
#pragma once

#include "kernels/panels/geqrf_rows.cuh"
#include "kernels/panels/reflector.cuh"

namespace panels
{

template <class number, bool has_further> struct panel_columns : panel_rows<number, has_further> {
    using rows = panel_rows<number, has_further>;
    using rows::layers;
    using rows::own;
    using rows::place;
    using rows::x;
    using real = real_of<number>;
    using staged_column = staged_layer<number>;
    staged_column *const staged; /* one a warp and layer */
    const bool has_first_rows;   /* the warp */

    __device__ panel_columns(const tb_geqrf_panel &x, int rank, number *in_shared, staged_column *staged)
        : rows(x, rank, in_shared), staged(staged), has_first_rows(of_lane(rank == 0 && warp() == 0, 0))
    {
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

    /* ---- The step's column -------------------------------------------------------------------------------------- */

    __device__ __forceinline__ staged_column &staged_of(int layer) const
    {
        return staged[warp() * layers + layer];
    }

    /* The step's column is staged: in the warp that has the panel's first rows, row `row` of these. */
    __device__ __forceinline__ number &staged_first(unsigned row) const
    {
        constexpr int count = piece<number>::count;
        const unsigned i = row / quarters;
        return staged_of(0).of_quarter[row % quarters][i / count].at[i % count];
    }
    /* Instructions that differ by slots are few: of the others there is one copy. */
    template <int slot = 0> __device__ __forceinline__ void stage(int step, number *row) const
    {
        if constexpr (slot + 1 < slots)
            if (step >= groups * (slot + 1))
                return stage<slot + 1>(step, row);
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
                row[rows::column_of(s)] =
                    step % groups < quarters ? own[0][2 * slot][s] : own[0][2 * slot + 1][s];
        mark<slot>();
    }
    /* The step's column below its row, above that zeros. */
    __device__ __forceinline__ void stage_below(int step, number *row) const
    {
        __syncwarp();
        stage(step, row);
        __syncwarp();
        if (has_first_rows) {
            if (lane() <= step)
                staged_first(unsigned(lane())) = number_of<number>(0);
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
    __device__ __forceinline__ void update(int step, const number (&times_column)[slots], const real &beta)
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
            put_beta(step, beta);
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
};

} // namespace panels
