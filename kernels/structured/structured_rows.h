/* What catalog.c stamps for products that are not plain: an entry serves every transposition. Their efficiency is naive's, not
 * measured. For catalog.c alone.
 */
#ifndef TB_STRUCTURED_ROWS_H
#define TB_STRUCTURED_ROWS_H

#include "kernels/structured/launch_structured.h"
#include "kernels/structured/structured.h"

#define TB_STRUCTURED_ENTRY(stem)                                                                            \
    static tb_entry entries_##stem[] = {{&module_structured, #stem, 0, NULL, 0, false}};

#define TB_STRUCTURED_ROW(stem, element_, words)                                                             \
    {                                                                                                        \
        .name = #stem, .summary = words ", operands read as they lie, one thread per element of C",          \
        .element = element_, .architecture = 75, .tile_m = TB_STRUCTURED_TILE_M,                             \
        .tile_n = TB_STRUCTURED_TILE_N, .tile_k = 1, .threads = TB_STRUCTURED_THREADS, .efficiency = 0.02,   \
        .blocks = TB_STRUCTURED_BLOCKS, .alignment = 1, .masks = true, .batches = true,                      \
        .reads = TB_READS_STRUCTURED, .entries = entries_##stem, .launch = tb_launch_structured,             \
    }

#endif
