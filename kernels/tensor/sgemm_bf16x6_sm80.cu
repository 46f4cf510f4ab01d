/* sgemm_bf16x6_sm80: three launches, each taking the same arguments. The first clears what the second, the
 * pre-pass, finds out; the third multiplies, parts or FP32 numbers as they are.
 */
#include "kernels/tensor/sgemm_split_sm80.cuh"

TB_SPLIT_STAMP_BEGIN(sgemm_bf16x6_sm80_begin)
TB_SPLIT_STAMP_PASS(sgemm_bf16x6_sm80_split, split::split_block<split::bf16x3>)

extern "C" __global__ void __launch_bounds__(split_sm80::threads, 1)
    sgemm_bf16x6_sm80_128x128(const __grid_constant__ tb_split_arguments arguments)
{
    split_sm80::sgemm(arguments);
}
