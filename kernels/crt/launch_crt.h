/* Launching dgemm_crt. */
#ifndef TB_LAUNCH_CRT_H
#define TB_LAUNCH_CRT_H

#include "kernels/crt/crt.h"
#include "kernels/kernel.h"

/* Positions in a row's entries. */
enum {
    TB_CRT_SURVEY,
    TB_CRT_GATHER,
    TB_CRT_DECIDE,
    TB_CRT_RESIDUES,
    TB_CRT_MULTIPLY,
    TB_CRT_JOIN,
    TB_CRT_ENTRIES
};

/* The catalog's callbacks. */
void tb_crt_sm90_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                         tb_schedule *schedule);
tb_status tb_launch_crt_sm90(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule, void *workspace);
void tb_crt_sm80_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                         tb_schedule *schedule);
tb_status tb_launch_crt_sm80(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule, void *workspace);

#endif
