/* Former targets: what the references that are bound to this library at run time (attach.c) led to before. An
 * object's former target is its host BLAS: host_blas.c asks here before it asks the dynamic linker.
 *
 * Kept for ever, also of objects that are unloaded: a call may be on its way here while its reference is bound
 * back. The newest of a word is the one that holds.
 */
#ifndef TB_FORMER_H
#define TB_FORMER_H

#include "compat/spellings.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tb_former {
    const uintptr_t *word; /* the reference */
    tb_spelling spelling;
    uintptr_t target; /* the function that it led to */
    uintptr_t
        before; /* what the word held: the target's address or, never called through, the linker's entrance */
    const struct tb_former *older;
} tb_former;

/* NULL of a word that was never bound to this library. */
const tb_former *tb_find_former(const uintptr_t *word);

/* Makes it the newest. False without memory for it. One thread at a time. */
bool tb_keep_former(const tb_former *former);

/* How a former target has to do with a caller, from the nearest. */
typedef enum tb_kinship {
    TB_OWN_REFERENCE, /* what the caller's object was bound to for the spelling */
    TB_OWN_BLAS,      /* what it was bound to for another one: the same library, very likely */
    TB_OF_OTHERS,     /* what another object was bound to for the spelling */
    TB_KINSHIPS,
} tb_kinship;

/* The newest such target, for calls that return to the call site; NULL where there is none. */
void *tb_former_target(tb_kinship kinship, tb_spelling spelling, const void *call_site);

#endif
