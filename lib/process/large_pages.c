#include "lib/process/large_pages.h"

#include "lib/process/threads.h"

#include <stdint.h>
#include <sys/mman.h>

static void *map(size_t bytes)
{
    char *mapped =
        mmap(NULL, bytes + TB_LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)mapped % TB_LARGE_PAGE, behind = TB_LARGE_PAGE - before;
    if (before > 0)
        munmap(mapped, before);
    if (behind > 0)
        munmap(mapped + before + bytes, behind);
    madvise(mapped + before, bytes, MADV_HUGEPAGE);
    madvise(mapped + before, bytes, MADV_DONTFORK);
    return mapped + before;
}

void *tb_map_large_pages(size_t bytes)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    void *const mapped = map(bytes);
    tb_let_signals(&signals);
    return mapped;
}

void tb_unmap_large_pages(void *memory, size_t bytes)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    munmap(memory, bytes);
    tb_let_signals(&signals);
}
