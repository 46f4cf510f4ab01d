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

/* The linker has added the object's address to these where the section is writable. NULL where there is none. */
static const void *pointer(const struct dl_phdr_info *object, ElfW(Addr) value)
{
    return (const void *)(value > 0 && value < object->dlpi_addr ? value + object->dlpi_addr : value);
}

static relocations read_dynamic(const struct dl_phdr_info *object, const ElfW(Dyn) * entry)
{
    ElfW(Addr) values[DT_NUM] = {0};
    size_t relative = 0;
    for (; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag > 0 && entry->d_tag < DT_NUM)
            values[entry->d_tag] = entry->d_un.d_ptr;
        else if (entry->d_tag == DT_RELACOUNT)
            relative = entry->d_un.d_val;
    return (relocations){.symbols = pointer(object, values[DT_SYMTAB]),
                         .strings = pointer(object, values[DT_STRTAB]),
                         .tables = {pointer(object, values[DT_RELA]), pointer(object, values[DT_JMPREL])},
                         .bytes = {values[DT_RELASZ], values[DT_PLTREL] == DT_RELA ? values[DT_PLTRELSZ] : 0},
                         .relative = relative};
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
