/* Pinned memory on the CUDA driver: pages of our own, in large pages where the kernel has them, that are registered
 * with the driver. The driver's own allocation zeroes small pages one after the other: 3.0 ms for 8 MiB on an H200's
 * host, of which a first product wants nine. One thread zeroes large pages, and the driver registers them, in 2.0 ms;
 * here some threads do (docs/lab/starting.md).
 */
#include "lib/device/device_cuda.h"

#include "lib/process/large_pages.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <sys/mman.h>

#define SMALL_PAGE ((size_t)4 << 10)

/* Not tuned: a quarter of a small host's cores. */
enum { TOUCHING_THREADS = 4 };

/* Pages that some threads touch, a large one at a time. */
typedef struct touch {
    char *memory;
    size_t pages;
    atomic_size_t next;
    _Atomic(uint32_t) helpers; /* at work */
} touch;

static void touch_pages(touch *touch)
{
    for (size_t page; (page = atomic_fetch_add(&touch->next, 1)) < touch->pages;)
        for (size_t byte = 0; byte < TB_LARGE_PAGE; byte += SMALL_PAGE)
            *(volatile char *)(touch->memory + page * TB_LARGE_PAGE + byte) = 0;
}

static void *help(void *helped)
{
    touch *const touch = helped;
    touch_pages(touch);
    tb_count_down(&touch->helpers);
    return NULL;
}

/* The touch must stay until the last helper has said so: signals are held back, as who jumps out would take it away. */
static void touch_together(char *memory, size_t bytes)
{
    touch touch = {.memory = memory, .pages = bytes / TB_LARGE_PAGE};
    sigset_t before;
    tb_hold_signals(&before);
    for (int i = 1; i < TOUCHING_THREADS && (size_t)i < touch.pages; i++) {
        atomic_fetch_add(&touch.helpers, 1);
        if (!tb_start_thread(help, &touch))
            atomic_fetch_sub(&touch.helpers, 1);
    }
    touch_pages(&touch);
    tb_wait_for_none(&touch.helpers);
    tb_let_signals(&before);
}

/* ---- Registered ------------------------------------------------------------------------------------------- */

tb_status tb_cuda_pin(void *memory, size_t bytes)
{
    return TB_IN_CONTEXT(tb_cuda_devices[tb_cuda_first_open].primary,
                         TB_CU(cuMemHostRegister, memory, bytes, CU_MEMHOSTREGISTER_PORTABLE));
}

/* ---- For the table ---------------------------------------------------------------------------------------- */

static bool is_mapped(size_t bytes)
{
    return bytes > 0 && bytes % TB_LARGE_PAGE == 0;
}

static tb_status allocate_mapped(size_t bytes, void **memory)
{
    void *pages = tb_map_large_pages(bytes);
    if (!pages)
        return TB_OUT_OF_MEMORY;
    touch_together(pages, bytes);
    const tb_status status = tb_cuda_pin(pages, bytes);
    if (status == TB_OK)
        *memory = pages;
    else
        tb_unmap_large_pages(pages, bytes);
    return status;
}

/* Where pages cannot be registered, the driver's own may still be had. */
tb_status tb_cuda_allocate_pinned(size_t bytes, void **memory)
{
    if (is_mapped(bytes) && allocate_mapped(bytes, memory) == TB_OK)
        return TB_OK;
    return TB_IN_CONTEXT(tb_cuda_devices[tb_cuda_first_open].primary,
                         TB_CU(cuMemHostAlloc, memory, bytes, CU_MEMHOSTALLOC_PORTABLE));
}

/* The driver tells whose they are: it does not unregister its own. */
void tb_cuda_release_pinned(void *memory, size_t bytes)
{
    if (is_mapped(bytes) && TB_WHILE_OTHERS_CAPTURE(TB_CU(cuMemHostUnregister, memory)) == TB_OK)
        munmap(memory, bytes);
    else
        (void)TB_WHILE_OTHERS_CAPTURE(TB_CU(cuMemFreeHost, memory));
}

void tb_cuda_unpin(void *memory)
{
    (void)TB_WHILE_OTHERS_CAPTURE(TB_CU(cuMemHostUnregister, memory));
}
