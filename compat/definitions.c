#include "compat/definitions.h"

#include "compat/symbol_table.h"
#include "lib/process/references.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef tb_symbol_table object;

static bool is_indirect(const ElfW(Sym) * symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
}

static void *address_of(const object *object, const ElfW(Sym) * symbol)
{
    return (void *)(object->info.dlpi_addr + symbol->st_value);
}

/* What a resolver chooses (STT_GNU_IFUNC) is left to the linker, which hands it what it asks for, and has no lock of its list
 * then. */
static void *resolve_indirect(void *resolver, const char *name)
{
    void *handle = tb_hold_object_of(resolver);
    void *address = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return address;
}

/* ---- All objects ------------------------------------------------------------------------------------------------- */

/* Taken, used and given back while the linker keeps its list: what it points to is theirs. */
typedef struct census {
    object *objects; /* in load order */
    int count, room;
    int caller; /* that which the address lies in; the count where none does */
} census;

typedef struct census_visit {
    census census;
    uintptr_t address;
    bool (*use)(census *census, void *data);
    void *data;
    bool used;
} census_visit;

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    census_visit *visit = data;
    census *census = &visit->census;
    if (census->count == census->room) {
        const int room = census->room ? 2 * census->room : 128;
        object *larger = realloc(census->objects, (size_t)room * sizeof *larger);
        if (!larger)
            return -1;
        census->objects = larger;
        census->room = room;
    }
    census->objects[census->count] = tb_read_symbol_table(info);
    if (visit->address && tb_object_contains(info, visit->address))
        census->caller = census->count;
    census->count++;
    return 0;
}

/* Inside of a visit the list does not change, and may be gone through once more. */
static int take_census(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    census_visit *visit = data;
    visit->census.caller = -1;
    if (dl_iterate_phdr(add_object, visit) == 0) {
        if (visit->census.caller < 0)
            visit->census.caller = visit->census.count;
        visit->used = visit->use(&visit->census, visit->data);
    }
    return 1;
}

/* What use says of the objects, the caller being that which the address lies in; false without memory. */
static bool with_census(const void *address, bool (*use)(census *census, void *data), void *data)
{
    census_visit visit = {.address = (uintptr_t)address, .use = use, .data = data};
    dl_iterate_phdr(take_census, &visit);
    free(visit.census.objects);
    return visit.used;
}

/* The object that another one needs by a name, its position, or -1. */
static int find_needed(const census *census, const char *needed)
{
    const char *file = tb_file_of(needed);
    const uint32_t hash = tb_hash_name(file);
    for (int i = 0; i < census->count; i++)
        if (tb_is_called(&census->objects[i], file, hash))
            return i;
    return -1;
}

/* Goes on with a breadth-first walk through what objects need, from those in the queue. Distances begin with the first. */
static void walk(const census *census, int *queue, int begin, int end, int first)
{
    for (; begin < end; begin++) {
        const object *from = &census->objects[queue[begin]];
        for (const ElfW(Dyn) *entry = from->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
            const int next =
                entry->d_tag == DT_NEEDED ? find_needed(census, from->strings + entry->d_un.d_val) : -1;
            if (next >= 0 && census->objects[next].distance < 0) {
                census->objects[next].distance = first + end;
                queue[end++] = next;
            }
        }
    }
}

static bool needs(const object *dependent, const object *needed)
{
    for (const ElfW(Dyn) *entry = dependent->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        const char *file =
            entry->d_tag == DT_NEEDED ? tb_file_of(dependent->strings + entry->d_un.d_val) : NULL;
        if (file && tb_is_called(needed, file, tb_hash_name(file)))
            return true;
    }
    return false;
}

/* Those that need the caller, and those that need them, are put behind each other into the queue, which has the caller; how many
 * it has then. */
static int gather_dependents(const census *census, int *queue)
{
    int end = 1;
    queue[0] = census->caller;
    for (int begin = 0; begin < end; begin++)
        for (int i = 0; i < census->count; i++)
            if (census->objects[i].distance < 0 &&
                needs(&census->objects[i], &census->objects[queue[begin]])) {
                census->objects[i].distance = census->count + end;
                queue[end++] = i;
            }
    return end;
}

/* The list has objects that another thread is loading, whose constructors have not run: their functions are not to be called. The
 * linker's lock is that thread's until they have, and to ask for the program waits for it. */
static void wait_for_constructors(void)
{
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (program)
        dlclose(program);
}

/* ---- Questions ---------------------------------------------------------------------------------------------------- */

static tb_loaded_object loaded_object(const object *object, int position)
{
    tb_loaded_object loaded = {.position = position};
    loaded.is_tileblas = tb_is_tileblas(&object->info, &loaded.plain_bits);
    return loaded;
}

/* A definition that was found while the list was kept, and whether its address is yet to be resolved. */
typedef struct finding {
    tb_definition definition;
    bool indirect;
    int distance, same_path, order;
} finding;

static finding make_finding(const object *object, int position, const char *name)
{
    const ElfW(Sym) *symbol = tb_look_up_symbol(object, name);
    if (!symbol)
        return (finding){0};
    return (finding){
        .definition = {.address = address_of(object, symbol), .object = loaded_object(object, position)},
        .indirect = is_indirect(symbol),
        .distance = object->distance};
}

static tb_definition settle(finding found, const char *name)
{
    if (found.definition.address && found.indirect)
        found.definition.address = resolve_indirect(found.definition.address, name);
    return found.definition;
}

