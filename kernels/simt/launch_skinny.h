/* Launching the skinny family. */
#ifndef TB_LAUNCH_SKINNY_H
#define TB_LAUNCH_SKINNY_H

#include "kernels/kernel.h"
#include "kernels/simt/skinny.h"

/* Position in a row's entries: what is contiguous in the long operand, how it is copied where that is rows, and the extent's
 * place among 1, 2, 4, 8, 16. */
#define TB_SKINNY_ENTRY(bytes, k_contiguous, vector, extent_index)                                           \
    (((k_contiguous) ? 2 : (vector)) * TB_SKINNY_EXTENTS(bytes) + (extent_index))
#define TB_SKINNY_ENTRIES_COUNT(bytes) (3 * TB_SKINNY_EXTENTS(bytes))

/* From so many steps of k on, copies along k start where whole sectors do, wherever lines begin; with fewer the positions
 * without any k would count for more, and copies start at 16 bytes. */
#define TB_SKINNY_SECTORS_K 512

/* How a product is dealt to blocks. */
typedef struct tb_skinny_schedule {
    int entry;
    int warps, warps_k; /* of a block */
    int64_t tiles_short, tiles_long, rounds, pieces;
    int shifts, round_k;
    int cluster;   /* blocks that add up their pieces themselves; 1: none do */
    double clocks; /* forecast of all launches together, once they run */
} tb_skinny_schedule;

/* The catalog's callbacks, of both elements. */
TB_DECLARE_CALLBACKS(skinny);

#endif
