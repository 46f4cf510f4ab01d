/* The host route: the caller's own BLAS, and what has to be done here because no BLAS can be trusted with it
 * or because there is none. Calls too small to matter come here only where the driver had to be asked where
 * their operands lie.
 */
#include "lib/call/run.h"

#include "lib/call/portable_any.h"
#include "lib/process/callers_state.h"
#include "lib/user/log.h"
#include "lib/process/leaving.h"
#include "words/members.h"
#include "words/frame.h"
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
    void (*merge)(const tb_product *product, const tb_matrix *computed);
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

/* Whether the host has computed it. */
static bool multiply_by_host(const tb_product *product, const tb_host *host)
{
    return host->call && host->call(host, tb_task_of_product(product));
}

/* ---- By blocks of the mask -------------------------------------------------------------------------------- */

/* The extent of a block through which the mask's edge goes. */
#define EDGE_EXTENT 32
typedef double edge_block[2 * EDGE_EXTENT * EDGE_EXTENT]; /* of complex numbers, too */

typedef struct block {
    tb_range rows, columns;
} block;

/* The most that wait, each half as large as the one before: of a C that fits into an address space. */
#define BLOCKS_WAITING 48

/* Computed as a full one beside C, and merged. False where the host has no GEMM, or there is no memory. */
static TB_OWN_FRAME bool multiply_edge(const tb_product *product, const tb_host *host, double *memory)
{
    tb_product full = *product;
    full.mask = TB_FULL;
    full.beta = (tb_scalar){0, 0};
    full.c.data = memory;
    full.c.ld = EDGE_EXTENT;
    if (!memory || !multiply_by_host(&full, host))
        return false;
    portable_for(product)->merge(product, &full.c.matrix);
    return true;
}

/* False where it is to be cut. */
static bool multiply_block(const tb_product *product, const tb_host *host, double *memory)
{
    if (product->m == 0 || product->n == 0 || tb_is_masked_out(product) || multiply_by_host(product, host))
        return true;
    if (product->mask != TB_FULL && (product->m > EDGE_EXTENT || product->n > EDGE_EXTENT))
        return false;
    if (product->mask == TB_FULL || !multiply_edge(product, host, memory))
        portable_for(product)->multiply(product);
    return true;
}

static tb_range half_of(tb_range range, bool second)
{
    const int64_t half = range.count / 2;
    return second ? (tb_range){range.first + half, range.count - half} : (tb_range){range.first, half};
}

/* By GEMMs of halves of halves, until a block lies within the mask or is small. A call over another one of its
 * thread may not ask the C library for memory, which the other one may be doing. */
static TB_OWN_FRAME void multiply_by_blocks(const tb_product *product, const tb_host *host)
{
    double *memory = tb_may_ask_for_memory() ? tb_make(sizeof(edge_block)) : NULL;
    block waiting[BLOCKS_WAITING] = {{{0, product->m}, {0, product->n}}};
    for (int count = 1; count > 0;) {
        const block whole = waiting[--count];
        const tb_product part = tb_subproduct(product, whole.rows, whole.columns, (tb_range){0, product->k});
        if (multiply_block(&part, host, memory))
            continue;
        for (int second = 1; second >= 0; second--) {
            block half = whole;
            if (part.m > part.n)
                half.rows = half_of(whole.rows, second);
            else
                half.columns = half_of(whole.columns, second);
            waiting[count++] = half;
        }
    }
    if (memory)
        tb_unmake(memory);
}

/* ---- Products --------------------------------------------------------------------------------------------- */

/* Once, perhaps on a thread with little stack. */
static TB_OWN_FRAME void say_that_loops_compute(const tb_host *host)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_said))
        tb_log_texts((const char *const[]){"neither this process nor the machine has a BLAS for ",
                                           host->called_as ? host->called_as : "a product",
                                           ": portable loops compute, which are slow", NULL});
}

static void compute_term(const tb_product *product, const tb_host *host)
{
    if (product->m == 0 || product->n == 0 || tb_is_masked_out(product) || multiply_by_host(product, host))
        return;
    if (!host->call)
        say_that_loops_compute(host);
    if (host->call && product->mask != TB_FULL)
        multiply_by_blocks(product, host);
    else
        portable_for(product)->multiply(product);
}

void tb_merge_on_host(const tb_product *product, const tb_matrix *computed)
{
    portable_for(product)->merge(product, computed);
}

static TB_OWN_FRAME void compute_members(const tb_product *product, const tb_host *host)
{
    for (int64_t i = 0; i < tb_members_of(product); i++) {
        const tb_product member = tb_member_of(product, i);
        tb_compute_on_host(&member, host);
    }
}

static TB_OWN_FRAME void compute_terms(const tb_product *product, const tb_host *host)
{
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        compute_term(&one, host);
    }
}

/* Only the host's own routine computes two terms, or a batch, at a time, and only of the whole product. */
void tb_compute_on_host(const tb_product *product, const tb_host *host)
{
    const bool is_single = product->terms < 2 && !tb_is_batch(product);
    if (!is_single && multiply_by_host(product, host))
        return;
    (tb_is_batch(product) ? compute_members : is_single ? compute_term : compute_terms)(product, host);
}

static TB_OWN_FRAME void scale(const tb_product *product)
{
    for (int64_t i = 0; i < tb_members_of(product); i++) {
        const tb_product member = tb_member_of(product, i);
        portable_for(&member)->scale(&member);
    }
}

/* Some BLAS read A and B all the same when alpha is 0. */
static void multiply(const tb_product *product, const tb_host *host)
{
    if (product->k == 0)
        scale(product);
    else
        tb_compute_on_host(product, host);
}

bool tb_is_left_undone(tb_task task, const tb_plan *plan)
{
    if (plan->needs_device)
        tb_warn_once("%s of matrices in device memory was left undone: %s",
                     tb_routine_rows[tb_task_routine(task)].name, tb_reason_text(plan->reason));
    return plan->needs_device;
}

tb_outcome tb_run_host(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    if (tb_is_left_undone(task, plan))
        return TB_DONE;
    tb_enter_callers_environment();
    multiply(task.product, host);
    tb_leave_callers_environment();
    return TB_DONE;
}
