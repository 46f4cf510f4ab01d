/* fold: C = P + P' + beta * C in a triangle (fold.h). A block has a tile of the triangle: it reads the tile of P that lies
 * there, and the one that lies across the diagonal by way of shared memory, so that all reads are along columns. It moves
 * memory and does little else.
 */
#include "kernels/fold/fold.h"
#include "kernels/dependent_launch.cuh"

namespace fold
{

constexpr int extent = TB_FOLD_TILE, lines_at_a_time = TB_FOLD_THREADS / extent;

template <class real_, int parts_> struct alignas(parts_ * sizeof(real_)) number {
    using real = real_;
    static constexpr int parts = parts_;
    real part[parts];
};

struct place {
    int64_t row, column;
};

/* Tiles of the lower triangle are numbered row by row; those of the upper one are their mirror images. */
__device__ inline place place_of(const tb_fold &fold, int64_t tile)
{
    int64_t line = int64_t((sqrt(8.0 * double(tile) + 1) - 1) / 2);
    while (line * (line + 1) / 2 > tile)
        line--;
    while ((line + 1) * (line + 2) / 2 <= tile)
        line++;
    const int64_t across = tile - line * (line + 1) / 2;
    return fold.upper ? place{across * extent, line * extent} : place{line * extent, across * extent};
}

/* An element of C, which may be aligned to its parts alone. */
template <class number> __device__ inline number load(const tb_fold &fold, const number *c)
{
    if (number::parts == 1 || fold.c_whole)
        return *c;
    const auto *parts = reinterpret_cast<const typename number::real *>(c);
    number value;
    for (int i = 0; i < number::parts; i++)
        value.part[i] = parts[i];
    return value;
}

template <class number> __device__ inline void store(const tb_fold &fold, number *c, const number &value)
{
    if (number::parts == 1 || fold.c_whole) {
        *c = value;
        return;
    }
    auto *parts = reinterpret_cast<typename number::real *>(c);
    for (int i = 0; i < number::parts; i++)
        parts[i] = value.part[i];
}

/* beta times what was there; a real beta leaves parts apart. */
template <class number> __device__ inline number scaled(const tb_fold &fold, const number &old)
{
    using real = typename number::real;
    const real re = real(fold.beta_re), im = real(fold.beta_im);
    number result;
    if constexpr (number::parts == 1) {
        result.part[0] = re * old.part[0];
    } else if (fold.beta_im == 0) {
        result.part[0] = re * old.part[0];
        result.part[1] = re * old.part[1];
    } else {
        result.part[0] = re * old.part[0] - im * old.part[1];
        result.part[1] = re * old.part[1] + im * old.part[0];
    }
    return result;
}

/* An element of C, of what lies at its place, and across. */
template <class number>
__device__ inline void write(const tb_fold &fold, number *c, number sum, const number &across,
                             bool on_diagonal)
{
    constexpr int parts = number::parts;
    const bool is_real = parts == 2 && fold.hermitian && on_diagonal;
    sum.part[0] += across.part[0];
    if constexpr (parts == 2)
        sum.part[1] = is_real          ? 0
                      : fold.hermitian ? sum.part[1] - across.part[1]
                                       : sum.part[1] + across.part[1];
    if (fold.beta_re != 0 || fold.beta_im != 0) {
        number old = load(fold, c);
        if constexpr (parts == 2)
            old.part[1] = is_real ? 0 : old.part[1];
        old = scaled(fold, old);
#pragma unroll
        for (int i = 0; i < parts; i++)
            sum.part[i] += old.part[i];
    }
    store(fold, c, sum);
}

template <class number> __device__ inline void run(const tb_fold &fold)
{
    __shared__ number mirrored[extent][extent + 1];
    const place at = place_of(fold, blockIdx.x);
    const int lane = threadIdx.x % extent, line = threadIdx.x / extent;
    const number *sums = static_cast<const number *>(fold.sums);
    number own[extent / lines_at_a_time];
    dependent_launch::wait();
#pragma unroll
    for (int i = 0; i < extent / lines_at_a_time; i++) {
        const int64_t further = line + i * lines_at_a_time;
        if (at.column + lane < fold.n && at.row + further < fold.n)
            mirrored[further][lane] = sums[at.column + lane + (at.row + further) * fold.ld_sums];
        if (at.row + lane < fold.n && at.column + further < fold.n)
            own[i] = sums[at.row + lane + (at.column + further) * fold.ld_sums];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < extent / lines_at_a_time; i++) {
        const int further = line + i * lines_at_a_time;
        const int64_t row = at.row + lane, column = at.column + further;
        if (row < fold.n && column < fold.n && (fold.upper ? row <= column : row >= column))
            write(fold, static_cast<number *>(fold.c) + row + column * fold.ldc, own[i],
                  mirrored[lane][further], row == column);
    }
}

} // namespace fold

#define TB_FOLD_STAMP(symbol, real, parts)                                                                   \
    extern "C" __global__ void __launch_bounds__(TB_FOLD_THREADS)                                            \
        symbol(const __grid_constant__ tb_fold arguments)                                                    \
    {                                                                                                        \
        fold::run<fold::number<real, parts>>(arguments);                                                     \
    }

TB_FOLD_STAMP(fold_fp32, float, 1)
TB_FOLD_STAMP(fold_fp64, double, 1)
TB_FOLD_STAMP(fold_fp32_complex, float, 2)
TB_FOLD_STAMP(fold_fp64_complex, double, 2)
