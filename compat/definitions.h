/* Which objects of this process define a name, read from their own dynamic symbol tables.
 *
 * The dynamic linker's functions (dlsym) see what their caller may see. These see every object, also one that was opened
 * RTLD_LOCAL and has nothing to do with us; they take no handle, so that nothing stays loaded for being asked about, and they
 * open no file. Versions of symbols are ignored, as BLAS has none.
 *
 * What is found in an object that nobody holds (loaded_objects.h) is true as long as the object is loaded. For the search for
 * a host (host_search.c), for forwarded names (forward/resolve.c), and for what tells a BLAS and a forwarder (forwarders.c).
 */
#ifndef TB_DEFINITIONS_H
#define TB_DEFINITIONS_H

#include "compat/loaded_objects.h"

#include <stdbool.h>

typedef struct tb_definition {
    void *address; /* of the function; NULL: nobody defines the name */
    tb_loaded_object object;
    bool is_dependency; /* of the caller that was asked for, or its own */
} tb_definition;

/* The object's own definition of the name, of the object that an address lies in; NULL where it has none. */
void *tb_own_definition(const void *address, const char *name);

/* The first one in the order in which the linker goes through an object and what it depends on: breadth first. */
tb_definition tb_first_definition(const void *address, const char *name);

/* All of them, nearest to the call site first, at most room: in its object and what that depends on, breadth first; in what
 * those depend on that need the object; then by how much of their path is the same, and last by load order, backwards from
 * the object and then from the end. Without memory none. */
int tb_find_definitions(const char *name, const void *call_site, tb_definition *found, int room);

/* How many of the names, which end with NULL, the object that the address lies in defines itself. */
int tb_count_definitions(const void *address, const char *const *names);

/* Whether it lies in the program, or in what that was linked with, which cannot be unloaded. */
bool tb_belongs_to_program(const void *address);

/* Whether some other object names that of the address among those that it needs. */
bool tb_is_needed(const void *address);

#endif
