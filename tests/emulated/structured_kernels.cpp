/* The structured kernels. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/structured/structured.h"

#define KERNELS(X) X(sgemm_structured) X(dgemm_structured) X(cgemm_structured) X(zgemm_structured)

#define DECLARE(symbol) extern "C" void symbol(const tb_structured arguments);
KERNELS(DECLARE)

const emulated_row emulated_rows[] = {
#define ROW(symbol) {#symbol, emulated_call<tb_structured, symbol>},
    KERNELS(ROW){nullptr, nullptr}};
