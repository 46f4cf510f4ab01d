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

/* So many bytes before a page that may not be touched, all of them 0xff: NaN. */
static inline memory guarded(size_t bytes)
{
    enum { PAGE = 4096 };
    const size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    memory memory = {.bytes = pages + PAGE};
    memory.pages = mmap(NULL, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.pages == MAP_FAILED)
        abort();
    memset(memory.pages, 0xff, pages);
    mprotect(memory.pages + pages, PAGE, PROT_NONE);
    memory.start = memory.pages + pages - bytes;
    return memory;
}

static inline void release(memory *memory)
{
    munmap(memory->pages, memory->bytes);
}

#endif
