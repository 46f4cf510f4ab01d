/* A loaded object by its own dynamic section: the names that others need it by, what it needs, and its
 * symbols. Read while the linker keeps its list of objects (dl_iterate_phdr), or the object is held. For definitions.c.
 */
#ifndef TB_SYMBOL_TABLE_H
#define TB_SYMBOL_TABLE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tb_symbol_table {
    struct dl_phdr_info info;
    const ElfW(Dyn) * dynamic; /* NULL: it has none, and defines nothing */
    const ElfW(Sym) * symbols;
    const char *strings, *soname; /* the latter may be NULL */
    const uint32_t *gnu_hash, *hash;
    const uint16_t *versions;        /* of each symbol; NULL where none has one */
    uint32_t soname_hash, file_hash; /* of the names that others need it by; 0: it has no such name */
    int distance;                    /* for whoever walks from object to object; -1 at first */
} tb_symbol_table;

tb_symbol_table tb_read_symbol_table(const struct dl_phdr_info *info);

/* The function that it defines under the name, or NULL: of several versions that which is the default. */
const ElfW(Sym) * tb_look_up_symbol(const tb_symbol_table *object, const char *name);

/* What stands behind the folders of a path. */
const char *tb_file_of(const char *path);

/* The hash of the name of a symbol, or of a library's file. */
uint32_t tb_hash_name(const char *name);

/* Whether others need it by the name of that file, whose hash that is. */
bool tb_is_called(const tb_symbol_table *object, const char *file, uint32_t hash);

#endif
