/* Some shapes of dgemm_mma: with slices of k and without, with totals and without, of three stages and of
 * four; with warps that copy alone. And what adds up parts of tiles. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/fp64/dgemm_mma.h"

#define TRANSPOSITIONS(X, shape, suffix)                                                                     \
    X(dgemm_mma_##shape##_nn##suffix)                                                                        \
    X(dgemm_mma_##shape##_nt##suffix)                                                                        \
    X(dgemm_mma_##shape##_tn##suffix)                                                                        \
    X(dgemm_mma_##shape##_tt##suffix)
#define SHAPE(X, shape) TRANSPOSITIONS(X, shape, ) TRANSPOSITIONS(X, shape, _vector)
/* EMULATED_FEW: those that tests take where they do not take all (CMakeLists.txt). */
#ifdef EMULATED_COMPLEX
#define NUMBERS(X, shape)                                                                                    \
    X(zgemm_mma_##shape##_nn)                                                                                \
    X(zgemm_mma_##shape##_nt)                                                                                \
    X(zgemm_mma_##shape##_tn)                                                                                \
    X(zgemm_mma_##shape##_tt)
#ifdef EMULATED_FEW
#define KERNELS(X) NUMBERS(X, 32x32) NUMBERS(X, 64x64_3) X(dgemm_mma_reduce)
#else
#define KERNELS(X)                                                                                           \
    NUMBERS(X, 32x32)                                                                                        \
    NUMBERS(X, 64x32)                                                                                        \
    NUMBERS(X, 64x64)                                                                                        \
    NUMBERS(X, 64x64_3) NUMBERS(X, 128x64) NUMBERS(X, 128x128) X(dgemm_mma_reduce)
#endif
#elif defined EMULATED_FEW
#define KERNELS(X)                                                                                           \
    SHAPE(X, 32x32)                                                                                          \
    SHAPE(X, 64x64_2) TRANSPOSITIONS(X, 64x64_4, ) SHAPE(X, 128x64_8) X(dgemm_mma_reduce)
#else
#define KERNELS(X)                                                                                           \
    SHAPE(X, 32x32)                                                                                          \
    SHAPE(X, 32x64_2)                                                                                        \
    SHAPE(X, 64x32)                                                                                          \
    SHAPE(X, 64x64_2)                                                                                        \
    SHAPE(X, 64x64_3)                                                                                        \
    TRANSPOSITIONS(X, 64x64_4, )                                                                             \
    SHAPE(X, 128x64) SHAPE(X, 128x64_8) SHAPE(X, 128x128) X(dgemm_mma_reduce)
#endif

#define DECLARE(symbol) extern "C" void symbol(const tb_dgemm_arguments arguments);
KERNELS(DECLARE)

const emulated_row emulated_rows[] = {
#define ROW(symbol) {#symbol, emulated_call<tb_dgemm_arguments, symbol>},
    KERNELS(ROW){nullptr, nullptr}};
