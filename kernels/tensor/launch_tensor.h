/* Launching the tensor-core families. */
#ifndef TB_LAUNCH_TENSOR_H
#define TB_LAUNCH_TENSOR_H

#include "kernels/catalog.h"
#include "kernels/tensor/split.h"

/* Position in the entries of a row. */
enum { TB_SPLIT_BEGIN, TB_SPLIT_SPLIT, TB_SPLIT_MULTIPLY_WIDE, TB_SPLIT_MULTIPLY_NARROW };

/* The catalog's callbacks: six products of parts, or all nine. */
size_t tb_split_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem);
double tb_bf16x6_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors);
tb_status tb_launch_bf16x6(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                           void *workspace);
double tb_bf16x9_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors);
tb_status tb_launch_bf16x9(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                           void *workspace);

#endif
