/* The shape of sgemm_bf16x6_sm80, for its launch function, its row and its device code. Words as in split.h.
 *
 * Panels are the tile's rows on either side; a block's shared memory is a ring of stages, a chunk of A and a chunk of B
 * each. An A100 has 163 KiB a block, which leaves room for three; an H200 could hold a fourth.
 */
#ifndef TB_SPLIT_SM80_H
#define TB_SPLIT_SM80_H

#include "kernels/tensor/split.h"

#define TB_SPLIT_SM80_TILE        128
#define TB_SPLIT_SM80_GROUP       12 /* panels of A whose tiles are in flight together */
#define TB_SPLIT_SM80_THREADS     256
#define TB_SPLIT_SM80_RING_STAGES 3
#define TB_SPLIT_SM80_CHUNK_BYTES (TB_SPLIT_BF16_ROW_BYTES * TB_SPLIT_SM80_TILE)
#define TB_SPLIT_SM80_RING_BYTES  (TB_SPLIT_SM80_RING_STAGES * 2 * TB_SPLIT_SM80_CHUNK_BYTES)

#endif
