/* The rows of a GEQRF panel, as warps have them, by layers of 32 rows a warp:
 *
 *              columns 0 1 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31
 *     row 4 i + 0     lanes 0 1 .. 7, a group of which has four columns, a slot each, and eight rows of the layer
 *     row 4 i + 1     lanes 8 .. 15
 *     row 4 i + 2     lanes 16 .. 23
 *     row 4 i + 3     lanes 24 .. 31
 *
 * The first layers are in registers, further ones in shared memory as long as there is room, and others where the panel is.
 */
#pragma once

#include "kernels/panels/sums.cuh"
#include "kernels/rematerialized.cuh"

namespace panels
{

constexpr int slots = 4, groups = columns / slots, quarters = lanes / groups,
              rows_of_lane = TB_GEQRF_ROWS_OF_WARP / quarters;
template <class number, bool further>
constexpr int layers_in_registers = sizeof(number) == 4
                                        ? further ? TB_GEQRF_GRID_LAYERS_FP32 : TB_GEQRF_LAYERS_FP32
                                    : sizeof(number) == 16  ? further ? TB_GEQRF_GRID_LAYERS_COMPLEX_FP64
                                                                      : TB_GEQRF_LAYERS_COMPLEX_FP64
                                    : reals_of<number> == 2 ? further ? TB_GEQRF_GRID_LAYERS_COMPLEX_FP32
                                                                      : TB_GEQRF_LAYERS_COMPLEX_FP32
                                    : further               ? TB_GEQRF_GRID_LAYERS_FP64
                                                            : TB_GEQRF_LAYERS_FP64;

/* The step's column in a layer of a warp: each quarter's rows, and so much more that quarters are in banks of their own. */
template <class number> struct staged_layer {
    static constexpr int pieces = rows_of_lane / piece<number>::count;
    piece<number> of_quarter[quarters][pieces + 1];
};

/* What a lane has of each layer: where it begins, and of how many layers; the block's rows are those before the end. */
struct lane_place {
    int group, quarter, first_row, end, layers;

