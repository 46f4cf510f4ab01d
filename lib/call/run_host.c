/* The host route: the caller's own BLAS, and what has to be done here because no BLAS can be trusted with it or because
 * there is none. Calls too small to matter come here only where the driver had to be asked where their operands lie.
 */
#include "lib/call/run.h"

#include "lib/reports/log.h"

/* C := beta * C. Columns are scaled one by one: what lies between them is the caller's. */
static void scale(const tb_product *product)
{
    const tb_operand *c = &product->c;
    const float beta = (float)product->beta.re;
    for (int64_t j = 0; j < c->columns; j++) {
        float *column = tb_at(c, 0, j);
        for (int64_t i = 0; i < c->rows; i++)
            column[i] = beta == 0 ? 0 : beta * column[i];
    }
}

static void multiply_portably(const tb_product *product)
{
    const tb_operand *a = &product->a, *b = &product->b;
    const float alpha = (float)product->alpha.re, beta = (float)product->beta.re;
    const int64_t step_a = a->transposed ? 1 : a->ld, step_b = b->transposed ? b->ld : 1;
    for (int64_t j = 0; j < product->n; j++)
        for (int64_t i = 0; i < product->m; i++) {
            const float *row = a->transposed ? tb_at(a, 0, i) : tb_at(a, i, 0);
            const float *column = b->transposed ? tb_at(b, j, 0) : tb_at(b, 0, j);
            float *c = tb_at(&product->c, i, j), sum = 0;
            for (int64_t l = 0; l < product->k; l++)
                sum += row[l * step_a] * column[l * step_b];
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
}

void tb_compute_on_host(const tb_product *product, const tb_host *host)
{
    if (product->m == 0 || product->n == 0)
        return;
    if (host->multiply)
        host->multiply(host, product);
    else
        multiply_portably(product);
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
        scale(product);
        return TB_DONE;
    }
    tb_compute_on_host(product, host);
    return TB_DONE;
}
