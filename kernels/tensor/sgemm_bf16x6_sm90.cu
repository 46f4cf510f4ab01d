/* sgemm_bf16x6_sm90: three launches, each taking the same arguments. The first clears what the second, the
 * pre-pass, finds out; the third multiplies, or leaves C to a SIMT kernel that is launched behind it.
 */
#include "kernels/tensor/sgemm_split_sm90.cuh"
#include "kernels/tensor/split_bf16.cuh"

/* Before the pre-pass: nothing is known yet. */
extern "C" __global__ void __launch_bounds__(32)
    sgemm_bf16x6_sm90_begin(const __grid_constant__ tb_split_arguments arguments)
{
    if (threadIdx.x < sizeof(tb_split_findings) / sizeof(uint32_t))
        reinterpret_cast<uint32_t *>(arguments.findings)[threadIdx.x] = 0;
}

extern "C" __global__ void __launch_bounds__(split::threads, split::blocks)
    sgemm_bf16x6_sm90_split(const __grid_constant__ tb_split_arguments arguments)
{
    if (blockIdx.x < arguments.split_blocks_a)
        split::split_block(split::operand_a(arguments), arguments.stages, blockIdx.x);
    else
        split::split_block(split::operand_b(arguments), arguments.stages,
                           blockIdx.x - arguments.split_blocks_a);
}

TB_SPLIT_STAMP(sgemm_bf16x6_sm90_128x192, 192)
TB_SPLIT_STAMP(sgemm_bf16x6_sm90_128x128, 128)