    __device__ __forceinline__ lane_place(const tb_geqrf_panel &x, int rank, unsigned thread)
        : group(int(thread % groups)), quarter(int(thread % lanes / groups))
    {
        const int of_warp = int(thread / lanes) * TB_GEQRF_ROWS_OF_WARP,
                  rows = min(x.rows_of_block, x.rows - rank * x.rows_of_block) - of_warp;
        first_row = rank * x.rows_of_block + of_warp + quarter;
        end = first_row - quarter + rows;
        layers = of_lane(rows > 0 ? (rows + TB_GEQRF_ROWS_OF_LAYER - 1) / TB_GEQRF_ROWS_OF_LAYER : 0, 0);
    }
};

/* Where a lane's numbers of a layer begin, and how many reals further other columns and rows do. */
template <class real> struct lane_rows {
    real *first;
    int64_t column, row;
};

template <class number, bool has_further> struct panel_rows {
    using real = real_of<number>;
    static constexpr int layers = layers_in_registers<number, has_further>, parts = reals_of<number>;
    const tb_geqrf_panel &x;
    number *const in_shared;
    lane_place place;
    number own[layers][rows_of_lane][slots];

    __device__ panel_rows(const tb_geqrf_panel &x, int rank, number *in_shared)
        : x(x), in_shared(in_shared), place(x, rank, unsigned(rematerialized::thread()))
    {
    }

    __device__ __forceinline__ int row_of(int layer, int i) const
    {
        return place.first_row + layer * TB_GEQRF_ROWS_OF_LAYER + quarters * i;
    }
    __device__ __forceinline__ int column_of(int slot) const
    {
        return place.group + groups * slot;
    }
    __device__ __forceinline__ bool has(int layer, int i, int column) const
    {
        return row_of(layer, i) < x.rows && column < x.columns;
    }

    /* Calls for each layer that is in registers, as far as the warp has rows of it. */
    template <int layer = 0, class action> __device__ __forceinline__ void for_layers(action act) const
    {
        if constexpr (layer < layers)
            if (layer < place.layers) {
                act(layer);
                for_layers<layer + 1>(act);
            }
    }

    /* ---- Rows that are not in registers ---------------------------------------------------------------------- */

    __device__ __forceinline__ bool is_in_shared(int layer) const
    {
        return layer - layers < x.layers_in_shared;
    }
    __device__ __forceinline__ lane_rows<real> in_memory(int layer) const
    {
        return {static_cast<real *>(x.a) + parts * row_of(layer, 0), parts * x.ld, parts * quarters};
    }
    __device__ __forceinline__ lane_rows<real> further(int layer) const
    {
        if (!is_in_shared(layer))
            return in_memory(layer);
        number *const first = in_shared + (layer - layers) * columns * TB_GEQRF_SHARED_COLUMN +
                              warp() * TB_GEQRF_ROWS_OF_WARP + place.quarter;
        return {reinterpret_cast<real *>(first), parts * TB_GEQRF_SHARED_COLUMN, parts * quarters};
    }

    /* Calls for each row of a lane that is not in registers, with the place of its number in column 0. All lanes of a warp do so at a
     * time. */
    template <class action> __device__ __forceinline__ void for_further(action act) const
    {
        for (int layer = layers; has_further && layer < place.layers; layer++) {
            const lane_rows<real> rows = further(layer);
#pragma unroll 1
            for (int i = 0; i < rows_of_lane; i++)
                act(layer, i, rows.first + i * rows.row, rows.column);
        }
    }

    /* ---- In and out ------------------------------------------------------------------------------------------ */

    /* Calls for each number that is in registers with its place in one of panels' rows, of which so many columns are there. A layer's rows
     * are at distances that are known, so that each number costs a comparison and its instruction. */
    template <class action>
    __device__ __forceinline__ void for_own(real *panel, int64_t ld, int columns, action act)
    {
        real *at = panel + parts * (place.first_row + place.group * ld);
        const int rows = place.end - place.first_row;
#pragma unroll
        for (int s = 0; s < slots; s++) {
            const int there = column_of(s) < columns ? rows : 0;
            for_layers([&](int layer) {
#pragma unroll
                for (int i = 0; i < rows_of_lane; i++) {
                    const int row = layer * TB_GEQRF_ROWS_OF_LAYER + quarters * i;
                    act(own[layer][i][s], at + parts * row, row < there);
                }
            });
            at += parts * groups * ld;
        }
    }

    __device__ __forceinline__ void load()
    {
        for_own(static_cast<real *>(x.a), x.ld, x.columns, [](number &a, const real *from, bool is_there) {
            a = is_there ? read<number>(from) : number_of<number>(0);
        });
        for_further([&](int layer, int i, real *to, int64_t column_of_to) {
            const lane_rows<real> from = in_memory(layer);
#pragma unroll 1
            for (int column = place.group; column < columns && is_in_shared(layer); column += groups)
                write(to + column * column_of_to,
                      has(layer, i, column) ? read<number>(from.first + column * from.column + i * from.row)
                                            : number_of<number>(0));
        });
    }

    /* Of the warp that has the panel's first rows: makes others of the numbers on the diagonal and above, which are in its first layer. */
    template <class action> __device__ __forceinline__ void change_upper(action changed)
    {
#pragma unroll
        for (int s = 0; s < slots; s++)
#pragma unroll
            for (int i = 0; i <= 2 * s + 1; i++) {
                const int row_in_square = quarters * (i - 2 * s) + place.quarter; /* negative: above it */
                if (i < 2 * s || row_in_square <= place.group)
                    own[0][i][s] = changed(own[0][i][s], s, i >= 2 * s && row_in_square == place.group);
            }
    }
    /* R, with what columns have been multiplied by undone, and the reflectors; then, if wanted, these with their ones and zeros. */
    __device__ __forceinline__ void store(int rank, const real *backs)
    {
        place = lane_place(x, rank, unsigned(rematerialized::thread()));
        const bool has_upper = place.first_row < quarters;
        if (has_upper)
            change_upper([&](number a, int s, bool) { return times(a, backs[column_of(s)]); });
        const int steps = min(x.rows, x.columns);
#pragma unroll 1
        for (bool is_v = false;; is_v = true) {
            for_own(static_cast<real *>(is_v ? x.v : x.a), is_v ? x.ld_of_v : x.ld, is_v ? steps : x.columns,
                    [](number a, real *to, bool is_there) {
                        if (is_there)
                            write(to, a);
                    });
            if (is_v || !x.v)
                break;
            if (has_upper)
                change_upper([](number, int, bool is_diagonal) { return number_of<number>(is_diagonal); });
        }
        store_further(steps);
    }
    __device__ __forceinline__ void store_further(int steps) const
    {
        for_further([&](int layer, int i, const real *from, int64_t column_of_from) {
            const lane_rows<real> to = in_memory(layer);
#pragma unroll 1
            for (int column = place.group; has(layer, i, column); column += groups) {
                const number a = read<number>(from + column * column_of_from);
                if (is_in_shared(layer))
                    write(to.first + column * to.column + i * to.row, a);
                if (x.v && column < steps)
                    write(static_cast<real *>(x.v) + parts * (row_of(layer, i) + column * x.ld_of_v), a);
            }
        });
    }
};

} // namespace panels
