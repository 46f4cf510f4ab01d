/* expand_fp32: writes operands out whose numbers are single precision, real and complex; of batches complex ones. */
#include "kernels/expand/expand.cuh"

TB_EXPAND_STAMP(expand_fp32, float, 1, 1, false)
TB_EXPAND_STAMP(expand_fp32_vector, float, 1, TB_EXPAND_VECTOR(4), false)
TB_EXPAND_STAMP(expand_fp32_complex, float, 2, 1, false)
TB_EXPAND_STAMP(expand_fp32_complex_vector, float, 2, TB_EXPAND_VECTOR(8), false)
TB_EXPAND_STAMP(expand_fp32_complex_batch, float, 2, 1, true)
TB_EXPAND_STAMP(expand_fp32_complex_batch_vector, float, 2, TB_EXPAND_VECTOR(8), true)
