/* What kernels that multiply parts do where operands are none that parts hold (plain.cuh), by itself. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/simt/sgemm_simt.cuh"

/* plain.cuh has its arguments in shared memory behind the stages: here that is memory of its own, as blocks
 * run one after the other. */
#undef __shared__
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __noinline__     __attribute__((noinline))
#include "kernels/tensor/plain.cuh"

namespace split
{
alignas(128) char memory[plain_bytes];
}

extern "C" {
extern const int emulated_plain_threads = split::plain_shape::threads,
                 emulated_plain_bytes = split::plain_arguments_offset;
}

static void sgemm_plainly(const tb_split_arguments arguments)
{
    split::sgemm_plainly(arguments);
}

const emulated_row emulated_rows[] = {{"sgemm_plainly", emulated_call<tb_split_arguments, sgemm_plainly>},
                                      {nullptr, nullptr}};
