/* How products are put into calls of the host's routines: one row a routine. */
#ifndef TB_HOST_CALLS_H
#define TB_HOST_CALLS_H

#include "words/product.h"

/* Calls the function at the address with the product's arguments. A host with 32-bit integers reads the lower
 * half of each, which on both of our little-endian ABIs comes first. */
typedef void tb_host_call(void *address, const tb_product *product);

typedef struct tb_host_calls {
    tb_host_call *cblas, *fortran;
} tb_host_calls;

#define TB_ROUTINE(NAME, name, CLASS, element) extern const tb_host_calls tb_##name##_calls;
#include "words/routines.def"
#undef TB_ROUTINE

static inline void tb_call_routine(tb_routine routine, bool is_cblas, void *address,
                                   const tb_product *product)
{
    static const tb_host_calls *const rows[TB_ROUTINES] = {
#define TB_ROUTINE(NAME, name, CLASS, element) [TB_##NAME] = &tb_##name##_calls,
#include "words/routines.def"
#undef TB_ROUTINE
    };
    (is_cblas ? rows[routine]->cblas : rows[routine]->fortran)(address, product);
}

#endif
