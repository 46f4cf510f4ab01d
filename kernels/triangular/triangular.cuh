/* triangular: C := alpha L C, or C := X where L X = alpha C, for a lower triangle L (triangular.h).
 *
 *            L                  C         block   4 warps, 8 columns of C each, and all rows of these, panel by panel
 *        +----+               +--8--+     panel   64 rows (32 of complex doubles); a lane has every 32nd of them, in registers
 *        |tile|      panel p  |sums |     tile    64 x 64 of L in shared memory, for all warps
 *        +----+----+          |     |
 *        |tile|tile|          +-----+     left of the diagonal   sums + tile * C, with C's panel in shared memory
 *        +----+----+----+     |     |     on it                  substitution: each row, once solved, is told to all lanes
 *
 * What is subtracted from a row of alpha C is summed first, and by itself: rounded as numbers of that sum's size are, which may be
 * much smaller.
 *
 * A solve goes down the panels, a product up, so that what it reads has not been written yet. Each warp reads and writes its own
 * columns alone.
 */
#pragma once

#include "kernels/triangular/triangular.h"
#include "kernels/turn.cuh"

#include <cmath>

namespace triangular
{

constexpr int columns = TB_TRIANGULAR_COLUMNS, warps = TB_TRIANGULAR_WARPS, threads = TB_TRIANGULAR_THREADS,
              lanes = 32;
constexpr unsigned all_lanes = 0xffffffff;

template <class real_, int parts_> struct number {
    using real = real_;
    static constexpr int parts = parts_;
    real part[parts];
};

/* A row of what a warp has of C. */
template <class value> struct alignas(16) line {
    value of[columns];
};

template <class value> __device__ inline value whole_number(int x)
{
    value number = {};
    number.part[0] = typename value::real(x);
    return number;
}

/* Where inverses are normal numbers, and so are squares of complex ones. */
template <class value> __device__ inline bool has_inverse(typename value::real magnitude)
{
    using real = typename value::real;
    constexpr bool is_double = sizeof(real) == sizeof(double), is_real = value::parts == 1;
    const real most = is_double ? is_real ? 0x1p1000 : 0x1p500 : is_real ? 0x1p120 : 0x1p60;
    return magnitude <= most && magnitude >= 1 / most;
}

/* ---- Real numbers ---- */

template <class real> __device__ inline void add(number<real, 1> &sum, number<real, 1> a, number<real, 1> x)
{
    sum.part[0] = fma(a.part[0], x.part[0], sum.part[0]);
}

template <class real>
__device__ inline void subtract(number<real, 1> &sum, number<real, 1> a, number<real, 1> x)
{
    sum.part[0] = fma(-a.part[0], x.part[0], sum.part[0]);
}

template <class real> __device__ inline number<real, 1> inverse_of(number<real, 1> a)
{
    const bool has = has_inverse<number<real, 1>>(fabs(a.part[0]));
    return {has ? 1 / a.part[0] : real(NAN)};
}

template <class real> __device__ inline number<real, 1> divide(number<real, 1> b, number<real, 1> a)
{
    return {b.part[0] / a.part[0]};
}

/* ---- Complex numbers ---- */

template <class real> __device__ inline void add(number<real, 2> &sum, number<real, 2> a, number<real, 2> x)
{
    sum.part[0] = fma(a.part[0], x.part[0], sum.part[0]);
    sum.part[1] = fma(a.part[0], x.part[1], sum.part[1]);
    sum.part[0] = fma(-a.part[1], x.part[1], sum.part[0]);
    sum.part[1] = fma(a.part[1], x.part[0], sum.part[1]);
}

template <class real>
__device__ inline void subtract(number<real, 2> &sum, number<real, 2> a, number<real, 2> x)
{
    add(sum, {-a.part[0], -a.part[1]}, x);
}

template <class real> __device__ inline number<real, 2> inverse_of(number<real, 2> a)
{
    const bool has = has_inverse<number<real, 2>>(fmax(fabs(a.part[0]), fabs(a.part[1])));
    const real square = fma(a.part[0], a.part[0], a.part[1] * a.part[1]);
    return {has ? a.part[0] / square : real(NAN), has ? -a.part[1] / square : real(NAN)};
}

/* Scales the number until its larger part is between 1 and 2, unless it is zero or not finite; by which power of two, inverted. */
template <class real> __device__ inline int normalize(number<real, 2> &x)
{
    const real magnitude = fmax(fabs(x.part[0]), fabs(x.part[1]));
    const int exponent = magnitude > 0 && isfinite(magnitude) ? ilogb(magnitude) : 0;
    x.part[0] = scalbn(x.part[0], -exponent);
    x.part[1] = scalbn(x.part[1], -exponent);
    return exponent;
}

/* Smith's way: by the ratio of the divisor's parts. */
template <class real> __device__ __noinline__ number<real, 2> divide(number<real, 2> b, number<real, 2> a)
{
    const int exponent = normalize(b) - normalize(a);
    const bool turned = fabs(a.part[0]) < fabs(a.part[1]);
    const real larger = turned ? a.part[1] : a.part[0], smaller = turned ? a.part[0] : a.part[1];
    const real ratio = smaller / larger, divisor = fma(smaller, ratio, larger);
    const real re = turned ? fma(b.part[0], ratio, b.part[1]) : fma(b.part[1], ratio, b.part[0]);
    const real im = turned ? fma(b.part[1], ratio, -b.part[0]) : fma(-b.part[0], ratio, b.part[1]);
    return {scalbn(re / divisor, exponent), scalbn(im / divisor, exponent)};
}

/* ---- All ---- */

template <class value> __device__ inline bool is_finite(const value &x)
{
    bool finite = true;
#pragma unroll
    for (int part = 0; part < value::parts; part++)
        finite = finite && isfinite(x.part[part]);
    return finite;
}

template <class value> __device__ inline value times(value a, value x)
{
    value product = {};
    add(product, a, x);
    return product;
}

/* b / a, for the inverse of a that inverse_of gives: NaN where there is none. Multiplying and correcting once is as accurate as
 * dividing; what that makes no finite number of is divided. */
template <class value> __device__ inline value quotient(value b, value a, value inverse)
{
    value x = times(b, inverse), rest = b;
    subtract(rest, a, x);
    add(x, rest, inverse);
    return is_finite(x) ? x : divide(b, a);
}

template <class value> __device__ inline value from_lane(value x, int lane)
{
#pragma unroll
    for (int part = 0; part < value::parts; part++)
        x.part[part] = __shfl_sync(all_lanes, x.part[part], lane);
    return x;
}

template <class value, bool solves> struct block {
    static constexpr int rows = TB_TRIANGULAR_ROWS(sizeof(value)), pitch = rows + 1, each = rows / lanes;
    using sums = value[each][columns];

    const tb_triangular_block &x;
    line<value> *staged; /* of the warp: a panel of C */
    value *tile;         /* (row, column) at row + column * pitch */
    value *inverses;     /* of L's diagonal */
    int lane;
    int64_t column; /* the warp's first */

    __device__ value *c_at(int64_t row, int j) const
    {
        return static_cast<value *>(x.c) + row * x.c_row_step + (column + j) * x.c_column_step;
    }

    __device__ bool has(int64_t row, int j) const
    {
        return row < x.order && column + j < x.columns;
    }

    __device__ value alpha() const
    {
        value alpha;
        alpha.part[value::parts - 1] = typename value::real(x.alpha_im);
        alpha.part[0] = typename value::real(x.alpha_re);
        return alpha;
    }

    __device__ value a_at(int64_t row, int64_t column) const
    {
        value a = static_cast<const value *>(x.a)[row * x.row_step + column * x.column_step];
        if (x.conjugated)
            a.part[value::parts - 1] = -a.part[value::parts - 1];
        return a;
    }

    /* Neighbouring threads take what are neighbours in memory. What L does not have is zero; of its own diagonal block, what is
     * above the diagonal is not read and the diagonal of ones is not either. */
    __device__ void load_tile(int64_t first_row, int64_t first_column) const
    {
        const bool along_rows = x.row_step == 1 || x.row_step == -1;
        const bool diagonal = first_row == first_column;
#pragma unroll 16
        for (int e = threadIdx.x; e < rows * rows; e += threads) {
            const int row = along_rows ? e % rows : e / rows, beside = along_rows ? e / rows : e % rows;
            const int64_t i = first_row + row, j = first_column + beside;
            value a = {};
            if (i < x.order && j < x.order &&
                (!diagonal || row > beside || (row == beside && !x.unit_diagonal)))
                a = a_at(i, j);
            else if (diagonal && row == beside)
                a = whole_number<value>(1);
            tile[row + beside * pitch] = a;
        }
    }

    __device__ void load(int64_t first_row, sums &sums) const
    {
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++) {
                const int64_t row = first_row + lane + e * lanes;
                sums[e][j] = {};
                if (has(row, j))
                    sums[e][j] = *c_at(row, j);
            }
    }

