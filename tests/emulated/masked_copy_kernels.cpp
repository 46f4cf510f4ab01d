/* The kernels of masked copies. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/masked/masked_copy.h"

#define KERNELS(X) X(masked_copy_fp32) X(masked_copy_fp64)

#define DECLARE(symbol) extern "C" void symbol(const tb_masked_arguments arguments);
KERNELS(DECLARE)

const emulated_row emulated_rows[] = {
#define ROW(symbol) {#symbol, emulated_call<tb_masked_arguments, symbol>},
    KERNELS(ROW){nullptr, nullptr}};
