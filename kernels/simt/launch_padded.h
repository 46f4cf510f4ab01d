/* Launching the SIMT family on operands of any alignment by 16-byte copies: those that miss it are first copied into
 * pitched memory by a kernel of our own, in the row's workspace; then whichever row of the family is fastest serves.
 */
#ifndef TB_LAUNCH_PADDED_H
#define TB_LAUNCH_PADDED_H

#include "kernels/catalog.h"

/* The catalog's callbacks. */
double tb_padded_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors);
size_t tb_padded_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem);
tb_status tb_launch_padded(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                           void *workspace);

#endif
