/* What all SGEMM kernels share on the device: the stamping of the four transpositions, the order in which
 * blocks take tiles of C, guarded 16-byte loads, and alpha and beta on the way out.
 *
 * Words: the outer dimension of A is m, that of B is n; an operand is k-contiguous when neighbours in memory
 * are neighbours along k (A transposed, B not transposed).
 */
#pragma once

#include "kernels/sgemm.h"

/* Defines <name>_nn, _nt, _tn and _tt around the device function template body<transpose_a, transpose_b>. */
#define TB_STAMP_TRANSPOSITIONS(name, body, threads, blocks_per_multiprocessor)                              \
    TB_STAMP(name##_nn, (body<false, false>), threads, blocks_per_multiprocessor)                            \
    TB_STAMP(name##_nt, (body<false, true>), threads, blocks_per_multiprocessor)                             \
    TB_STAMP(name##_tn, (body<true, false>), threads, blocks_per_multiprocessor)                             \
    TB_STAMP(name##_tt, (body<true, true>), threads, blocks_per_multiprocessor)

#define TB_STAMP(symbol, body, threads, blocks_per_multiprocessor)                                           \
    extern "C" __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)                         \
        symbol(const __grid_constant__ tb_sgemm problem)                                                   \
    {                                                                                                        \
        body(problem);                                                                                       \
    }

/* Blocks a multiprocessor that a kernel asks for before sm_100; from there on the same code takes more registers, and asking
 * would make it spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define TB_BLOCKS_BEFORE_100(blocks) 1
#else
#define TB_BLOCKS_BEFORE_100(blocks) blocks
#endif

namespace tb
{

struct tile {
    int64_t m, n; /* first row and column of C */
};

/* Blocks take tiles in columns of C grouped by `group` so that the blocks in flight share panels of A and B
 * in L2: within a group, consecutive blocks go along n first. */
template <int tile_m, int tile_n, int group = 8>
__device__ inline tile tile_at(const tb_sgemm &problem, unsigned index)
{
    const unsigned tiles_m = unsigned((problem.m + tile_m - 1) / tile_m);
    const unsigned tiles_n = unsigned((problem.n + tile_n - 1) / tile_n);
    const unsigned group_size = min(unsigned(group), tiles_n) * tiles_m;
    const unsigned group_index = index / group_size, within = index % group_size;
    const unsigned first_n = group_index * group;
    const unsigned width = min(unsigned(group), tiles_n - first_n);
    return {int64_t(within / width) * tile_m, int64_t(first_n + within % width) * tile_n};
}

template <int tile_m, int tile_n> __device__ inline tile tile_of_block(const tb_sgemm &problem)
{
    return tile_at<tile_m, tile_n>(problem, blockIdx.x);
}

/* Four floats from a 16-byte aligned address, of which only the first `remaining` exist. */
__device__ inline float4 load_float4(const float *address, int64_t remaining)
{
    if (remaining >= 4)
        return *reinterpret_cast<const float4 *>(address);
    float4 value = make_float4(0, 0, 0, 0);
    if (remaining > 0)
        value.x = address[0];
    if (remaining > 1)
        value.y = address[1];
    if (remaining > 2)
        value.z = address[2];
    return value;
}

/* alpha * sum + beta * c, where beta = 0 means that c holds nothing worth reading. */
__device__ inline float combine(const tb_sgemm &problem, float sum, const float *c)
{
    const float product = problem.alpha * sum;
    return problem.beta == 0 ? product : fmaf(problem.beta, *c, product);
}

} // namespace tb
