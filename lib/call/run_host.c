/* The host route: the caller's own BLAS, and what has to be done here because no BLAS can be trusted with it
 * or because there is none. Calls too small to matter come here only where the driver had to be asked where
 * their operands lie.
 */
#include "lib/call/run.h"

#include "lib/call/portable_any.h"
#include "lib/reports/log.h"
#include "words/batch.h"
#include "words/lowered.h"

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

typedef struct portable {
    void (*scale)(const tb_product *product), (*multiply)(const tb_product *product);
    void (*merge)(const tb_product *product, const tb_operand *computed);
} portable;

static const portable *portable_for(const tb_product *product)
{
    static const portable any = {tb_scale_any, tb_multiply_any, tb_merge_any},
                          plain[TB_REAL_ELEMENTS] = {
                              [TB_FP32] = {scale_fp32, multiply_fp32, merge_fp32},
                              [TB_FP64] = {scale_fp64, multiply_fp64, merge_fp64},
                          };
    return tb_is_plain(product) ? &plain[tb_element_of(product)] : &any;
}

/* Of a block through which the mask's edge goes: what lies on a thread's stack. */
#define EDGE_EXTENT 32

/* Computed as a full one beside C, and merged. False where the host has no GEMM. */
static bool multiply_edge(const tb_product *product, const tb_host *host)
{
    double memory[2 * EDGE_EXTENT * EDGE_EXTENT]; /* of complex numbers, too */
    tb_product full = *product;
    full.mask = TB_FULL;
    full.beta = (tb_scalar){0, 0};
    full.c.data = memory;
    full.c.ld = EDGE_EXTENT;
    if (!host->multiply(host, &full))
        return false;
    portable_for(product)->merge(product, &full.c);
    return true;
}

static void multiply_half(const tb_product *product, const tb_host *host, bool second)
{
    const bool rows = product->m > product->n;
    const int64_t extent = rows ? product->m : product->n, half = extent / 2;
    const tb_range range = second ? (tb_range){half, extent - half} : (tb_range){0, half};
    const tb_product part = rows ? tb_rows_of(product, range) : tb_columns_of(product, range);
    tb_compute_on_host(&part, host);
}

/* By GEMMs: halves of halves, until a block lies within the mask or is small. */
static bool multiply_by_blocks(const tb_product *product, const tb_host *host)
{
    if (product->mask == TB_FULL)
        return false;
    if (product->m <= EDGE_EXTENT && product->n <= EDGE_EXTENT)
        return multiply_edge(product, host);
    multiply_half(product, host, false);
    multiply_half(product, host, true);
    return true;
}

static void compute_term(const tb_product *product, const tb_host *host)
{
    if (product->m == 0 || product->n == 0 || tb_is_masked_out(product))
        return;
    if (host->multiply && (host->multiply(host, product) || multiply_by_blocks(product, host)))
        return;
    if (!host->multiply)
        tb_warn_once(
            "neither this process nor the machine has a BLAS for %s: portable loops compute, which are slow",
            host->called_as ? host->called_as : "a product");
    portable_for(product)->multiply(product);
}

void tb_merge_on_host(const tb_product *product, const tb_operand *computed)
{
    portable_for(product)->merge(product, computed);
}

/* Only the host's own routine computes two terms, or a batch, at a time, and only of the whole product. */
void tb_compute_on_host(const tb_product *product, const tb_host *host)
{
    if ((product->terms == 2 || tb_is_batch(product)) && host->multiply && host->multiply(host, product))
        return;
    if (tb_is_batch(product)) {
        for (int64_t i = 0; i < tb_members_of(product); i++) {
            const tb_product member = tb_member_of(product, i);
            tb_compute_on_host(&member, host);
        }
        return;
    }
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        compute_term(&one, host);
    }
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
        for (int64_t i = 0; i < tb_members_of(product); i++) {
            const tb_product member = tb_member_of(product, i);
            portable_for(&member)->scale(&member);
        }
        return TB_DONE;
    }
    tb_compute_on_host(product, host);
    return TB_DONE;
}
