/* Some shapes of sgemm_simt: with slices of k that are warps, that are several and with a single one; that
 * keep aligned operands along k by rows and that turn them. And what adds up parts of tiles. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/simt/simt.h"

#define TRANSPOSITIONS(X, shape, suffix)                                                                     \
    X(sgemm_simt_##shape##_nn##suffix)                                                                       \
    X(sgemm_simt_##shape##_nt##suffix)                                                                       \
    X(sgemm_simt_##shape##_tn##suffix)                                                                       \
    X(sgemm_simt_##shape##_tt##suffix)
#define SHAPE(X, shape) TRANSPOSITIONS(X, shape, ) TRANSPOSITIONS(X, shape, _vector)
#ifdef EMULATED_FEW /* those that tests take where they do not take all (CMakeLists.txt) */
#define KERNELS(X) SHAPE(X, 64x64_2) SHAPE(X, 64x64) X(sgemm_simt_reduce)
#else
#define KERNELS(X) SHAPE(X, 32x32_4) SHAPE(X, 64x64_2) SHAPE(X, 64x64) X(sgemm_simt_reduce)
#endif

#define DECLARE(symbol) extern "C" void symbol(const tb_simt_arguments arguments);
KERNELS(DECLARE)

const emulated_row emulated_rows[] = {
#define ROW(symbol) {#symbol, emulated_call<tb_simt_arguments, symbol>},
    KERNELS(ROW){nullptr, nullptr}};
