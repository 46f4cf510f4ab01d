/* The kernels that fold. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/fold/fold.h"

#define KERNELS(X) X(fold_fp32) X(fold_fp64) X(fold_fp32_complex) X(fold_fp64_complex)

#define DECLARE(symbol) extern "C" void symbol(const tb_fold arguments);
KERNELS(DECLARE)

const emulated_row emulated_rows[] = {
#define ROW(symbol) {#symbol, emulated_call<tb_fold, symbol>},
    KERNELS(ROW){nullptr, nullptr}};
