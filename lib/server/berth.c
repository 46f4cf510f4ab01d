#include "lib/server/berth.h"

#include "lib/device/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A file in memory that nobody can make shorter: what is mapped stays there. -1: there is none. */
static int make_file(const char *name, uint64_t bytes)
{
    const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    close(file);
    return -1;
}

/* Pages are made a few at a time: the kernel makes threads that map memory meanwhile, as a driver's do, wait until it is done. */
static bool make_pages(char *mapped, uint64_t bytes)
{
    const uint64_t at_a_time = (uint64_t)1 << 20;
    for (uint64_t first = 0; first < bytes; first += at_a_time) {
        const uint64_t count = bytes - first < at_a_time ? bytes - first : at_a_time;
        if (madvise(mapped + first, count, MADV_POPULATE_WRITE) == 0)
            continue;
        if (errno != EINVAL) /* an older kernel */
            return false;
        memset(mapped + first, 0, count);
    }
    return true;
}

static void *map(int file, uint64_t bytes, uint64_t to_make)
{
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    if (make_pages(mapped, to_make))
        return mapped;
    munmap(mapped, bytes);
    return NULL;
}

static void make_wire(tb_berth *berth)
{
    berth->wire = map(berth->wire_file, sizeof(tb_wire), sizeof(tb_wire));
    berth->hears_devices = berth->wire && tb_platform.pin((void *)berth->wire, sizeof *berth->wire) == TB_OK;
}

static void make_slots(tb_berth *berth)
{
    const uint64_t bytes = tb_slots_after(&berth->extent, berth->extent.steps_most);
    char *slots = map(berth->slots_file, bytes, berth->extent.first);
    if (slots && tb_platform.pin(slots, berth->extent.first) == TB_OK)
        berth->slots = slots;
    else if (slots)
        munmap(slots, bytes);
}

bool tb_make_berth(tb_berth *berth, const tb_slots_extent *extent)
{
    *berth =
        (tb_berth){.extent = *extent,
                   .wire_file = make_file("tileblas wire", sizeof(tb_wire)),
                   .slots_file = make_file("tileblas slots", tb_slots_after(extent, extent->steps_most))};
    make_wire(berth);
    make_slots(berth);
    if (berth->wire && berth->slots)
        return true;
    tb_unmake_berth(berth);
    return false;
}

static char *step_of(const tb_berth *berth, uint32_t step)
{
    return berth->slots + tb_slots_after(&berth->extent, step);
}

bool tb_grow_berth(tb_berth *berth)
{
    const uint32_t steps = atomic_load(&berth->steps);
    if (steps == berth->extent.steps_most)
        return false;
    char *step = step_of(berth, steps);
    if (!make_pages(step, berth->extent.step) || tb_platform.pin(step, berth->extent.step) != TB_OK) {
        madvise(step, berth->extent.step, MADV_REMOVE);
        return false;
    }
    atomic_store(&berth->steps, steps + 1);
    atomic_store(&berth->wire->slots_steps, steps + 1);
    return true;
}

/* The memory goes, and so does what is in it. */
static void shrink(tb_berth *berth)
{
    while (berth->steps > 0)
        tb_platform.unpin(step_of(berth, --berth->steps));
    if (berth->extent.steps_most > 0)
        madvise(step_of(berth, 0), berth->extent.steps_most * berth->extent.step, MADV_REMOVE);
}

void tb_clean_berth(tb_berth *berth)
{
    shrink(berth);
    memset(berth->wire, 0, sizeof *berth->wire);
    memset(berth->slots, 0, berth->extent.first);
}

static void close_files(tb_berth *berth)
{
    if (berth->wire_file >= 0)
        close(berth->wire_file);
    if (berth->slots_file >= 0)
        close(berth->slots_file);
    berth->wire_file = berth->slots_file = -1;
}

void tb_unmake_berth(tb_berth *berth)
{
    close_files(berth);
    if (berth->slots) {
        shrink(berth);
        tb_platform.unpin(berth->slots);
        munmap(berth->slots, tb_slots_after(&berth->extent, berth->extent.steps_most));
    }
    if (berth->hears_devices)
        tb_platform.unpin((void *)berth->wire);
    if (berth->wire)
        munmap((void *)berth->wire, sizeof(tb_wire));
    *berth = (tb_berth){.wire_file = -1, .slots_file = -1};
}
