/* A device, a stream on it, and products of matrices on it, for tests that launch kernels themselves. */
#ifndef TB_OPEN_DEVICE_H
#define TB_OPEN_DEVICE_H

#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/oracle.h"
#include "tests/target.h"

/* Ends the process, as skipped where there is no device, as failed where there is one that does not come up. */
static inline tb_stream *open_device(tb_device_description *description)
{
    tb_stream *stream;
    int devices = 0;
    if (!arena_has_device() || tb_platform.open(&devices) != TB_OK || devices == 0)
        SKIP("no device");
    if (tb_device_at(0)->describe(0, description) == TB_OK && tb_device_at(0)->open_device(0) == TB_OK &&
        tb_create_stream(0, &stream) == TB_OK)
        return stream;
    fprintf(stderr, "the device does not come up\n");
    exit(EXIT_FAILURE);
}

/* What the oracle knows as p, as kernels are given it: a, b and c are copies on the device of the matrices' blocks. */
static inline tb_product product_on_device(const product *p, void *a, void *b, void *c)
{
    return tb_gemm(p->c.element == TB_FP64 ? TB_DGEMM : TB_SGEMM, p->transpose_a, p->transpose_b, p->m, p->n,
                   p->k, p->alpha, matrix_start_in(&p->a, a), p->a.ld, matrix_start_in(&p->b, b), p->b.ld,
                   p->beta, matrix_start_in(&p->c, c), p->c.ld);
}

#endif
