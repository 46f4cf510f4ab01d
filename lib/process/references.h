/* References: the words in which a loaded object holds the addresses of functions that it calls by name. The
 * dynamic linker fills them as the object's relocations say: a jump slot of its procedure linkage table, at the
 * first call perhaps, an entry of its global offset table, or a pointer in its data.
 *
 * compat/attach.c binds them anew; reports/bindings.c tells what they are bound to.
 */
#ifndef TB_REFERENCES_H
#define TB_REFERENCES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tb_reference {
    const char *name;
    uintptr_t *word;
    /* It is a procedure linkage table's: until the first call it may hold an address in its own object. */
    bool is_jump_slot;
    bool is_defined; /* the object has a definition of the name itself */
} tb_reference;

typedef void tb_reference_visitor(const tb_reference *reference, void *data);

/* Every reference of an object. Reads what the linker keeps of it, so that it is called either by a visitor of
 * dl_iterate_phdr, or while a handle keeps the object loaded. The object may not be relocated yet: the words are
 * not read. */
void tb_visit_references(const struct dl_phdr_info *object, tb_reference_visitor *visit, void *data);

/* Whether an address lies in one of the object's segments. */
bool tb_object_contains(const struct dl_phdr_info *object, uintptr_t address);

#endif
