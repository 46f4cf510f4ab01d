/* The host route: the caller's own BLAS, and what has to be done here because no BLAS can be trusted with it
 * or because there is none. Calls too small to matter come here only where the driver had to be asked where
 * their operands lie.
 */
#include "lib/call/run.h"

#include "lib/reports/log.h"

#define REAL    float
#define ELEMENT fp32
#include "lib/call/portable_gemm.h"
#undef REAL
#undef ELEMENT
#define REAL    double
#define ELEMENT fp64
#include "lib/call/portable_gemm.h"
#undef REAL
#undef ELEMENT

static const struct {
    void (*scale)(const tb_product *product), (*multiply)(const tb_product *product);
} portable[TB_ELEMENTS] = {
    [TB_FP32] = {scale_fp32, multiply_fp32},
    [TB_FP64] = {scale_fp64, multiply_fp64},
};

void tb_compute_on_host(const tb_product *product, const tb_host *host)
{
    if (product->m == 0 || product->n == 0)
        return;
    if (host->multiply)
        host->multiply(host, product);
    else
        portable[tb_element_of(product)].multiply(product);
}

tb_outcome tb_run_host(const tb_product *product, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    if (plan->needs_device) {
        tb_warn_once("a product of matrices in device memory was left undone: %s",
                     tb_reason_text(plan->reason));
        return TB_DONE;
    }
    /* Some BLAS read A and B all the same when alpha is 0. */
    if (product->k == 0) {
        portable[tb_element_of(product)].scale(product);
        return TB_DONE;
    }
    tb_compute_on_host(product, host);
    return TB_DONE;
}
