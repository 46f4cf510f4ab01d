/* The objects of this process, the program and its shared libraries, in load order, and which of them are
 * TileBLAS. host_blas.c asks here whose an address is.
 *
 * Every TileBLAS library carries an ELF note of the owner "TileBLAS". Comparing an address with our own
 * symbol would not do: a process can hold several TileBLAS libraries, preloaded, linked, installed as
 * libblas.so.3, and two of them must not forward to each other.
 */
#ifndef TB_LOADED_OBJECTS_H
#define TB_LOADED_OBJECTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tb_loaded_object {
    int position; /* in load order; the program is 0 */
    bool is_tileblas;
    int plain_bits;      /* of a TileBLAS: of the names that do not tell their width; 0: as its host has */
    char path[PATH_MAX]; /* as the linker knows it; empty for the program */
} tb_loaded_object;

/* The object that an address lies in; false when it lies in none, as code compiled at run time does. */
bool tb_find_object(const void *address, tb_loaded_object *object);

/* Its position alone, or -1. A tb_loaded_object is large for the stacks that some threads have. */
int tb_find_position(const void *address);

/* The object at a position; false when there are fewer. */
bool tb_find_object_at(int position, tb_loaded_object *object);

/* Whether an object that dl_iterate_phdr shows is one, and the width of its plain names, as above. */
struct dl_phdr_info;
bool tb_is_tileblas(const struct dl_phdr_info *object, int *plain_bits);

/* The addresses from an object's first segment to the end of its last, which no other object lies between. */
typedef struct tb_extent {
    uintptr_t begin, end;
} tb_extent;

tb_extent tb_extent_of(const struct dl_phdr_info *object);

/* Of the object that an address lies in; false when it lies in none. */
bool tb_find_extent(const void *address, tb_extent *extent);

static inline bool tb_lies_within(const tb_extent *extent, uintptr_t address)
{
    return address >= extent->begin && address < extent->end;
}

/* A handle for dlsym, which keeps the object loaded; NULL when it is gone. */
void *tb_open_object(const tb_loaded_object *object);

#endif
