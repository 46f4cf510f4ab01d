#include "lib/reports/bindings.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define OBJECTS_MOST    1024
#define REFERENCES_MOST 256

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

/* What the dynamic section says of an object's relocations. */
typedef struct dynamic {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
} dynamic;

/* The linker has added the object's address to these where the section is writable. */
static const void *pointer(const struct dl_phdr_info *info, ElfW(Addr) value)
{
    return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static dynamic read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    dynamic found = {0};
    bool rela = false;
    for (; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            found.symbols = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            found.strings = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            found.tables[0] = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            found.bytes[0] = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            found.tables[1] = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            found.bytes[1] = entry->d_un.d_val;
            break;
        case DT_PLTREL:
            rela = entry->d_un.d_val == DT_RELA;
            break;
        default:
            break;
        }
    if (!rela)
        found.bytes[1] = 0;
    return found;
}

static void collect_references(const struct dl_phdr_info *info, const dynamic *dynamic, inventory *inventory)
{
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *relocation = dynamic->tables[table];
        size_t count = relocation ? dynamic->bytes[table] / sizeof *relocation : 0;
        for (size_t i = 0; i < count; i++) {
            size_t symbol = ELF64_R_SYM(relocation[i].r_info);
            if (symbol == 0 || inventory->reference_count == REFERENCES_MOST)
                continue;
            const char *name = dynamic->strings + dynamic->symbols[symbol].st_name;
            if (tb_is_taken_over(name))
                inventory->references[inventory->reference_count++] =
                    (reference){inventory->object_count, name,
                                *(const uintptr_t *)(info->dlpi_addr + relocation[i].r_offset)};
        }
    }
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    inventory *inventory = data;
    if (inventory->object_count == OBJECTS_MOST)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            const ElfW(Dyn) *section = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            dynamic dynamic = read_dynamic(info, section);
            if (dynamic.symbols && dynamic.strings)
                collect_references(info, &dynamic, inventory);
        }
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
