/* A survey of the process: the references that loaded objects hold to functions of other objects under the names
 * of routines that are taken over, and which objects are a TileBLAS. For attach.c.
 */
#ifndef TB_SURVEY_H
#define TB_SURVEY_H

#include "compat/loaded_objects.h"
#include "compat/spellings.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tb_surveyed_reference {
    tb_spelling spelling;
    uintptr_t *word;
    bool is_jump_slot; /* of a procedure linkage table */
} tb_surveyed_reference;

typedef struct tb_surveyed_object {
    char *path; /* as the linker knows it; empty for the program */
    uintptr_t base;
    tb_extent extent;
    tb_extent read_only; /* whole pages that the linker has closed after relocating */
    bool is_tileblas;
    int plain_bits;   /* as in tb_loaded_object */
    int first, count; /* of its references */
} tb_surveyed_object;

/* The objects that have such references, and those that are a TileBLAS, in load order. */
typedef struct tb_survey {
    tb_surveyed_object *objects;
    tb_surveyed_reference *references;
    int object_count, object_room, reference_count, reference_room;
    bool failed;                        /* out of memory */
    const struct dl_phdr_info *visited; /* while it is made: the object, and its position in load order */
    int position;
} tb_survey;

/* To be freed, failed or not. */
tb_survey tb_make_survey(void);
void tb_free_survey(tb_survey *survey);

/* A handle that keeps an object of the survey loaded, to be closed; NULL when the object is gone, or another one has come in its
 * place. Waits until whoever is loading the object has relocated it. */
void *tb_hold_object(const tb_surveyed_object *object);

#endif
