/* Launching the tensor-core families. */
#ifndef TB_LAUNCH_TENSOR_H
#define TB_LAUNCH_TENSOR_H

#include "kernels/catalog.h"
#include "kernels/tensor/split.h"

/* Position in the entries of a row; the last only where operands are scaled. */
enum {
    TB_SPLIT_BEGIN,
    TB_SPLIT_SPLIT,
    TB_SPLIT_MULTIPLY_WIDE,
    TB_SPLIT_MULTIPLY_NARROW,
    TB_SPLIT_FIND_LARGEST
};

/* The catalog's callbacks: six products of three BF16 parts, all nine, and three products of two FP16 parts. */
#define TB_SPLIT_DECLARE(family)                                                                             \
    size_t tb_##family##_workspace(const tb_launcher *launcher, const tb_kernel *kernel,                     \
                                   const tb_problem *problem);                                               \
    double tb_##family##_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors);    \
    tb_status tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                       \
                                 const tb_problem *problem, void *workspace)

TB_SPLIT_DECLARE(bf16x6);
TB_SPLIT_DECLARE(bf16x9);
TB_SPLIT_DECLARE(fp16x3);

#endif
