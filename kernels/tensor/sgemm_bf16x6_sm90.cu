/* sgemm_bf16x6_sm90: three launches, each taking the same arguments. The first clears what the second, the
 * pre-pass, finds out; the third multiplies, parts or FP32 numbers as they are. Where k is shared out, a fourth adds the
 * shares up.
 */
#include "kernels/tensor/sgemm_split_sm90.cuh"

TB_SPLIT_STAMP_BEGIN(sgemm_bf16x6_sm90_begin)
TB_SPLIT_STAMP_PASS(sgemm_bf16x6_sm90_split, split::split_block<split::bf16x3>)
TB_SPLIT_STAMP(sgemm_bf16x6_sm90_128x192, split_sm90::sgemm<split_sm90::layout<192, split::bf16x3>>)
TB_SPLIT_STAMP(sgemm_bf16x6_sm90_128x128, split_sm90::sgemm<split_sm90::layout<128, split::bf16x3>>)
TB_SPLIT_STAMP_ADD(sgemm_bf16x6_sm90_add_128x192,
                   split_sm90::add_shares<split_sm90::layout<192, split::bf16x3>>)
TB_SPLIT_STAMP_ADD(sgemm_bf16x6_sm90_add_128x128,
                   split_sm90::add_shares<split_sm90::layout<128, split::bf16x3>>)
