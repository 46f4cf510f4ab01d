/* The objects of this process; see loaded_objects.h. */
#include "compat/loaded_objects.h"

#include "lib/process/references.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
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

/* Tools that edit files leave notes behind that lie nowhere in memory. */
static bool is_readable(const struct dl_phdr_info *info, const ElfW(Phdr) * part)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && part->p_memsz <= segment->p_memsz &&
            part->p_vaddr - segment->p_vaddr <= segment->p_memsz - part->p_memsz)
            return true;
    }
    return false;
}

/* The type of our note, 0 where an object has none. Notes of other owners in the same segment may be of any
 * length; ours begins on a word, so it is looked for at every word. */
static uint32_t find_note(const struct dl_phdr_info *info)
{
    owner_note found;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type != PT_NOTE || !is_readable(info, segment))
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
    const void *address;
    int visited;
    tb_loaded_object *found;
};

/* Runs with the linker's lock held, so it opens nothing and only copies. */
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    int position = search->visited++;
    if (!tb_object_contains(info, (uintptr_t)search->address))
        return 0;
    search->found->position = position;
    search->found->is_tileblas = tb_is_tileblas(info, &search->found->plain_bits);
    return 1;
}

bool tb_find_object(const void *address, tb_loaded_object *object)
{
    return dl_iterate_phdr(visit, &(struct search){.address = address, .found = object}) != 0;
}

struct position_search {
    const void *address;
    int position;
};

static int visit_for_position(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct position_search *search = data;
    search->position++;
    return tb_object_contains(info, (uintptr_t)search->address);
}

int tb_find_position(const void *address)
{
    struct position_search search = {address, -1};
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

bool tb_is_same_object(const void *left, const void *right)
{
    tb_extent extent;
    return tb_find_extent(left, &extent) && tb_lies_within(&extent, (uintptr_t)right);
}

static int note_changes(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(tb_changes *)data = (tb_changes){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

tb_changes tb_count_changes(void)
{
    tb_changes changes = {0, 0};
    dl_iterate_phdr(note_changes, &changes);
    return changes;
}

/* ---- Holding ------------------------------------------------------------------------------------------------------- */

struct path_search {
    const void *address;
    uintptr_t base;
    bool is_program;
    char *path; /* to be freed */
};

static int visit_for_path(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct path_search *search = data;
    if (!tb_object_contains(info, (uintptr_t)search->address))
        return 0;
    search->base = info->dlpi_addr;
    search->is_program = !*info->dlpi_name;
    search->path = strdup(info->dlpi_name);
    return 1;
}

/* By its path, under which another object may have been loaded meanwhile. The linker finds what is loaded by its path without
 * opening a file. */
static void *hold(const struct path_search *object)
{
    struct link_map *map;
    void *handle =
        object->path ? dlopen(object->is_program ? NULL : object->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle && (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != object->base)) {
        dlclose(handle);
        handle = NULL;
    }
    return handle;
}

void *tb_hold_object_of(const void *address)
{
    struct path_search object = {.address = address};
    dl_iterate_phdr(visit_for_path, &object);
    void *handle = hold(&object);
    free(object.path);
    return handle;
}

/* Objects of a kind, a few, which never go: each is claimed, filled, and then never changed. */
enum { FREE, CLAIMED, FILLED, MOST_OBJECTS = 64 };
typedef struct object_set {
    struct {
        atomic_int state;
        tb_extent extent;
    } objects[MOST_OBJECTS];
} object_set;
static object_set kept, loaded_for_us;

static bool is_in(const object_set *set, const void *address)
{
    for (int i = 0; i < MOST_OBJECTS; i++)
        if (atomic_load_explicit(&set->objects[i].state, memory_order_acquire) == FILLED &&
            tb_lies_within(&set->objects[i].extent, (uintptr_t)address))
            return true;
    return false;
}

static bool add_to(object_set *set, const tb_extent *extent)
{
    for (int i = 0; i < MOST_OBJECTS; i++) {
        int state = FREE;
        if (atomic_compare_exchange_strong(&set->objects[i].state, &state, CLAIMED)) {
            set->objects[i].extent = *extent;
            atomic_store_explicit(&set->objects[i].state, FILLED, memory_order_release);
            return true;
        }
    }
    return false;
}

bool tb_is_kept(const void *address)
{
    return is_in(&kept, address) || is_in(&loaded_for_us, address);
}

bool tb_keep_object_of(const void *address, bool stays)
{
    tb_extent extent;
    if (tb_is_kept(address))
        return true;
    void *handle = stays ? NULL : tb_hold_object_of(address);
    if ((handle || stays) && tb_find_extent(address, &extent) && add_to(&kept, &extent))
        return true;
    if (handle)
        dlclose(handle); /* nobody would know */
    return false;
}

struct new_objects {
    int position, first;
};

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info;
    (void)size;
    ++*(int *)count;
    return 0;
}

static int note_new_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct new_objects *new = data;
    const tb_extent extent = tb_extent_of(info);
    if (new->position++ >= new->first && !is_in(&loaded_for_us, (void *)extent.begin))
        add_to(&loaded_for_us, &extent);
    return 0;
}

/* Loads for us that have begun and whose objects may not be noted yet: how many, and the first position that theirs may have. */
typedef struct loads {
    uint32_t count;
    int first;
} loads;
static _Atomic(loads) under_way;

static void begin_load(int first)
{
    loads before = atomic_load(&under_way), after;
    do
        after = (loads){before.count + 1, before.count > 0 && before.first < first ? before.first : first};
    while (!atomic_compare_exchange_weak(&under_way, &before, after));
}

/* In a child that was forked meanwhile none may be under way. */
static void end_load(void)
{
    loads before = atomic_load(&under_way), after;
    do
        after = (loads){before.count > 0 ? before.count - 1 : 0, before.first};
    while (!atomic_compare_exchange_weak(&under_way, &before, after));
}

/* The threads that were loading are not there. */
static void forget_loads_in_child(void)
{
    const loads none = {0, 0};
    atomic_store(&under_way, none);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_loads_in_child);
}

/* The linker puts what it loads behind what is there. */
void *tb_load_library(const char *name)
{
    struct new_objects new = {0, 0};
    const unsigned long long loaded = tb_count_changes().loaded;
    dl_iterate_phdr(count_object, &new.first);
    begin_load(new.first);
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library && tb_count_changes().loaded != loaded)
        dl_iterate_phdr(note_new_object, &new);
    end_load();
    return library;
}

/* Between the linker's showing an object and its being noted another thread may have found it. */
bool tb_is_loaded_for_us(const void *address)
{
    const loads loads = atomic_load(&under_way);
    return (loads.count > 0 && tb_find_position(address) >= loads.first) || is_in(&loaded_for_us, address);
}
