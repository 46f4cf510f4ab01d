/* Pages that nobody has touched: they are told from others, touching makes them present, changes nothing in them, and leaves
 * those in gaps between columns alone. Once as this kernel does it, and once as one that cannot populate.
 */
#include "lib/streaming/pages.h"
#include "tests/check.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static bool can_populate = true;
static int populated;

int __real_madvise(void *address, size_t bytes, int advice);
int __wrap_madvise(void *address, size_t bytes, int advice);

/* The linker puts it in front of the real one. */
int __wrap_madvise(void *address, size_t bytes, int advice)
{
    if (!can_populate) {
        errno = EINVAL;
        return -1;
    }
    populated++;
    return __real_madvise(address, bytes, advice);
}

static char *fresh(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    __real_madvise(memory, bytes, MADV_NOHUGEPAGE); /* or one touch would bring 2 MiB */
    return memory;
}

static size_t present(const char *memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page;
    unsigned char *vector = malloc(pages);
    size_t count = 0;
    CHECK(vector && mincore((void *)(uintptr_t)memory, bytes, vector) == 0, "mincore failed");
    for (size_t i = 0; vector && i < pages; i++)
        count += vector[i] & 1;
    free(vector);
    return count;
}

static void touch_all(const tb_pages *pages)
{
    for (size_t piece = 0; piece < tb_count_pieces(pages); piece++)
        tb_touch_piece(pages, piece);
}

static void all_pages_come(void)
{
    const tb_pages pages = {.memory = fresh(4 * MIB), .pitch = 1000, .row_bytes = 1000, .rows = 4194};
    CHECK(tb_pages_are_missing(&pages), "fresh memory is taken for touched");
    touch_all(&pages);
    CHECK(!tb_pages_are_missing(&pages), "still missing");
    CHECK(present(pages.memory, 4 * MIB) == 1024, "%zu of 1024 pages", present(pages.memory, 4 * MIB));
    munmap(pages.memory, 4 * MIB);
}

static void what_they_hold_stays(void)
{
    const tb_pages pages = {.memory = fresh(4 * MIB), .pitch = MIB / 2, .row_bytes = MIB / 2, .rows = 8};
    for (size_t i = 0; i < MIB; i += 4)
        pages.memory[i] = (char)(i % 251);
    touch_all(&pages);
    size_t wrong = 0;
    for (size_t i = 0; i < 4 * MIB; i++)
        wrong += pages.memory[i] != (i < MIB && i % 4 == 0 ? (char)(i % 251) : 0);
    CHECK(wrong == 0, "%zu bytes have changed", wrong);
    munmap(pages.memory, 4 * MIB);
}

static void gaps_stay_as_they_are(void)
{
    const tb_pages pages = {.memory = fresh(8 * MIB), .pitch = MIB, .row_bytes = MIB / 4, .rows = 8};
    CHECK(tb_pages_are_missing(&pages), "fresh memory is taken for touched");
    touch_all(&pages);
    CHECK(present(pages.memory, 8 * MIB) == 512, "%zu pages instead of 512", present(pages.memory, 8 * MIB));
    munmap(pages.memory, 8 * MIB);
}

/* The last column ends where a page does, and its gap is half of the next one. */
static void pages_behind_the_last_column_stay_as_they_are(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = 4 * MIB / page;
    const tb_pages pages = {
        .memory = fresh(4 * MIB), .pitch = page / 2 * 3, .row_bytes = page, .rows = all / 2 + 1};
    const size_t expected = 3 * (pages.rows / 2) + 1;
    touch_all(&pages);
    CHECK(present(pages.memory, 4 * MIB) == expected, "%zu pages instead of %zu",
          present(pages.memory, 4 * MIB), expected);
    munmap(pages.memory, 4 * MIB);
}

static bool holds_a_part(const tb_pages *pages, const char *page, size_t page_bytes)
{
    for (size_t row = 0; row < pages->rows; row++) {
        const tb_row_part part = tb_part_of_row(&pages->stairs, pages->row_bytes, row);
        const char *start = pages->memory + row * pages->pitch;
        if (part.begin < part.end && start + part.begin < page + page_bytes && start + part.end > page)
            return true;
    }
    return false;
}

/* Columns shorter than a page and longer, in one large page and in several. */
static void what_stairs_leave_out_stays_as_it_is(void)
{
    static const size_t sides[] = {400, 600, 1024, 1500};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < 2 * sizeof sides / sizeof *sides; i++) {
        const size_t side = sides[i / 2], column = side * 8, bytes = (side * column + MIB - 1) / MIB * MIB;
        const bool upper = i % 2;
        const tb_pages pages = {.memory = fresh(bytes),
                                .pitch = column,
                                .row_bytes = column,
                                .rows = side,
                                .stairs = {.step_bytes = 8, .edge_bytes = upper ? 8 : 0, .ends = upper}};
        size_t expected = 0;
        for (size_t at = 0; at < bytes; at += page)
            expected += holds_a_part(&pages, pages.memory + at, page);
        CHECK(tb_pages_are_missing(&pages), "fresh memory is taken for touched");
        touch_all(&pages);
        CHECK(!tb_pages_are_missing(&pages), "still missing");
        CHECK(present(pages.memory, bytes) == expected, "%s triangle of %zu: %zu pages instead of %zu",
              upper ? "upper" : "lower", side, present(pages.memory, bytes), expected);
        munmap(pages.memory, bytes);
    }
}

static void small_and_scattered_matrices_are_left_alone(void)
{
    char *memory = fresh(8 * MIB);
    CHECK(!tb_pages_are_missing(&(tb_pages){memory, MIB / 8, MIB / 8, 4, {0}}), "half a MiB");
    CHECK(!tb_pages_are_missing(&(tb_pages){memory, MIB / 128, 2048, 1024, {0}}), "columns of 2 KiB");
    munmap(memory, 8 * MIB);
}

int main(int count, char **arguments)
{
    can_populate = count < 2 || strcmp(arguments[1], "old") != 0;
    all_pages_come();
    what_they_hold_stays();
    gaps_stay_as_they_are();
    pages_behind_the_last_column_stay_as_they_are();
    what_stairs_leave_out_stays_as_it_is();
    small_and_scattered_matrices_are_left_alone();
    CHECK(can_populate || populated == 0, "populated after all");
    return check_result();
}
