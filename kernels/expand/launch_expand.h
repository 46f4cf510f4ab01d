/* Writes operands out on the device: see expand.h. */
#ifndef TB_LAUNCH_EXPAND_H
#define TB_LAUNCH_EXPAND_H

#include "kernels/kernel.h"
#include "words/lowered.h"

/* Source and target do not overlap; or they are the same memory, of a general source that is neither transposed nor embedded.
 * The source is aligned to its reals, and so is the target. */
tb_status tb_launch_expand(const tb_launcher *launcher, const tb_expansion *expansion);

#endif
