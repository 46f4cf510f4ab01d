#include "compat/former.h"

#include "compat/loaded_objects.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic(const tb_former *) newest;

const tb_former *tb_find_former(const uintptr_t *word)
{
    const tb_former *former = atomic_load_explicit(&newest, memory_order_acquire);
    while (former && former->word != word)
        former = former->older;
    return former;
}

bool tb_keep_former(const tb_former *former)
{
    tb_former *kept = malloc(sizeof *kept);
    if (!kept)
        return false;
    *kept = *former;
    kept->older = atomic_load_explicit(&newest, memory_order_relaxed);
    atomic_store_explicit(&newest, kept, memory_order_release);
    return true;
}

void *tb_former_target(tb_kinship kinship, tb_spelling spelling, const void *call_site)
{
    const tb_former *former = atomic_load_explicit(&newest, memory_order_acquire);
    tb_extent caller = {0, 0};
    if (!former || (kinship != TB_OF_OTHERS && !tb_find_extent(call_site, &caller)))
        return NULL;
    for (; former; former = former->older) {
        const bool is_own = tb_lies_within(&caller, (uintptr_t)former->word);
        const bool fits = kinship == TB_OWN_REFERENCE ? is_own && former->spelling == spelling
                          : kinship == TB_OWN_BLAS    ? is_own
                                                      : former->spelling == spelling;
        if (fits)
            return (void *)former->target;
    }
    return NULL;
}
