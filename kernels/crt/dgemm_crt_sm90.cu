/* dgemm_crt_sm90: six launches, each taking arguments of one type: a survey of both operands, what it has found put together, what is
 * concluded from that, the operands' residues, their products, and what those are joined to. A seventh multiplies the operands as they
 * are, with another row of the catalog, where that is what was decided.
 */
#include "kernels/crt/decide.cuh"
#include "kernels/crt/join.cuh"
#include "kernels/crt/residues.cuh"
#include "kernels/crt/tiles.cuh"
#include "kernels/crt/product_sm90.cuh"
#include "kernels/turn.cuh"

extern "C" __global__ void __launch_bounds__(TB_CRT_PASS_THREADS, TB_CRT_PASS_BLOCKS)
    dgemm_crt_sm90_survey(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    const int64_t blocks_a = crt::survey_blocks(arguments, arguments.a), block = blockIdx.x;
    if (block < blocks_a)
        crt::survey(arguments, arguments.a, block);
    else
        crt::survey(arguments, arguments.b, block - blocks_a);
}

extern "C" __global__ void __launch_bounds__(TB_CRT_PASS_THREADS, TB_CRT_PASS_BLOCKS)
    dgemm_crt_sm90_gather(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    const int64_t thread = int64_t(blockIdx.x) * TB_CRT_PASS_THREADS + threadIdx.x;
    if (thread < arguments.a.rows)
        crt::gather(arguments, arguments.a, thread);
    else if (thread - arguments.a.rows < arguments.b.rows)
        crt::gather(arguments, arguments.b, thread - arguments.a.rows);
}

extern "C" __global__ void __launch_bounds__(TB_CRT_DECIDE_THREADS, 1)
    dgemm_crt_sm90_decide(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    crt::decide(arguments);
}

extern "C" __global__ void __launch_bounds__(TB_CRT_PASS_THREADS, TB_CRT_PASS_BLOCKS)
    dgemm_crt_sm90_residues(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    const int count = arguments.decision->moduli;
    const int block = int(blockIdx.x);
    if (count == 0)
        return;
    if (block < arguments.passes[0])
        crt::make_residues(arguments.a, count, arguments.stages, block);
    else
        crt::make_residues(arguments.b, count, arguments.stages, block - arguments.passes[0]);
}

extern "C" __global__ void __cluster_dims__(TB_CRT_CLUSTER_BLOCKS, 1, 1) __launch_bounds__(TB_CRT_THREADS, 1)
    dgemm_crt_sm90_multiply(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    crt_sm90::multiply(arguments);
}

extern "C" __global__ void __launch_bounds__(TB_CRT_CONSUMERS)
    dgemm_crt_sm90_join(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    const int count = arguments.decision->moduli;
    if (count > 0)
        crt::join_as_decided<1>(arguments, count, blockIdx.x / TB_CRT_VECTORS, blockIdx.x % TB_CRT_VECTORS);
}
