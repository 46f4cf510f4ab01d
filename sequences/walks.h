/* The sequences, as tb_walk, tb_blocks_of and tb_workspace_of have them (sequence.h). Those without a
 * function here have one block, or need no workspace. */
#ifndef TB_WALKS_H
#define TB_WALKS_H

#include "sequences/sequence.h"

tb_status tb_walk_solve(const tb_product *task, int64_t small, tb_visitor *visitor);
int tb_solve_blocks(const tb_product *task, int64_t blocks[TB_BLOCKS_MOST]);

tb_status tb_walk_triangle_times(const tb_product *task, int64_t pieces, void *workspace,
                                 tb_visitor *visitor);
int tb_triangle_times_blocks(const tb_product *task, int64_t blocks[TB_BLOCKS_MOST]);
size_t tb_triangle_times_workspace(const tb_product *task);

#endif
