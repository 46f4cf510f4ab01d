#include "lib/streaming/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 and later */
#endif

/* With fewer pages the faults take less than seeing to them. */
#define LEAST_BYTES ((size_t)1 << 20)
/* Shorter rows with whole pages between them are not worth a call of the kernel each. */
#define LEAST_ROW ((size_t)64 << 10)

enum { SAMPLES = 8 };

static size_t page_bytes(void)
{
    static atomic_size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = (size_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

static bool has_wide_gaps(const tb_pages *pages)
{
    return pages->pitch - pages->row_bytes >= page_bytes();
}

static bool is_missing(const char *address)
{
    unsigned char present = 1;
    void *page = (void *)((uintptr_t)address / page_bytes() * page_bytes());
    return mincore(page, 1, &present) == 0 && !(present & 1);
}

static tb_row_part part_of(const tb_pages *pages, size_t row)
{
    return tb_part_of_row(&pages->stairs, pages->row_bytes, row);
}

static bool is_missing_at(const tb_pages *pages, size_t row, size_t at)
{
    const tb_row_part part = part_of(pages, row);
    if (part.end == 0)
        return false;
    at = at < part.begin ? part.begin : at < part.end ? at : part.end - 1;
    return is_missing(pages->memory + row * pages->pitch + at);
}

bool tb_pages_are_missing(const tb_pages *pages)
{
    const int error = errno;
    bool missing = false;
    if (pages->rows * pages->row_bytes < LEAST_BYTES ||
        (has_wide_gaps(pages) && pages->row_bytes < LEAST_ROW))
        return false;
    for (size_t i = 0; i < SAMPLES && !missing; i++)
        missing = is_missing_at(pages, (2 * i + 1) * pages->rows / (2 * SAMPLES),
                                i * (pages->row_bytes - 1) / (SAMPLES - 1));
    errno = error;
    return missing;
}

/* The kernel refuses what it does not know as it refuses pages that may not be written, so it is asked about
 * one that may. */
static bool kernel_populates(void)
{
    enum { UNKNOWN, YES, NO };
    static atomic_int answer;
    if (atomic_load_explicit(&answer, memory_order_relaxed) == UNKNOWN) {
        const size_t bytes = page_bytes();
        void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const bool does = page != MAP_FAILED && madvise(page, bytes, MADV_POPULATE_WRITE) == 0;
        if (page != MAP_FAILED)
            munmap(page, bytes);
        atomic_store_explicit(&answer, does ? YES : NO, memory_order_relaxed);
    }
    return atomic_load_explicit(&answer, memory_order_relaxed) == YES;
}

/* Older kernels: a byte of each page is written with what it holds, in one step, as the program's threads may
 * be writing beside C. Only bytes of C's own are touched. */
static void touch_each(char *first, const char *end)
{
    for (char *at = first; at < end;) {
        tb_touch_to_write(at);
        at = (char *)(((uintptr_t)at / page_bytes() + 1) * page_bytes());
    }
}

/* A piece is what lies in one large page, which two threads would clear twice; where columns have wide gaps,
 * or the kernel does not populate, it is about as many rows. */
#define PIECE_BYTES ((size_t)2 << 20)

static bool by_large_pages(const tb_pages *pages)
{
    return !has_wide_gaps(pages) && kernel_populates();
}

static char *end_of(const tb_pages *pages)
{
    return pages->memory + (pages->rows - 1) * pages->pitch + pages->row_bytes;
}

static uintptr_t first_large_page(const tb_pages *pages)
{
    return (uintptr_t)pages->memory / PIECE_BYTES * PIECE_BYTES;
}

static size_t rows_a_piece(const tb_pages *pages)
{
    return pages->pitch < PIECE_BYTES ? PIECE_BYTES / pages->pitch : 1;
}

size_t tb_count_pieces(const tb_pages *pages)
{
    if (by_large_pages(pages))
        return ((uintptr_t)end_of(pages) - first_large_page(pages) + PIECE_BYTES - 1) / PIECE_BYTES;
    return (pages->rows + rows_a_piece(pages) - 1) / rows_a_piece(pages);
}

/* From the beginning of the first one's page. */
static void populate(char *first, const char *end)
{
    char *page = (char *)((uintptr_t)first / page_bytes() * page_bytes());
    madvise(page, (size_t)(end - page), MADV_POPULATE_WRITE);
}

/* What the stairs leave of the rows there, together as far as no whole page lies between. */
static void populate_parts(const tb_pages *pages, char *first, const char *end)
{
    char *begun = NULL, *done = first;
    for (size_t row = (size_t)(first - pages->memory) / pages->pitch; row < pages->rows; row++) {
        const tb_row_part part = part_of(pages, row);
        char *start = pages->memory + row * pages->pitch, *from = start + part.begin, *to = start + part.end;
        if (start >= end)
            break;
        if (to <= first || from >= end || from == to)
            continue;
        if (begun && from >= done + page_bytes()) {
            populate(begun, done);
            begun = NULL;
        }
        begun = begun ? begun : from > first ? from : first;
        done = to;
    }
    if (begun)
        populate(begun, done < end ? done : end);
}

static void touch_large_page(const tb_pages *pages, size_t piece)
{
    char *first = (char *)(first_large_page(pages) + piece * PIECE_BYTES), *end = first + PIECE_BYTES;
    first = first > pages->memory ? first : pages->memory;
    end = end < end_of(pages) ? end : end_of(pages);
    if (pages->stairs.step_bytes > 0)
        populate_parts(pages, first, end);
    else
        populate(first, end);
}

void tb_touch_piece(const tb_pages *pages, size_t piece)
{
    const size_t most = rows_a_piece(pages);
    if (by_large_pages(pages)) {
        touch_large_page(pages, piece);
        return;
    }
    for (size_t row = piece * most; row < (piece + 1) * most && row < pages->rows; row++) {
        const tb_row_part part = part_of(pages, row);
        char *start = pages->memory + row * pages->pitch;
        if (part.end > 0)
            (kernel_populates() ? populate : touch_each)(start + part.begin, start + part.end);
    }
}
