#include "lib/reports/bindings.h"

#include "lib/process/references.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <unistd.h>

#define OBJECTS_MOST    1024
#define REFERENCES_MOST 8192

typedef struct reference {
    int object;
    const char *name;
    uintptr_t target;
} reference;

/* Collected with the linker's lock held; looked up and written without. */
typedef struct inventory {
    const char *paths[OBJECTS_MOST];
    int object_count;
    reference references[REFERENCES_MOST];
    int reference_count;
} inventory;

static void collect_reference(const tb_reference *found, void *data)
{
    inventory *inventory = data;
    if (tb_is_taken_over(found->name) && inventory->reference_count < REFERENCES_MOST)
        inventory->references[inventory->reference_count++] =
            (reference){inventory->object_count, found->name, *found->word};
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    inventory *inventory = data;
    if (inventory->object_count == OBJECTS_MOST)
        return 1;
    tb_visit_references(info, collect_reference, inventory);
    inventory->paths[inventory->object_count++] = info->dlpi_name;
    return 0;
}

static const char *owner(uintptr_t address)
{
    Dl_info object;
    return address && dladdr((const void *)address, &object) ? object.dli_fname : NULL;
}

void tb_write_bindings(tb_json *json)
{
    static inventory inventory;
    char program[PATH_MAX];
    dl_iterate_phdr(collect, &inventory);
    /* The linker knows the program by an empty name, and dladdr by the word it was called with. */
    tb_program_path(program, sizeof program);
    if (inventory.object_count > 0)
        inventory.paths[0] = program;

    tb_json_text(json, "library", owner((uintptr_t)&tb_write_bindings));
    tb_json_open(json, "objects", '[');
    for (int i = 0; i < inventory.object_count; i++)
        tb_json_text(json, NULL, inventory.paths[i]);
    tb_json_close(json, ']');

    tb_json_open(json, "gemm", '[');
    for (int i = 0; i < inventory.reference_count; i++) {
        const reference *reference = &inventory.references[i];
        const char *bound = owner(reference->target), *object = inventory.paths[reference->object];
        bool own = bound && (reference->object == 0 ? strcmp(bound, owner((uintptr_t)reference->name)) == 0
                                                    : strcmp(bound, object) == 0);
        tb_json_open(json, NULL, '{');
        tb_json_text(json, "object", object);
        tb_json_text(json, "name", reference->name);
        tb_json_text(json, "bound", own ? NULL : bound);
        tb_json_close(json, '}');
    }
    tb_json_close(json, ']');
}

void tb_program_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}
