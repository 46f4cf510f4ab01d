/* A host that has every forwarded name: each answers with its own place in the lists, so that a name that goes
 * astray is found out. Stamped from names.inc, lines "NAME(name)" that CMake writes from the lists.
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
