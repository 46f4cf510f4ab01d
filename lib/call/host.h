/* The caller's own BLAS, as the runtime sees it. compat/ finds it and fills this in. Most calls too small to
 * gain, and all irregular ones, never come this far: compat/ forwards their untouched arguments.
 */
#ifndef TB_HOST_H
#define TB_HOST_H

#include "words/task.h"

#include <stdbool.h>

typedef struct tb_host tb_host;
struct tb_host {
    /* Does the task, or says false where no routine of the host does just that. NULL when the process has no BLAS but ours. */
    bool (*call)(const tb_host *host, tb_task task);
    /* Another routine of it, which is called alike; NULL where the process has none. */
    const tb_host *(*beside)(const tb_host *host, tb_routine routine);
    const char *called_as; /* the name by which the caller called; NULL where nobody knows */
};

/* Has the host compute the product: by its own routine, or by GEMMs of blocks of C, where it has none for the triangle,
 * or only a part of it is wanted. Where the process has no BLAS but ours, a portable loop does, with rounded sums. */
void tb_compute_on_host(const tb_product *product, const tb_host *host);

/* C := computed + beta * C, the product having been computed elsewhere. */
void tb_merge_on_host(const tb_product *product, const tb_matrix *computed);

#endif
