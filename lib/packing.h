/* Packing columns for their way to a device: see lib/packed.h. */
#ifndef TB_PACKING_H
#define TB_PACKING_H

#include "lib/packed.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Columns being packed, by several threads at once. */
typedef struct tb_packing {
    unsigned char *memory;
    int64_t rows, columns;
    int64_t wholes_most; /* that there is room for */
    atomic_llong wholes; /* more than that: the columns cannot be packed */
} tb_packing;

/* Whether this host packs as fast as it copies. */
bool tb_packs_fast(void);

/* Of so many rows, as many columns as always leave some room for blocks that travel as they are. */
int64_t tb_packing_columns(int64_t rows, size_t bytes);

void tb_packing_begin(tb_packing *packing, void *memory, size_t bytes, int64_t rows, int64_t columns);

/* By any thread, each column once. */
void tb_pack_column(tb_packing *packing, int64_t column, const float *data);

/* Bytes that have to travel, when all columns are packed; 0 when they cannot be packed. */
size_t tb_packing_end(tb_packing *packing);

#endif
