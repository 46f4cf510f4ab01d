/* The caller's own BLAS, as the runtime sees it. compat/ finds it and fills this in. Most calls too small to
 * gain, and all irregular ones, never come this far: compat/ forwards their untouched arguments.
 */
#ifndef TB_HOST_H
#define TB_HOST_H

#include "words/problem.h"

typedef struct tb_host tb_host;
struct tb_host {
    /* Computes the problem; NULL when the process has no BLAS but ours. */
    void (*sgemm)(const tb_host *host, const tb_problem *problem);
};

/* Last resort, when the process has no other BLAS: a portable loop with rounded single-precision sums. */
void tb_portable_sgemm(const tb_problem *problem);

#endif
