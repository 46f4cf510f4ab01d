/* sgemm_split_sm90: the format of the parts is chosen on the device, and every launch takes the same arguments. The first clears
 * what the second, a survey of both operands, finds out: the largest magnitude of every row of op(A) and column of op(B), and
 * how far the others lie below it. Where that leaves all sums large enough (findings.cuh), the third splits the operands into
 * two FP16 parts, with FP8 for what they miss, else into three BF16 parts; the fourth multiplies the one kind or the other, or
 * FP32 numbers as they are. Where k is shared out, a fifth adds the shares up.
 */
#include "kernels/tensor/sgemm_split_sm90.cuh"
#include "kernels/tensor/survey.cuh"

namespace split_sm90
{

template <int tile_n> __device__ __forceinline__ void sgemm_as_chosen(const tb_split_arguments &arguments)
{
    if (split::is_narrow(arguments)) /* and so within the range of FP16 */
        multiply_in_range<layout<tile_n, split::fp16x2_fp8>>(arguments);
    else
        sgemm<layout<tile_n, split::bf16x3>>(arguments);
}

template <int tile_n> __device__ inline void add_as_chosen(const tb_split_arguments &arguments)
{
    if (split::is_narrow(arguments))
        add_shares<layout<tile_n, split::fp16x2_fp8>>(arguments);
    else
        add_shares<layout<tile_n, split::bf16x3>>(arguments);
}

} // namespace split_sm90

TB_SPLIT_STAMP_BEGIN(sgemm_split_sm90_begin)
TB_SPLIT_STAMP(sgemm_split_sm90_128x192, split_sm90::sgemm_as_chosen<192>)
TB_SPLIT_STAMP(sgemm_split_sm90_128x128, split_sm90::sgemm_as_chosen<128>)
TB_SPLIT_STAMP_ADD(sgemm_split_sm90_add_128x192, split_sm90::add_as_chosen<192>)
TB_SPLIT_STAMP_ADD(sgemm_split_sm90_add_128x128, split_sm90::add_as_chosen<128>)

extern "C" __global__ void __launch_bounds__(split::threads, split::blocks)
    sgemm_split_sm90_survey(const __grid_constant__ tb_split_arguments arguments)
{
    dependent_launch::launch_dependents_and_wait();
    const int64_t blocks_b = split::survey_blocks(split::operand_b(arguments), arguments), block = blockIdx.x;
    if (block < blocks_b)
        split::survey(split::operand_b(arguments), arguments, block);
    else
        split::survey(split::operand_a(arguments), arguments, block - blocks_b);
}

extern "C" __global__ void __launch_bounds__(split::threads, split::blocks)
    sgemm_split_sm90_split(const __grid_constant__ tb_split_arguments arguments)
{
    dependent_launch::launch_dependents_and_wait();
    if (split::is_narrow(arguments))
        split::split_as_chosen<split::fp16x2_fp8>(arguments, TB_SPLIT_MIXED);
    else
        split::split_as_chosen<split::bf16x3>(arguments, TB_SPLIT_BF16);
}
