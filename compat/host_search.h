/* A host BLAS, and the search for it, which asks the dynamic linker. For host_blas.c, which calls what is found. */
#ifndef TB_HOST_SEARCH_H
#define TB_HOST_SEARCH_H

#include "compat/spellings.h"
#include "lib/call/host.h"

#include <stdbool.h>

typedef struct tb_host_blas tb_host_blas;
struct tb_host_blas {
    tb_host base;
    void *address; /* NULL: nobody but us has the routine */
    /* For a routine of triangles or of batches: who has GEMM, spelled alike, which does parts of it; or NULL. */
    const tb_host_blas *gemm;
    bool prefers_gemm;    /* it computes the routine's products better than the routine does */
    tb_spelling spelling; /* of the caller; the address is of the same routine and calling convention */
    /* The spelling where a glance at the call site is enough to know this host; TB_SPELLING_COUNT where it may have gone. */
    tb_spelling at_a_glance;
    int integer_bits; /* 32 or 64, of the caller's integers */
    /* The call site lies in a BLAS's own function of that routine: reference BLAS and BLIS reach sgemm_ from
     * inside their cblas_sgemm, through the symbol that we took over. Such a call was decided upon and
     * counted already. */
    bool nested;
    bool is_foreign; /* a function of the program's under a bare name, which is no BLAS's; nested, too */
    bool is_kept;    /* loaded for the life of the process */
    bool is_near;    /* what the linker would have bound the caller to; others are given up for such a one */
};

/* The host for calls of the spelling from the call site. The library that the user has chosen comes first: then the caller's own
 * BLAS tells no more than how wide integers are; where there is none, and a plain name, the chosen library is believed. A call
 * that came from a host, or from nobody's (NULL), is not sent back to it. A routine that GEMM can stand in for is looked for in
 * the library that has the caller's GEMM alone, where that is given, and in what the caller would have reached. */
tb_host_blas tb_search_host(tb_spelling spelling, const void *call_site, const tb_host_blas *came_from,
                            const tb_host_blas *gemm, bool *chosen_lacks_it);

#endif
