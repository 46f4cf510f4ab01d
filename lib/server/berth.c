#include "lib/server/berth.h"

#include "lib/device/platform.h"

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
static void make_pages(char *mapped, uint64_t bytes)
{
    const uint64_t at_a_time = (uint64_t)1 << 20;
    for (uint64_t first = 0; first < bytes; first += at_a_time) {
        const uint64_t count = bytes - first < at_a_time ? bytes - first : at_a_time;
        if (madvise(mapped + first, count, MADV_POPULATE_WRITE) != 0)
            memset(mapped + first, 0, count);
    }
}

static void *map(int file, uint64_t bytes)
{
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    make_pages(mapped, bytes);
    return mapped;
}

bool tb_make_berth(tb_berth *berth, uint64_t slots_bytes)
{
    *berth = (tb_berth){.slots_bytes = slots_bytes,
                        .wire_file = make_file("tileblas wire", sizeof(tb_wire)),
                        .slots_file = make_file("tileblas slots", slots_bytes)};
    berth->wire = map(berth->wire_file, sizeof(tb_wire));
    char *slots = map(berth->slots_file, slots_bytes);
    if (slots && tb_platform.pin(slots, slots_bytes) == TB_OK)
        berth->slots = slots;
    else if (slots)
        munmap(slots, slots_bytes);
    berth->hears_devices = berth->wire && tb_platform.pin((void *)berth->wire, sizeof *berth->wire) == TB_OK;
    if (berth->wire && berth->slots)
        return true;
    tb_unmake_berth(berth);
    return false;
}

void tb_clean_berth(tb_berth *berth)
{
    memset(berth->wire, 0, sizeof *berth->wire);
    memset(berth->slots, 0, berth->slots_bytes);
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
        tb_platform.unpin(berth->slots);
        munmap(berth->slots, berth->slots_bytes);
    }
    if (berth->hears_devices)
        tb_platform.unpin((void *)berth->wire);
    if (berth->wire)
        munmap((void *)berth->wire, sizeof(tb_wire));
    *berth = (tb_berth){.wire_file = -1, .slots_file = -1};
}
