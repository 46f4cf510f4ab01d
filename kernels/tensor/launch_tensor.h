/* Launching the tensor-core families. */
#ifndef TB_LAUNCH_TENSOR_H
#define TB_LAUNCH_TENSOR_H

#include "kernels/kernel.h"
#include "kernels/launch.h"
#include "kernels/tensor/schedule_tensor.h"
#include "kernels/tensor/split.h"
#include "words/integers.h"

/* Position in the entries of a row; the last only where operands are scaled. */
enum {
    TB_SPLIT_BEGIN,
    TB_SPLIT_SPLIT,
    TB_SPLIT_MULTIPLY_WIDE,
    TB_SPLIT_MULTIPLY_NARROW,
    TB_SPLIT_ADD_WIDE,
    TB_SPLIT_ADD_NARROW,
    TB_SPLIT_FIND_LARGEST /* or a survey */
};

/* What the launch functions of split products share: the passes before the product. */
tb_status tb_launch_split_passes(const tb_launcher *launcher, tb_entry *entries,
                                 const tb_split_arguments *arguments);

/* Stages of a block of a pass over so many rows of panels. */
int64_t tb_split_block_stages(const tb_launcher *launcher, int64_t rows, int64_t stages);

/* Tiles of a product by FP32 multiply-adds that touch its mask. */
static inline tb_masked_tiles tb_split_plain_tiles(const tb_product *product)
{
    return tb_masked_tiles_of(product, TB_SPLIT_PLAIN_TILE, TB_SPLIT_PLAIN_TILE, TB_SPLIT_GROUP);
}

/* How many blocks that are. */
static inline int64_t tb_split_blocks(int64_t rows, int64_t stages, int64_t block_stages)
{
    return rows / TB_SPLIT_BLOCK_ROWS * tb_ceil_div(stages, block_stages);
}

#endif
