/* The kernels of dgemm_crt's row EMULATED_ROW, and the row that multiplies where integers do not serve, by their symbols. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/crt/crt.h"

#define TB_JOINED_(a, b) a##b
#define TB_JOINED(a, b)  TB_JOINED_(a, b)
#define TB_TEXT_(a)      #a
#define TB_TEXT(a)       TB_TEXT_(a)

#define CRT_KERNELS(X)                                                                                       \
    X(_survey)                                                                                               \
    X(_gather) X(_decide) X(_residues) X(_residues_of_pairs) X(_multiply) X(_multiply_pairs) X(_join)
#define NAIVE_KERNELS(X) X(dgemm_naive_nn) X(dgemm_naive_nt) X(dgemm_naive_tn) X(dgemm_naive_tt)

#define DECLARE_CRT(end)      extern "C" void TB_JOINED(EMULATED_ROW, end)(const tb_crt_arguments arguments);
#define DECLARE_NAIVE(symbol) extern "C" void symbol(const tb_dgemm problem);
CRT_KERNELS(DECLARE_CRT)
NAIVE_KERNELS(DECLARE_NAIVE)

const emulated_row emulated_rows[] = {
#define CRT_ROW(end)                                                                                         \
    {TB_TEXT(EMULATED_ROW) #end, emulated_call<tb_crt_arguments, TB_JOINED(EMULATED_ROW, end)>},
#define NAIVE_ROW(symbol) {#symbol, emulated_call<tb_dgemm, symbol>},
    CRT_KERNELS(CRT_ROW) NAIVE_KERNELS(NAIVE_ROW){nullptr, nullptr}};
