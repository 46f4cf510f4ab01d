/* Rows that multiply by a triangle, or solve with it, in C's place: strmm_blocked, strsm_blocked and theirs. They have no device
 * code but for small triangles: all else is products, by the other rows of the catalog.
 */
#ifndef TB_LAUNCH_TRIANGULAR_H
#define TB_LAUNCH_TRIANGULAR_H

#include "kernels/kernel.h"

/* Triangles of so many panels (triangular.h) are not halved again. A product by a triangle is far faster without them, a solve
 * is not. Not measured. */
#define TB_TRIANGULAR_PANELS_SOLVED     4
#define TB_TRIANGULAR_PANELS_MULTIPLIED 2

void tb_triangular_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                           tb_schedule *schedule);
tb_status tb_launch_triangular(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace);

#endif
