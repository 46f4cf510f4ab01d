#include "compat/symbol_table.h"

#include <string.h>

uint32_t tb_hash_name(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

const char *tb_file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The linker has added the object's address to these where the section is writable. */
static const void *pointer(const tb_symbol_table *object, ElfW(Addr) value)
{
    return (const void *)(value < object->info.dlpi_addr ? value + object->info.dlpi_addr : value);
}

static void read_dynamic(tb_symbol_table *object)
{
    size_t soname = 0;
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            object->symbols = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            object->strings = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            object->gnu_hash = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_HASH:
            object->hash = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_VERSYM:
            object->versions = pointer(object, entry->d_un.d_ptr);
            break;
        case DT_SONAME:
            soname = entry->d_un.d_val;
            break;
        default:
            break;
        }
    if (!object->symbols || !object->strings)
        object->dynamic = NULL;
    object->soname = object->dynamic && soname ? object->strings + soname : NULL;
    object->soname_hash = object->soname ? tb_hash_name(object->soname) : 0;
    object->file_hash = *object->info.dlpi_name ? tb_hash_name(tb_file_of(object->info.dlpi_name)) : 0;
}

tb_symbol_table tb_read_symbol_table(const struct dl_phdr_info *info)
{
    tb_symbol_table object = {.info = *info, .distance = -1};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            object.dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    read_dynamic(&object);
    return object;
}

/* A version that is kept for who was linked with it has this bit, and is found by nobody who names none. */
enum { HIDDEN_VERSION = 0x8000 };

static bool is_function(const tb_symbol_table *object, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &object->symbols[index];
    const int type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           (!object->versions || !(object->versions[index] & HIDDEN_VERSION)) &&
           strcmp(object->strings + symbol->st_name, name) == 0;
}

/* The table of DT_GNU_HASH: four numbers, a Bloom filter of words, buckets, and a chain of hashes, whose last bit ends a
 * bucket. 0 where the name is not defined. */
static uint32_t look_up_gnu(const tb_symbol_table *object, const char *name)
{
    enum { WORD_BITS = sizeof(ElfW(Addr)) * 8 };
    const uint32_t *table = object->gnu_hash;
    const uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
    const uint32_t hash = tb_hash_name(name);
    if (buckets == 0 || words == 0)
        return 0;
    const ElfW(Addr) word = filter[hash / WORD_BITS % words];
    if (!(word >> hash % WORD_BITS & word >> (hash >> shift) % WORD_BITS & 1))
        return 0;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        const uint32_t found = chain[i - first];
        if ((found | 1) == (hash | 1) && is_function(object, i, name))
            return i;
        if (found & 1)
            break;
    }
    return 0;
}

/* The older table, DT_HASH: two numbers, buckets, and for each symbol the next one of its bucket. */
static uint32_t look_up_sysv(const tb_symbol_table *object, const char *name)
{
    const uint32_t buckets = object->hash[0];
    const uint32_t *bucket = object->hash + 2, *chain = bucket + buckets;
    uint32_t hash = 0;
    for (const char *letter = name; *letter; letter++) {
        hash = (hash << 4) + (unsigned char)*letter;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i != 0; i = chain[i])
        if (is_function(object, i, name))
            return i;
    return 0;
}

const ElfW(Sym) * tb_look_up_symbol(const tb_symbol_table *object, const char *name)
{
    uint32_t index = 0;
    if (object->dynamic && object->gnu_hash)
        index = look_up_gnu(object, name);
    else if (object->dynamic && object->hash)
        index = look_up_sysv(object, name);
    return index ? &object->symbols[index] : NULL;
}

bool tb_is_called(const tb_symbol_table *object, const char *needed, uint32_t hash)
{
    return (object->soname && object->soname_hash == hash && strcmp(object->soname, needed) == 0) ||
           (object->file_hash == hash && strcmp(tb_file_of(object->info.dlpi_name), needed) == 0);
}
