#include "compat/survey.h"

#include "lib/process/references.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether there is room for one more. */
static bool make_room(void **array, int count, int *room, size_t bytes, bool *failed)
{
    if (count < *room)
        return true;
    const int wanted = *room ? 2 * *room : 64;
    void *larger = realloc(*array, (size_t)wanted * bytes);
    if (!larger) {
        *failed = true;
        return false;
    }
    *array = larger;
    *room = wanted;
    return true;
}

/* Most names of a process are none: one look at the letters behind scipy_, cblas_ and LAPACKE_ is enough. */
static bool may_be_a_routine(const char *name)
{
    static const char stems[][4] = {"gem", "sym", "hem", "syr", "her", "trm", "trs", "pot"};
    if (!*name || !strchr("sdcz", *name))
        return false;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (strncmp(name + 1, stems[i], 3) == 0)
            return true;
    return false;
}

/* TB_SPELLING_COUNT where it is none. */
static tb_spelling spelling_of(const char *name)
{
    const char *bare = strncmp(name, "scipy_", 6) == 0 ? name + 6 : name;
    bare = strncmp(bare, "cblas_", 6) == 0 ? bare + 6 : strncmp(bare, "LAPACKE_", 8) == 0 ? bare + 8 : bare;
    for (tb_routine routine = may_be_a_routine(bare) ? 0 : TB_ROUTINES; routine < TB_ROUTINES; routine++) {
        const char *routine_name = tb_routine_rows[routine].name;
        if (strncmp(bare, routine_name, strlen(routine_name)) != 0)
            continue;
        const tb_spelling first = tb_first_spelling(routine), end = tb_first_spelling(routine + 1);
        for (tb_spelling spelling = first; spelling < end; spelling++)
            if (strcmp(tb_spelling_rows[spelling].symbol, name) == 0)
                return spelling;
    }
    return TB_SPELLING_COUNT;
}

static bool is_writable(const struct dl_phdr_info *info, uintptr_t word)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) &&
            word - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return word % sizeof(uintptr_t) == 0;
    }
    return false;
}

static void note_reference(const tb_reference *found, void *data)
{
    tb_survey *survey = data;
    const tb_spelling spelling = spelling_of(found->name);
    if (spelling == TB_SPELLING_COUNT || found->is_defined ||
        !is_writable(survey->visited, (uintptr_t)found->word))
        return;
    if (make_room((void **)&survey->references, survey->reference_count, &survey->reference_room,
                  sizeof *survey->references, &survey->failed))
        survey->references[survey->reference_count++] =
            (tb_surveyed_reference){spelling, found->word, found->is_jump_slot};
}

/* As the dynamic linker closes it: whole pages, from below the first to below the last. */
static tb_extent find_read_only(const struct dl_phdr_info *info)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type == PT_GNU_RELRO)
            return (tb_extent){begin / page * page, end / page * page};
    }
    return (tb_extent){0, 0};
}

/* Objects that have nothing for a survey are most of them. They are known by their position, which stays theirs until
 * some object is unloaded. The linker calls survey_object from one thread at a time. */
enum { POSITIONS = 4096 };
static struct {
    bool is_bare[POSITIONS];
    unsigned long long unloaded; /* the linker's count */
} known;

static void forget_if_unloaded(const struct dl_phdr_info *info)
{
    if (info->dlpi_subs == known.unloaded)
        return;
    memset(known.is_bare, 0, sizeof known.is_bare);
    known.unloaded = info->dlpi_subs;
}

static int survey_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    tb_survey *survey = data;
    const int position = survey->position++;
    forget_if_unloaded(info);
    if (position < POSITIONS && known.is_bare[position])
        return 0;
    const int first = survey->reference_count;
    int plain_bits = 0;
    const bool is_tileblas = tb_is_tileblas(info, &plain_bits);
    survey->visited = info;
    if (!is_tileblas)
        tb_visit_references(info, note_reference, survey);
    if (!is_tileblas && survey->reference_count == first) {
        if (position < POSITIONS)
            known.is_bare[position] = !survey->failed;
        return survey->failed;
    }
    char *path = make_room((void **)&survey->objects, survey->object_count, &survey->object_room,
                           sizeof *survey->objects, &survey->failed)
                     ? strdup(info->dlpi_name)
                     : NULL;
    survey->failed |= !path;
    if (!survey->failed)
        survey->objects[survey->object_count++] =
            (tb_surveyed_object){.path = path,
                                 .base = info->dlpi_addr,
                                 .extent = tb_extent_of(info),
                                 .read_only = find_read_only(info),
                                 .is_tileblas = is_tileblas,
                                 .plain_bits = plain_bits,
                                 .first = first,
                                 .count = survey->reference_count - first};
    return survey->failed;
}

tb_survey tb_make_survey(void)
{
    tb_survey survey = {0};
    dl_iterate_phdr(survey_object, &survey);
    return survey;
}

void tb_free_survey(tb_survey *survey)
{
    for (int i = 0; i < survey->object_count; i++)
        free(survey->objects[i].path);
    free(survey->objects);
    free(survey->references);
}

void *tb_hold_object(const tb_surveyed_object *object)
{
    struct link_map *map;
    void *handle = dlopen(*object->path ? object->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (handle && (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != object->base)) {
        dlclose(handle);
        handle = NULL;
    }
    return handle;
}
