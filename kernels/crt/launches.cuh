/* The launches of dgemm_crt, each taking arguments of one type: a survey of both operands, what it has found put together, what
 * is concluded from that, the operands' residues, their products, and what those are joined to. One more multiplies the operands
 * as they are, by another row of the catalog, where that is what was decided.
 */
#pragma once

#include "kernels/crt/decide.cuh"
#include "kernels/crt/join.cuh"
#include "kernels/crt/residues.cuh"
#include "kernels/crt/scout.cuh"
#include "kernels/dependent_launch.cuh"

namespace crt
{

/* The scout comes first, then B's blocks, and then A's, which have nothing to do where A is known. */
__device__ inline void survey_operands(const tb_crt_arguments &arguments)
{
    const int blocks_b = arguments.same ? 0 : survey_blocks(arguments, arguments.b),
              block = int(blockIdx.x) - TB_CRT_SCOUTS;
    if (block < 0) {
        if (!knows_a(arguments))
            scout(arguments);
    } else if (!__syncthreads_or(is_given_up(arguments))) { /* the same for all threads */
        if (block < blocks_b)
            survey(arguments, arguments.b, block);
        else if (!knows_a(arguments))
            survey(arguments, arguments.a, block - blocks_b);
    }
}

__device__ inline void gather_records(const tb_crt_arguments &arguments)
{
    if (is_given_up(arguments))
        return;
    const int64_t thread = int64_t(blockIdx.x) * TB_CRT_PASS_THREADS + threadIdx.x;
    const int64_t rows_a = knows_a(arguments) ? 0 : arguments.a.rows,
                  rows_b = arguments.same ? 0 : arguments.b.rows;
    if (thread < rows_a)
        gather(arguments, arguments.a, thread);
    else if (thread - rows_a < rows_b)
        gather(arguments, arguments.b, thread - rows_a);
}

} // namespace crt

#define TB_CRT_STAMP_ONE(symbol, threads, blocks, body)                                                      \
    extern "C" __global__ void __launch_bounds__(threads, blocks)                                            \
        symbol(const __grid_constant__ tb_crt_arguments arguments)                                           \
    {                                                                                                        \
        dependent_launch::launch_dependents_and_wait();                                                      \
        body(arguments);                                                                                     \
    }

#define TB_CRT_STAMP(name, tile_n)                                                                           \
    TB_CRT_STAMP_ONE(name##_survey, TB_CRT_PASS_THREADS, TB_CRT_PASS_BLOCKS, crt::survey_operands)           \
    TB_CRT_STAMP_ONE(name##_gather, TB_CRT_PASS_THREADS, TB_CRT_PASS_BLOCKS, crt::gather_records)            \
    TB_CRT_STAMP_ONE(name##_decide, TB_CRT_DECIDE_THREADS, 1, crt::decide)                                   \
    TB_CRT_STAMP_ONE(name##_residues, TB_CRT_PIECE_THREADS, TB_CRT_PIECE_BLOCKS, crt::make_residues)         \
    TB_CRT_STAMP_ONE(name##_residues_of_pairs, TB_CRT_PIECE_THREADS, TB_CRT_PAIRS_BLOCKS,                    \
                     crt::make_residues_of_pairs)                                                            \
    TB_CRT_STAMP_ONE(name##_join, TB_CRT_CONSUMERS, TB_CRT_JOIN_BLOCKS, crt::join_tile<tile_n>)
