/* expand_fp64: writes operands out whose numbers are double precision, real and complex; of batches complex
 * ones. A complex one is 16 bytes by itself. */
#include "kernels/expand/expand.cuh"

TB_EXPAND_STAMP(expand_fp64, double, 1, 1, false)
TB_EXPAND_STAMP(expand_fp64_vector, double, 1, TB_EXPAND_VECTOR(8), false)
TB_EXPAND_STAMP(expand_fp64_complex, double, 2, 1, false)
TB_EXPAND_STAMP(expand_fp64_complex_batch, double, 2, 1, true)
