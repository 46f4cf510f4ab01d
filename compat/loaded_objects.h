/* The objects of this process, the program and its shared libraries, in load order, and which of them are
 * TileBLAS. host_blas.c asks here whose an address is.
 *
 * Every TileBLAS library carries an ELF note of the owner "TileBLAS". Comparing an address with our own
 * symbol would not do: a process can hold several TileBLAS libraries, preloaded, linked, installed as
 * libblas.so.3, and two of them must not forward to each other.
 */
#ifndef TB_LOADED_OBJECTS_H
#define TB_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb_loaded_object {
    int position; /* in load order; the program is 0 */
    bool is_tileblas;
    int plain_bits; /* of a TileBLAS: of the names that do not tell their width; 0: as its host has */
} tb_loaded_object;

/* The object that an address lies in; false when it lies in none, as code compiled at run time does. */
bool tb_find_object(const void *address, tb_loaded_object *object);

/* Its position alone, or -1. */
int tb_find_position(const void *address);

/* Whether both addresses lie in one object. */
bool tb_is_same_object(const void *left, const void *right);

/* How many objects the linker has loaded and unloaded so far. */
typedef struct tb_changes {
    unsigned long long loaded, unloaded;
} tb_changes;
tb_changes tb_count_changes(void);

/* Whether an object that dl_iterate_phdr shows is one, and the width of its plain names, as above. */
struct dl_phdr_info;
bool tb_is_tileblas(const struct dl_phdr_info *object, int *plain_bits);

/* The addresses from an object's first segment to the end of its last, which no other object lies between. */
typedef struct tb_extent {
    uintptr_t begin, end;
} tb_extent;

tb_extent tb_extent_of(const struct dl_phdr_info *object);

/* Tells of the object that an address lies in; false when it lies in none. */
bool tb_find_extent(const void *address, tb_extent *extent);

static inline bool tb_lies_within(const tb_extent *extent, uintptr_t address)
{
    return address >= extent->begin && address < extent->end;
}

/* A handle of the object that an address lies in, which keeps it loaded, to be closed; NULL when it is gone. */
void *tb_hold_object_of(const void *address);

/* Keeps the object that an address lies in loaded from now on; stays: it cannot go anyway. Then no handle is taken, for which the
 * linker needs more stack than a small thread has. False when it is gone, or nobody can hold it. */
bool tb_keep_object_of(const void *address, bool stays);

/* Whether it is kept. */
bool tb_is_kept(const void *address);

/* A library, loaded for us and for good, with what it depends on; NULL where there is none of the name. */
void *tb_load_library(const char *name);

/* Whether an address lies in an object that was loaded so, which the program has not asked for. */
bool tb_is_loaded_for_us(const void *address);

#endif
