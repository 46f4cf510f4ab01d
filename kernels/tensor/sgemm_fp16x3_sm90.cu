/* sgemm_fp16x3_sm90: four launches, each taking the same arguments. The first clears what the next two find out, the
 * second finds the largest magnitude of every row of op(A) and column of op(B), the third scales and splits; the fourth
 * multiplies, parts or FP32 numbers as they are. Where k is shared out, a fifth adds the shares up.
 */
#include "kernels/tensor/sgemm_split_sm90.cuh"

TB_SPLIT_STAMP_BEGIN(sgemm_fp16x3_sm90_begin)
TB_SPLIT_STAMP_PASS(sgemm_fp16x3_sm90_largest, split::find_largest)
TB_SPLIT_STAMP_PASS(sgemm_fp16x3_sm90_split, split::split_block<split::fp16x2>)
TB_SPLIT_STAMP(sgemm_fp16x3_sm90_128x192, split_sm90::sgemm<split_sm90::layout<192, split::fp16x2>>)
TB_SPLIT_STAMP(sgemm_fp16x3_sm90_128x128, split_sm90::sgemm<split_sm90::layout<128, split::fp16x2>>)
TB_SPLIT_STAMP_ADD(sgemm_fp16x3_sm90_add_128x192,
                   split_sm90::add_shares<split_sm90::layout<192, split::fp16x2>>)
TB_SPLIT_STAMP_ADD(sgemm_fp16x3_sm90_add_128x128,
                   split_sm90::add_shares<split_sm90::layout<128, split::fp16x2>>)
