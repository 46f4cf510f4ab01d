/* The search for the caller's own BLAS, which asks the dynamic linker. For host_blas.c, which calls what is found. */
#ifndef TB_HOST_SEARCH_H
#define TB_HOST_SEARCH_H

#include "compat/host_blas.h"

/* The host for calls of the spelling from the call site. The library that the user has chosen comes first: then the caller's own
 * BLAS tells no more than how wide integers are; where there is none, and a plain name, the chosen library is believed. A call that
 * came from a host, or from nobody's (NULL), is not sent back to it. */
tb_host_blas tb_search_host(tb_spelling spelling, const void *call_site, const tb_host_blas *came_from,
                            bool *chosen_lacks_it);

#endif
