/* The objects of this process; see loaded_objects.h. */
#include "compat/loaded_objects.h"

#include "lib/process/references.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OWNER "TileBLAS"

/* A note is its header and then its owner's name, padded to whole words. */
typedef struct owner_note {
    ElfW(Nhdr) header;
    char owner[(sizeof OWNER + 3) / 4 * 4];
} owner_note;

/* The type is the width of the names that do not tell theirs, or 1, where that is the host's. */
static const owner_note note __attribute__((section(".note.tileblas"), aligned(4), used)) = {
    {.n_namesz = sizeof OWNER, .n_descsz = 0, .n_type = TB_PLAIN_BITS ? TB_PLAIN_BITS : 1}, OWNER};

/* The type of our note, 0 where an object has none. Notes of other owners in the same segment may be of any
 * length; ours begins on a word, so it is looked for at every word. */
static uint32_t find_note(const struct dl_phdr_info *info)
{
    owner_note found;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type != PT_NOTE)
            continue;
        for (size_t at = 0; at + sizeof note <= segment->p_memsz; at += 4) {
            memcpy(&found, start + at, sizeof found);
            if (found.header.n_namesz == note.header.n_namesz && found.header.n_descsz == 0 &&
                memcmp(found.owner, note.owner, sizeof found.owner) == 0)
                return found.header.n_type;
        }
    }
    return 0;
}

bool tb_is_tileblas(const struct dl_phdr_info *object, int *plain_bits)
{
    const uint32_t type = find_note(object);
    *plain_bits = type > 1 ? (int)type : 0;
    return type != 0;
}

tb_extent tb_extent_of(const struct dl_phdr_info *object)
{
    tb_extent extent = {UINTPTR_MAX, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        extent.begin = begin < extent.begin ? begin : extent.begin;
        extent.end = end > extent.end ? end : extent.end;
    }
    return extent;
}

struct search {
    const void *address; /* NULL: the object at the position */
    int position;
    int visited;
    tb_loaded_object *found;
};

/* Runs with the linker's lock held, so it opens nothing and only copies. */
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    int position = search->visited++;
    if (search->address ? !tb_object_contains(info, (uintptr_t)search->address)
                        : position != search->position)
        return 0;
    search->found->position = position;
    search->found->is_tileblas = tb_is_tileblas(info, &search->found->plain_bits);
    snprintf(search->found->path, sizeof search->found->path, "%s", info->dlpi_name);
    return 1;
}

static int visit_for_position(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    search->position++;
    return tb_object_contains(info, (uintptr_t)search->address);
}

int tb_find_position(const void *address)
{
    struct search search = {.address = address, .position = -1};
    return dl_iterate_phdr(visit_for_position, &search) ? search.position : -1;
}

struct extent_search {
    const void *address;
    tb_extent *found;
};

static int visit_for_extent(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const struct extent_search *search = data;
    if (!tb_object_contains(info, (uintptr_t)search->address))
        return 0;
    *search->found = tb_extent_of(info);
    return 1;
}

bool tb_find_extent(const void *address, tb_extent *extent)
{
    return dl_iterate_phdr(visit_for_extent, &(struct extent_search){address, extent}) != 0;
}

bool tb_find_object(const void *address, tb_loaded_object *object)
{
    return dl_iterate_phdr(visit, &(struct search){.address = address, .found = object}) != 0;
}

bool tb_find_object_at(int position, tb_loaded_object *object)
{
    return dl_iterate_phdr(visit, &(struct search){.position = position, .found = object}) != 0;
}

void *tb_open_object(const tb_loaded_object *object)
{
    return dlopen(*object->path ? object->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}
