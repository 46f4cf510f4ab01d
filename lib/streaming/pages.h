/* Pages of the program's memory that nobody has touched yet: an array that was just allocated. The first
 * write to each traps into the kernel, which takes longer than the copy that writes; threads that have
 * nothing else to do can see to it ahead.
 */
#ifndef TB_PAGES_H
#define TB_PAGES_H

#include "lib/streaming/stairs.h"

#include <stdbool.h>
#include <stddef.h>

/* rows of row_bytes each, pitch bytes apart: a C that is going to be written. What it holds, and what lies in
 * pages of its gaps alone, or of what the stairs leave out of it, stays as it is: nobody may ever want them. */
typedef struct tb_pages {
    char *memory;
    size_t pitch, row_bytes, rows;
    tb_stairs stairs;
} tb_pages;

/* Whether some are likely to be missing, and rows are long enough for touching them to pay. Takes some
 * microseconds. */
bool tb_pages_are_missing(const tb_pages *pages);

/* The page of a byte, by this thread, and so its fault where there is none. What the byte holds stays as it is,
 * whoever else writes it. */
static inline void tb_touch_to_read(const char *byte)
{
    (void)*(const volatile char *)byte;
}

static inline void tb_touch_to_write(char *byte)
{
    __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
}

/* Finds pages that another process has made of memory that both map: a read finds all those around it that are there, as the kernel
 * does it, where a write finds one. */
#define TB_FOUND_TOGETHER ((size_t)64 << 10)
static inline void tb_find_pages(const char *memory, size_t bytes)
{
    for (size_t byte = 0; byte < bytes; byte += TB_FOUND_TOGETHER)
        tb_touch_to_read(memory + byte);
    if (bytes > 0)
        tb_touch_to_read(memory + bytes - 1);
}

/* Makes them present and writable, a piece at a time, by as many threads as there are. */
size_t tb_count_pieces(const tb_pages *pages);
void tb_touch_piece(const tb_pages *pages, size_t piece);

#endif
