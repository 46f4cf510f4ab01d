#include "lib/process/references.h"

#include <stddef.h>

/* What the dynamic section says of an object's relocations. */
typedef struct relocations {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
    size_t relative; /* as many at the beginning of the first table have no symbol */
} relocations;

/* The linker has added the object's address to these where the section is writable. */
static const void *pointer(const struct dl_phdr_info *object, ElfW(Addr) value)
{
    return (const void *)(value < object->dlpi_addr ? value + object->dlpi_addr : value);
}

static relocations read_dynamic(const struct dl_phdr_info *object, const ElfW(Dyn) * entry)
{
    relocations found = {0};
    bool rela = false;
    for (; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            found.symbols = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            found.strings = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            found.tables[0] = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            found.bytes[0] = entry->d_un.d_val;
            break;
        case DT_RELACOUNT:
            found.relative = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            found.tables[1] = pointer(object, entry->d_un.d_ptr);
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

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, ENTRY = R_X86_64_GLOB_DAT, POINTER = R_X86_64_64 };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, ENTRY = R_AARCH64_GLOB_DAT, POINTER = R_AARCH64_ABS64 };
#endif

static void visit_table(const struct dl_phdr_info *object, const relocations *relocations, int table,
                        tb_reference_visitor *visit, void *data)
{
    const ElfW(Rela) *first = relocations->tables[table];
    const size_t count = first ? relocations->bytes[table] / sizeof *first : 0;
    for (size_t i = table == 0 ? relocations->relative : 0; i < count; i++) {
        const unsigned long symbol = ELF64_R_SYM(first[i].r_info), type = ELF64_R_TYPE(first[i].r_info);
        if (symbol == 0 || first[i].r_addend != 0 || (type != JUMP_SLOT && type != ENTRY && type != POINTER))
            continue;
        const ElfW(Sym) *named = &relocations->symbols[symbol];
        visit(&(tb_reference){.name = relocations->strings + named->st_name,
                              .word = (uintptr_t *)(object->dlpi_addr + first[i].r_offset),
                              .is_jump_slot = type == JUMP_SLOT,
                              .is_defined = named->st_shndx != SHN_UNDEF},
              data);
    }
}

void tb_visit_references(const struct dl_phdr_info *object, tb_reference_visitor *visit, void *data)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const relocations relocations =
            read_dynamic(object, (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
        if (!relocations.symbols || !relocations.strings)
            continue;
        for (int table = 0; table < 2; table++)
            visit_table(object, &relocations, table, visit, data);
    }
}

bool tb_object_contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}
