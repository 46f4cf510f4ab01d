/* expand: writes an operand out as a real matrix of general structure (expand.h). It moves memory and does little else.
 *
 *         tile columns                 block   256 threads, 32 x 32 numbers of op(source)
 *        +------------+                straight  numbers whose neighbours in the source are neighbours in a column of the target:
 *  tile  |            |                          from memory to memory, 16 bytes a thread where both are aligned to that
 *  rows  |            |                turned    numbers whose neighbours in the source are neighbours in a row of it, of a
 *        +------------+                          transpose or a mirrored triangle: by way of shared memory
 *                                      absent    numbers of a triangular matrix that are not stored: zeros and ones
 *
 * A tile that has more than one of these is put together in shared memory.
 */
#pragma once

#include "kernels/expand/expand.h"
#include "kernels/dependent_launch.cuh"

namespace expand
{

constexpr int threads = TB_EXPAND_THREADS, extent = TB_EXPAND_TILE;

template <class real_, int parts_> struct alignas(parts_ * sizeof(real_)) number {
    using real = real_;
    static constexpr int parts = parts_;
    real part[parts];
};

/* Neighbours that are moved together. */
template <class value, int count> struct alignas(count * sizeof(value)) vector {
    value of[count];
};

/* What one instruction moves. Assignments of structures are not sure to be one: the compiler takes them apart. */
template <int bytes> struct word;
template <> struct word<4> {
    using type = unsigned;
};
template <> struct word<8> {
    using type = uint2;
};
template <> struct word<16> {
    using type = uint4;
};

template <class type> __device__ inline type load_whole(const type *at)
{
    const auto bits = *reinterpret_cast<const typename word<sizeof(type)>::type *>(at);
    type x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

template <class type> __device__ inline void store_whole(type *at, const type &x)
{
    typename word<sizeof(type)>::type bits;
    memcpy(&bits, &x, sizeof x);
    __stwb(reinterpret_cast<typename word<sizeof(type)>::type *>(at), bits);
}

/* Every bit but the sign stays, a NaN's too. */
__device__ inline float negative(float x)
{
    return __int_as_float(__float_as_int(x) ^ int(0x80000000));
}

__device__ inline double negative(double x)
{
    return __hiloint2double(__double2hiint(x) ^ int(0x80000000), __double2loint(x));
}

template <class value> __device__ inline void conjugate(value &x)
{
    x.part[value::parts - 1] = negative(x.part[value::parts - 1]);
}

template <class value> __device__ inline void times_i(value &x)
{
    const typename value::real re = x.part[0];
    x.part[0] = negative(x.part[value::parts - 1]);
    x.part[value::parts - 1] = re;
}

template <class value> __device__ inline bool is_finite(const value &x)
{
    return isfinite(x.part[0]) && isfinite(x.part[value::parts - 1]);
}

template <class value> __device__ inline void scale(value &x, const tb_expand &by)
{
    using real = typename value::real;
    const real re = real(by.re), im = real(by.im), first = x.part[0], last = x.part[value::parts - 1];
    x.part[value::parts - 1] = first * im + last * re;
    x.part[0] = value::parts == 1 ? first * re : first * re - last * im;
}

/* Part by part where the number is not aligned to its size. */
template <class value> __device__ inline value load(const value *at, bool whole)
{
    if (whole)
        return load_whole(at);
    value x;
#pragma unroll
    for (int i = 0; i < value::parts; i++)
        x.part[i] = reinterpret_cast<const typename value::real *>(at)[i];
    return x;
}

enum content { straight, turned, absent, mixed };

/* What a block writes: its first row and column, of op(source), and what is where. */
template <class value> struct tile {
    const tb_expand &x;
    const value *source;
    int64_t row, column;

    __device__ bool has(int64_t i, int64_t j) const
    {
        return i < x.rows && j < x.columns;
    }

    /* The rows by which a number lies below the source's diagonal. */
    __device__ int64_t below(int64_t i, int64_t j) const
    {
        return (x.transposed ? j - i : i - j) + x.diagonal;
    }

    __device__ bool is_stored(int64_t below) const
    {
        return x.structure == TB_GENERAL || (x.stored == TB_LOWER ? below >= 0 : below <= 0);
    }

    /* What a number so far below the diagonal is made of. */
    __device__ content content_of(int64_t below) const
    {
        const bool stored = is_stored(below);
        if (x.structure == TB_TRIANGULAR && (!stored || (below == 0 && x.unit_diagonal)))
            return absent;
        return stored != x.transposed ? straight : turned;
    }

    /* Tiles that the diagonal runs through are mixed; and, as they are not worth a case, those that hold nothing. */
    __device__ content content_of_all() const
    {
        const int64_t corner = below(row, column), least = corner - (extent - 1),
                      most = corner + (extent - 1);
        if (x.structure != TB_GENERAL && least <= 0 && most >= 0)
            return mixed;
        const content all = content_of(corner);
        return all == absent ? mixed : all;
    }

    /* Whether the number's imaginary part changes its sign on the way: of a straight one where that is a mirrored one. */
    __device__ bool turns_sign(content content) const
    {
        const bool mirrored = (content == turned) != x.transposed;
        return value::parts == 2 && x.conjugated != (mirrored && x.structure == TB_HERMITIAN);
    }

    __device__ const value *at(content content, int64_t i, int64_t j) const
    {
        const bool mirrored = x.structure != TB_GENERAL && (content == turned) != x.transposed;
        const int64_t shift = mirrored ? x.diagonal : 0;
        const int64_t along = content == turned ? j : i, across = content == turned ? i : j;
        return source + (along - shift) + (across + shift) * x.source_ld;
    }
};

/* Puts a tile that is turned into shared memory, neighbouring threads along a row; all is on its way before any of it is used. */
template <class value>
__device__ inline void stage_turned(const tile<value> &tile, value (*staged)[extent + 1])
{
    constexpr int each = extent * extent / threads;
    const int column = threadIdx.x % extent, row = threadIdx.x / extent, rows = threads / extent;
    value values[each];
#pragma unroll
    for (int n = 0; n < each; n++) {
        const int64_t i = tile.row + row + n * rows, j = tile.column + column;
        values[n] = {};
        if (tile.has(i, j))
            values[n] = load(tile.at(turned, i, j), tile.x.source_whole);
    }
#pragma unroll
    for (int n = 0; n < each; n++) {
        if (tile.turns_sign(turned))
            conjugate(values[n]);
        staged[row + n * rows][column] = values[n];
    }
}

/* Stages what is turned of a mixed tile, with neighbouring threads along a row; or what is not, along a column. Such tiles are
 * few, so that little code is worth more than speed. */
template <class value>
__device__ inline void stage_mixed(const tile<value> &tile, bool turns, value (*staged)[extent + 1])
{
#pragma unroll 1
    for (int e = threadIdx.x; e < extent * extent; e += threads) {
        const int row = turns ? e / extent : e % extent, column = turns ? e % extent : e / extent;
        const int64_t i = tile.row + row, j = tile.column + column, below = tile.below(i, j);
        const content content = tile.content_of(below);
        if (!tile.has(i, j) || turns != (content == turned))
            continue;
        value x = {typename value::real(below == 0 ? 1 : 0)};
        if (content != absent) {
            x = load(tile.at(content, i, j), tile.x.source_whole);
            if (tile.turns_sign(content))
                conjugate(x);
            if (value::parts == 2 && tile.x.structure == TB_HERMITIAN && below == 0)
                x.part[value::parts - 1] = 0;
        }
        staged[row][column] = x;
    }
}

/* A few neighbours of a column, of which `count` exist. */
template <class value, int width>
__device__ inline vector<value, width> load_straight(const tb_expand &x, const value *at, int64_t count)
{
    vector<value, width> values = {};
    if (width > 1 && count >= width && x.source_vector)
        return load_whole(reinterpret_cast<const vector<value, width> *>(at));
#pragma unroll
    for (int i = 0; i < width; i++)
        if (i < count)
            values.of[i] = load(at + i, x.source_whole);
    return values;
}

template <class value, int width>
__device__ inline void store(const tb_expand &x, value *at, const vector<value, width> &values, int64_t count)
{
    if (width > 1 && count >= width) {
        store_whole(reinterpret_cast<vector<value, width> *>(at), values);
        return;
    }
#pragma unroll
    for (int i = 0; i < width; i++)
        if (i < count && x.target_whole)
            store_whole(at + i, values.of[i]);
        else if (i < count)
            for (int part = 0; part < value::parts; part++)
                reinterpret_cast<typename value::real *>(at + i)[part] = values.of[i].part[part];
}

/* Writes neighbours of a column of op(source). */
template <class value, int width>
__device__ inline void write(const tb_expand &x, typename value::real *target, int64_t i, int64_t j,
                             vector<value, width> values)
{
    using real = typename value::real;
    const int64_t count = x.rows - i;
    real *column = target + value::parts * i + (x.embedded ? 2 * j : j) * x.target_ld;
#pragma unroll
    for (int n = 0; n < width; n++)
        if (x.scaled)
            scale(values.of[n], x);
    store(x, reinterpret_cast<value *>(column), values, count);
    if (value::parts == 2 && x.embedded) {
#pragma unroll
        for (int n = 0; n < width; n++)
            times_i(values.of[n]);
        store(x, reinterpret_cast<value *>(column + x.target_ld), values, count);
    }
}

/* Leaves the tile's note, of bits that each thread has found. */
__device__ inline void note(const tb_expand &x, unsigned found)
{
    __shared__ unsigned noted;
    if (threadIdx.x == 0)
        noted = 0;
    __syncthreads();
    if (found != 0)
        atomicOr(&noted, found);
    __syncthreads();
    if (threadIdx.x == 0)
        x.notes[blockIdx.x] = noted;
}

/* width: numbers that a thread writes at a time; more than one where the target's columns are aligned to 16 bytes. is_batch: of
 * several matrices, tile after tile of each; finding one's addresses takes registers. */
template <class value, int width, bool is_batch> __device__ inline void expand(const tb_expand &x)
{
    constexpr int each = extent * extent / width / threads;
    __shared__ value staged[extent][extent + 1];
    dependent_launch::wait();
    const unsigned tiles_m = unsigned((x.rows + extent - 1) / extent);
    const unsigned matrix = is_batch ? blockIdx.x / unsigned(x.tiles) : 0;
    const unsigned own = is_batch ? blockIdx.x % unsigned(x.tiles) : blockIdx.x;
    const value *first = static_cast<const value *>(x.source);
    const tile<value> tile = {x, is_batch ? tb_matrix_of(x.batches, TB_A, first, matrix) : first,
                              int64_t(own % tiles_m) * extent, int64_t(own / tiles_m) * extent};
    const content content = tile.content_of_all();
    if (content == turned)
        stage_turned(tile, staged);
    if (content == mixed)
        for (int turns = 0; turns < 2; turns++)
            stage_mixed(tile, turns, staged);
    if (content != straight)
        __syncthreads();

    /* All is read before anything is written: the target may be the source. */
    vector<value, width> values[each];
#pragma unroll
    for (int n = 0; n < each; n++) {
        const int e = threadIdx.x + n * threads, row = e % (extent / width) * width,
                  column = e / (extent / width);
        const int64_t i = tile.row + row, j = tile.column + column;
        if (content != straight)
            for (int k = 0; k < width; k++)
                values[n].of[k] = staged[row + k][column];
        else if (tile.has(i, j))
            values[n] = load_straight<value, width>(x, tile.at(straight, i, j), x.rows - i);
    }
    unsigned found = 0;
    auto *const target = static_cast<typename value::real *>(x.target);
    auto *const own_target = is_batch ? tb_matrix_of(x.batches, TB_C, target, matrix) : target;
#pragma unroll
    for (int n = 0; n < each; n++) {
        const int e = threadIdx.x + n * threads, row = e % (extent / width) * width,
                  column = e / (extent / width);
        for (int k = 0; k < width && x.notes; k++)
            if (tile.has(tile.row + row + k, tile.column + column) && !is_finite(values[n].of[k]))
                found |= 1u << (x.notes_rows ? row + k : column);
        if (content == straight && tile.turns_sign(straight))
            for (int k = 0; k < width; k++)
                conjugate(values[n].of[k]);
        if (tile.has(tile.row + row, tile.column + column))
            write(x, own_target, tile.row + row, tile.column + column, values[n]);
    }
    if (x.notes)
        note(x, found);
}

} // namespace expand

#define TB_EXPAND_STAMP(symbol, real, parts, width, is_batch)                                                \
    extern "C" __global__ void __launch_bounds__(TB_EXPAND_THREADS)                                          \
        symbol(const __grid_constant__ tb_expand arguments)                                                  \
    {                                                                                                        \
        expand::expand<expand::number<real, parts>, width, is_batch>(arguments);                             \
    }
