/* Whether a GPU runs a build's device code: that of an architecture of its own generation and no later, or
 * what its driver compiles from the PTX that the build has.
 */
#ifndef TB_BUILT_FOR_H
#define TB_BUILT_FOR_H

#include <stdbool.h>
#include <stddef.h>

/* Architectures as 90 is 9.0; ptx: 0 where the build has none. */
static inline bool tb_is_built_for(const int *architectures, size_t count, int ptx, int gpu)
{
    bool is_built = ptx > 0 && ptx <= gpu;
    for (size_t i = 0; i < count; i++)
        is_built |= architectures[i] / 10 == gpu / 10 && architectures[i] <= gpu;
    return is_built;
}

#endif
