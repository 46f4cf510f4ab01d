#include "lib/call/finish.h"

#include "lib/call/diagonal.h"
#include "lib/call/run.h"
#include "lib/call/stream.h"
#include "lib/device/copies.h"
#include "lib/device/device.h"
#include "lib/process/callers_state.h"
#include "lib/process/leaving.h"
#include "words/lowered.h"

static void finish_term(const tb_product *product, const tb_progress *done, const tb_host *host)
{
    const int64_t next_row = done->rows + done->next_rows;
    const tb_product block = tb_rows_of(product, (tb_range){done->rows, done->next_rows});
    const tb_product right = tb_columns_of(&block, (tb_range){done->columns, product->n - done->columns});
    const tb_product below = tb_rows_of(product, (tb_range){next_row, product->m - next_row});
    tb_compute_on_host(&right, host);
    tb_compute_on_host(&below, host);
}

/* No BLAS has a routine for a part of a symmetric matrix: all of the product is computed beside C, and what is left is taken
 * of it. False where there is no memory for that. */
static bool finish_symmetric(const tb_product *product, const tb_progress *done, const tb_host *host)
{
    const bool is_left = tb_is_symmetric_left(product);
    if (product->in_place != TB_OUT_OF_PLACE || (!is_left && product->b.structure == TB_GENERAL) ||
        (is_left && done->rows == 0 && done->next_rows == product->m))
        return false; /* columns are products of the routine */
    tb_product whole = *product;
    whole.c.ld = product->m;
    whole.c.data = tb_make(tb_matrix_bytes(&product->c.matrix));
    if (!whole.c.data)
        return false;
    whole.beta = (tb_scalar){0, 0};
    tb_compute_on_host(&whole, host);
    const tb_range bands[] = {{done->rows, done->next_rows},
                              {done->rows + done->next_rows, product->m - done->rows - done->next_rows}};
    for (int i = 0; i < 2; i++) {
        const int64_t column = i == 0 ? done->columns : 0, columns = product->n - column;
        const tb_product rows = tb_rows_of(product, bands[i]),
                         part = tb_columns_of(&rows, (tb_range){column, columns});
        const tb_matrix computed =
            tb_rectangle(&whole.c.matrix, bands[i].first, column, bands[i].count, columns);
        tb_merge_on_host(&part, &computed);
    }
    tb_unmake(whole.c.data);
    return true;
}

static void finish_products(const tb_product *product, const tb_progress *done, const tb_host *host)
{
    if (finish_symmetric(product, done, host))
        return;
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        finish_term(&one, done, host);
    }
}

void tb_finish_on_host(const tb_product *product, const tb_progress *done, const tb_host *host)
{
    tb_enter_callers_environment();
    finish_products(product, done, host);
    tb_leave_callers_environment();
    if (product->c.structure == TB_HERMITIAN)
        tb_make_diagonal_real(&product->c.matrix);
}

/* ---- Of operands on the device ---------------------------------------------------------------------------- */

typedef struct rescue {
    const tb_product *product;
    const tb_plan *plan;
    tb_product fetched; /* the same, where the host reaches it */
    void *copies[TB_ROLES];
} rescue;

/* What lies on a device that still works but cannot do the product, fetched into host memory. */
static tb_status fetch_operand(tb_stream *stream, rescue *rescue, tb_role role)
{
    tb_matrix *operand = &rescue->fetched.operands[role].matrix;
    void **copy = &rescue->copies[role];
    if (rescue->plan->places[role].memory != TB_MEMORY_DEVICE || operand->rows == 0 || operand->columns == 0)
        return TB_OK;
    if (!*copy)
        *copy = tb_make(tb_matrix_bytes(operand));
    if (!*copy)
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_copy_operand(stream, TB_DEVICE_TO_HOST, operand, *copy, operand->rows));
    operand->data = *copy;
    operand->ld = operand->rows;
    return TB_OK;
}

static tb_status fetch(tb_stream *stream, void *argument)
{
    rescue *rescue = argument;
    rescue->fetched = *rescue->product;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        TB_TRY(fetch_operand(stream, rescue, role));
    return TB_OK;
}

static tb_status give_back(tb_stream *stream, void *argument)
{
    const rescue *rescue = argument;
    const tb_matrix *c = &rescue->product->c.matrix;
    int64_t columns;
    return tb_copy_masked(stream, TB_HOST_TO_DEVICE, rescue->product, &rescue->fetched.c.matrix, c->data,
                          c->ld, &columns);
}

/* Once more where something failed, as nothing but this can be done for the product: when the copies before are done, the driver
 * has the memory that they took. On return nothing is on its way. */
static tb_status carry(tb_stream_work *copy, rescue *rescue)
{
    enum { ATTEMPTS = 2 };
    tb_status status = TB_UNSUPPORTED;
    for (int attempt = 0; attempt < ATTEMPTS && status != TB_OK && status != TB_DEVICE_LOST; attempt++)
        status = tb_in_callers_stream(&rescue->plan->place, copy, rescue);
    return status;
}

tb_status tb_rescue(const tb_product *product, const tb_plan *plan, const tb_progress *done,
                    const tb_host *host)
{
    rescue rescue = {.product = product, .plan = plan};
    tb_status status = carry(fetch, &rescue);
    if (status == TB_OK) {
        tb_finish_on_host(&rescue.fetched, done, host);
        status = rescue.copies[TB_C] ? carry(give_back, &rescue) : TB_OK;
    }
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_unmake(rescue.copies[role]);
    return status;
}
