/* Memory of large pages, as far as the kernel has any: for what is written once, as a whole, and would trap for each small one. */
#ifndef TB_LARGE_PAGES_H
#define TB_LARGE_PAGES_H

#include <stddef.h>

#define TB_LARGE_PAGE ((size_t)2 << 20)

/* So many bytes, a multiple of TB_LARGE_PAGE and at such a boundary, all 0; a forked child does not get them. NULL: there is no memory.
 * Signals are held back meanwhile. */
void *tb_map_large_pages(size_t bytes);
void tb_unmap_large_pages(void *memory, size_t bytes);

#endif