struct own_search {
    uintptr_t address;
    const char *name;
    const char *const *names; /* counted instead */
    int position, count;
    finding found;
};

static int visit_own(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct own_search *search = data;
    const int position = search->position++;
    if (!tb_object_contains(info, search->address))
        return 0;
    const object object = tb_read_symbol_table(info);
    if (search->name)
        search->found = make_finding(&object, position, search->name);
    for (const char *const *name = search->names; name && *name; name++)
        search->count += tb_look_up_symbol(&object, *name) != NULL;
    return 1;
}

void *tb_own_definition(const void *address, const char *name)
{
    struct own_search search = {.address = (uintptr_t)address, .name = name};
    dl_iterate_phdr(visit_own, &search);
    return settle(search.found, name).address;
}

int tb_count_definitions(const void *address, const char *const *names)
{
    struct own_search search = {.address = (uintptr_t)address, .names = names};
    dl_iterate_phdr(visit_own, &search);
    return search.count;
}

struct first_search {
    const char *name;
    finding found;
};

static bool find_first(census *census, void *data)
{
    struct first_search *search = data;
    int *queue = census->caller < census->count ? malloc((size_t)census->count * sizeof *queue) : NULL;
    if (!queue)
        return false;
    queue[0] = census->caller;
    census->objects[census->caller].distance = 0;
    walk(census, queue, 0, 1, 0);
    for (int i = 0, best = census->count; i < census->count; i++) {
        const object *object = &census->objects[i];
        const bool is_nearer = object->distance >= 0 && object->distance < best;
        const finding found = is_nearer ? make_finding(object, i, search->name) : (finding){0};
        if (found.definition.address) {
            search->found = found;
            best = object->distance;
        }
    }
    free(queue);
    return true;
}

tb_definition tb_first_definition(const void *address, const char *name)
{
    struct first_search search = {.name = name};
    with_census(address, find_first, &search);
    wait_for_constructors();
    search.found.definition.is_dependency = true;
    return settle(search.found, name);
}

struct all_search {
    const char *name;
    finding *found; /* to be freed */
    int count;
};

/* How many letters, up to a folder's end. */
static int length_of_same_path(const char *x, const char *y)
{
    int same = 0;
    for (int i = 0; x[i] && x[i] == y[i]; i++)
        if (x[i] == '/')
            same = i + 1;
    return same;
}

static int by_nearness(const void *left, const void *right)
{
    const finding *x = left, *y = right;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->same_path != y->same_path)
        return x->same_path > y->same_path ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* In the object and what it depends on, then what those depend on that need it; farther than either: all others. */
static bool measure_distances(census *census)
{
    int *queue = census->caller < census->count ? malloc((size_t)census->count * sizeof *queue) : NULL;
    if (!queue)
        return false;
    queue[0] = census->caller;
    census->objects[census->caller].distance = 0;
    walk(census, queue, 0, 1, 0);
    walk(census, queue, 1, gather_dependents(census, queue), census->count);
    free(queue);
    return true;
}

static bool find_all(census *census, void *data)
{
    struct all_search *search = data;
    const object *caller = census->caller < census->count ? &census->objects[census->caller] : NULL;
    const bool knows_distances = measure_distances(census);
    search->found = malloc((size_t)census->count * sizeof *search->found);
    for (int i = 0; search->found && i < census->count; i++) {
        const object *object = &census->objects[i];
        finding found = make_finding(object, i, search->name);
        if (!found.definition.address)
            continue;
        found.definition.is_dependency = object->distance >= 0 && object->distance < census->count;
        if (!knows_distances || object->distance < 0)
            found.distance = 3 * census->count;
        found.same_path = caller ? length_of_same_path(caller->info.dlpi_name, object->info.dlpi_name) : 0;
        found.order = i < census->caller ? census->caller - i : 2 * census->count - i;
        search->found[search->count++] = found;
    }
    if (search->count > 1)
        qsort(search->found, (size_t)search->count, sizeof *search->found, by_nearness);
    return true;
}

int tb_find_definitions(const char *name, const void *call_site, tb_definition *found, int room)
{
    struct all_search search = {.name = name};
    int count = 0;
    with_census(call_site, find_all, &search);
    wait_for_constructors();
    for (int i = 0; i < search.count && count < room; i++) {
        found[count] = settle(search.found[i], name);
        count += found[count].address != NULL;
    }
    free(search.found);
    return count;
}

static bool find_dependent(census *census, void *data)
{
    (void)data;
    for (int i = 0; census->caller < census->count && i < census->count; i++)
        if (i != census->caller && needs(&census->objects[i], &census->objects[census->caller]))
            return true;
    return false;
}

static bool reach_from_program(census *census, void *data)
{
    (void)data;
    int *queue = census->caller < census->count ? malloc((size_t)census->count * sizeof *queue) : NULL;
    if (!queue)
        return false;
    queue[0] = 0;
    census->objects[0].distance = 0;
    walk(census, queue, 0, 1, 0);
    free(queue);
    return !*census->objects[0].info.dlpi_name && census->objects[census->caller].distance >= 0;
}

bool tb_belongs_to_program(const void *address)
{
    return with_census(address, reach_from_program, NULL);
}

bool tb_is_needed(const void *address)
{
    return with_census(address, find_dependent, NULL);
}
