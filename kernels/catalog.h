/* The catalog: one row per kernel. Adding a kernel is writing its device code, its entries and one row in catalog.c. */
#ifndef TB_CATALOG_H
#define TB_CATALOG_H

#include "kernels/kernel.h"

/* All rows, preferred ones later. */
extern const tb_kernel tb_catalog[];
extern const size_t tb_catalog_size;

/* The number of a row, by which commands name it. */
static inline uint32_t tb_row_of(const tb_kernel *kernel)
{
    return (uint32_t)(kernel - tb_catalog);
}

/* NULL when no row has that name. */
const tb_kernel *tb_find_kernel(const char *name);

/* The one for plain products that every device runs, however small. */
const tb_kernel *tb_any_row(tb_element element);

#endif
