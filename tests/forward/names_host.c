/* A host that has every forwarded name: each answers with its own place in the lists, so that a name that goes
 * astray is found out. Stamped from tb_forwarded.inc's sibling names.inc, lines "NAME(name)", by CMake.
 */
enum {
#define NAME(name) PLACE_##name,
#include "names.inc"
#undef NAME
};

#define NAME(name)                                                                                           \
    int name(void);                                                                                          \
    int name(void)                                                                                           \
    {                                                                                                        \
        return PLACE_##name;                                                                                 \
    }
#include "names.inc"
