/* Memory that ends where none may be touched. Header only. */
#ifndef TB_EMULATED_GUARDED_H
#define TB_EMULATED_GUARDED_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct memory {
    char *pages, *start;
    size_t bytes;
} memory;

enum { GUARD_BYTES = 4096 }; /* a page */

/* Makes so many bytes before a page that may not be touched, all of them 0xff: NaN. */
static inline memory guarded(size_t bytes)
{
    const size_t pages = (bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
    memory memory = {.bytes = pages + GUARD_BYTES};
    memory.pages = mmap(NULL, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.pages == MAP_FAILED)
        abort();
    memset(memory.pages, 0xff, pages);
    mprotect(memory.pages + pages, GUARD_BYTES, PROT_NONE);
    memory.start = memory.pages + pages - bytes;
    return memory;
}

/* Makes so many bytes, all of them 0, of which only pages that are touched take memory. */
static inline memory untouched(size_t bytes)
{
    memory memory = {.bytes = bytes};
    memory.pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory.pages == MAP_FAILED)
        abort();
    memory.start = memory.pages;
    return memory;
}

/* The first byte that may not be touched. */
static inline char *guard_of(const memory *memory)
{
    return memory->pages + memory->bytes - GUARD_BYTES;
}

static inline void release(memory *memory)
{
    munmap(memory->pages, memory->bytes);
}

#endif