    __device__ void store(int64_t first_row, const sums &sums) const
    {
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++) {
                const int64_t row = first_row + lane + e * lanes;
                if (has(row, j))
                    *c_at(row, j) = sums[e][j];
            }
    }

    __device__ value scaled(value c) const
    {
        return x.scaled ? times(alpha(), c) : c;
    }

    /* Puts a tile of L and a panel of C into shared memory, a line for each of C's rows; a lane reads what it has written itself,
     * if anything has. */
    __device__ void stage(int64_t first_row, int64_t first_column) const
    {
        sums panel;
        load(first_column, panel);
        __syncthreads(); /* what was there has been used */
        load_tile(first_row, first_column);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
                staged[lane + e * lanes].of[j] = panel[e][j];
        __syncthreads();
    }

    /* With the tile and the panel of C that are in shared memory; of a diagonal tile, what is not above the diagonal. */
    __device__ void accumulate(bool diagonal, sums &sums) const
    {
#pragma unroll 4
        for (int i = 0; i < rows; i++) {
            const line<value> c = staged[i];
#pragma unroll
            for (int e = 0; e < each; e++) {
                const int row = lane + e * lanes;
                const value a = tile[row + i * pitch];
                if (diagonal && row < i)
                    continue;
#pragma unroll
                for (int j = 0; j < columns; j++)
                    add(sums[e][j], a, c.of[j]);
            }
        }
    }

    __device__ void find_inverses() const
    {
        for (int i = threadIdx.x; i < rows; i += threads)
            inverses[i] = inverse_of(tile[i + i * pitch]);
    }

    /* A row's numbers, once its sums are complete. */
    __device__ void solve(int row, value (&sums)[columns]) const
    {
        const line<value> c = staged[row];
        const value a = tile[row + row * pitch], inverse = inverses[row];
#pragma unroll
        for (int j = 0; j < columns; j++) {
            value rest = scaled(c.of[j]);
#pragma unroll
            for (int part = 0; part < value::parts; part++)
                rest.part[part] -= sums[j].part[part];
            sums[j] = x.unit_diagonal ? rest : quotient(rest, a, inverse);
        }
    }

    /* The substitution, with the diagonal tile and the panel of C that are in shared memory. */
    __device__ void substitute(sums &sums) const
    {
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll 1
            for (int owner = 0; owner < lanes; owner++) {
                const int i = owner + e * lanes;
                if (lane == owner)
                    solve(i, sums[e]);
                __syncwarp();
                value solved[columns];
#pragma unroll
                for (int j = 0; j < columns; j++)
                    solved[j] = from_lane(sums[e][j], owner);
#pragma unroll
                for (int f = e; f < each; f++) {
                    const value a = tile[lane + f * lanes + i * pitch];
                    if (f > e || lane > owner)
#pragma unroll
                        for (int j = 0; j < columns; j++)
                            add(sums[f][j], a, solved[j]);
                }
                __syncwarp();
            }
    }

    __device__ void multiply(sums &sums) const
    {
        accumulate(true, sums);
#pragma unroll
        for (int e = 0; e < each; e++)
#pragma unroll
            for (int j = 0; j < columns; j++)
                sums[e][j] = scaled(sums[e][j]);
    }

    __device__ void run_panel(int64_t first_row) const
    {
        sums sums = {};
        for (int64_t left = 0; left < first_row; left += rows) {
            stage(first_row, left);
            accumulate(false, sums);
        }
        stage(first_row, first_row);
        if (solves) {
            find_inverses();
            __syncthreads();
            substitute(sums);
        } else {
            multiply(sums);
        }
        store(first_row, sums);
    }

    __device__ void run() const
    {
        const int64_t panels = (x.order + rows - 1) / rows;
        for (int64_t panel = 0; panel < panels; panel++)
            run_panel((solves ? panel : panels - 1 - panel) * rows);
    }
};

template <class real, int parts, bool solves> __device__ inline void run(const tb_triangular_block &x)
{
    using value = number<real, parts>;
    using panels = block<value, solves>;
    extern __shared__ __align__(16) unsigned char shared[];
    line<value> *staged = reinterpret_cast<line<value> *>(shared);
    value *tile = reinterpret_cast<value *>(staged + warps * panels::rows);
    const int warp = threadIdx.x / lanes;
    turn::take();
    const panels block = {x,
                          staged + warp * panels::rows,
                          tile,
                          tile + panels::rows * panels::pitch,
                          int(threadIdx.x % lanes),
                          (int64_t(blockIdx.x) * warps + warp) * columns};
    block.run();
}

} // namespace triangular

#define TB_TRIANGULAR_STAMP(symbol, real, parts, solves)                                                     \
    extern "C" __global__ void __launch_bounds__(triangular::threads, TB_TRIANGULAR_BLOCKS)                  \
        symbol(const __grid_constant__ tb_triangular_block x)                                                \
    {                                                                                                        \
        triangular::run<real, parts, solves>(x);                                                             \
    }
