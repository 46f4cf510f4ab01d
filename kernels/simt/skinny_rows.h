/* What catalog.c stamps for products whose C has a short side: entries as TB_SKINNY_ENTRY orders them, and rows. For catalog.c
 * alone. */
#ifndef TB_SKINNY_ROWS_H
#define TB_SKINNY_ROWS_H

#include "kernels/built_code.h"
#include "kernels/simt/launch_skinny.h"
#include "kernels/simt/shapes.h"

#define TB_SKINNY_ENTRY_OF(stem, what, bytes, extent)                                                        \
    {                                                                                                        \
        &module_##stem, #stem what "_" #extent, TB_SKINNY_SHARED_BYTES(bytes, extent, 90), NULL, 0, TB_EARLY \
    }
#define TB_SKINNY_ENTRIES(stem, what, bytes)                                                                 \
    TB_SKINNY_ENTRY_OF(stem, what, bytes, 1), TB_SKINNY_ENTRY_OF(stem, what, bytes, 2),                      \
        TB_SKINNY_ENTRY_OF(stem, what, bytes, 4), TB_SKINNY_ENTRY_OF(stem, what, bytes, 8)
#define TB_SKINNY_ENTRIES_OF_FLOATS(what)                                                                    \
    TB_SKINNY_ENTRIES(sgemm_skinny, what, 4), TB_SKINNY_ENTRY_OF(sgemm_skinny, what, 4, 16)

/* The tile stands for the shapes that blocks have: see skinny.h. Chosen where reading the long operand takes long: from 16 MiB
 * on. */
#define TB_SKINNY_ROW(stem, element_, bytes, widest)                                                         \
    {                                                                                                        \
        .name = #stem, .summary = "C with a side of at most " #widest ", the long operand read once",        \
        .architecture = 75, .tile_m = 128, .tile_n = widest, .tile_k = 32,                                   \
        .threads = 32 * TB_SKINNY_WARPS(bytes, widest), .element = element_, .efficiency = 0.5,              \
        .blocks = TB_SKINNY_BLOCKS, .alignment = 1, .short_side = widest,                                    \
        .least_elements = 4 * TB_LONG_ELEMENTS / (bytes), .entries = entries_##stem,                         \
        .prepare = tb_skinny_prepare, .launch = tb_launch_skinny,                                            \
    }

#endif
