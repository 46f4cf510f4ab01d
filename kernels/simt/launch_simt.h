/* Launching the SIMT family. */
#ifndef TB_LAUNCH_SIMT_H
#define TB_LAUNCH_SIMT_H

#include "kernels/kernel.h"
#include "kernels/simt/schedule_simt.h"
#include "kernels/simt/simt.h"

/* Position in a row's entries of the kernels that copy 16 bytes at a time; those before take any address. */
#define TB_SIMT_VECTOR 4

#define TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k, slices)                                                  \
    ((TB_SIMT_PANEL_FLOATS(tile_m, tile_k, slices) + TB_SIMT_PANEL_FLOATS(tile_n, tile_k, slices)) *         \
     (int)sizeof(float))

#endif
