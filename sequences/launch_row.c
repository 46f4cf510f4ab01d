/* Launching rows of the catalog: kernels, and sequences step by step. Nothing is decided here. */
#include "kernels/catalog.h"
#include "kernels/forwarder.h"
#include "kernels/launch.h"
#include "kernels/triangular/triangle.h"
#include "sequences/walks.h"

tb_status tb_walk(tb_sequence sequence, const tb_product *task, int64_t block, void *workspace,
                  tb_visitor *visitor)
{
    return sequence == TB_SOLVE ? tb_walk_solve(task, block, visitor)
                                : tb_walk_triangle_times(task, block, workspace, visitor);
}

int tb_blocks_of(tb_sequence sequence, const tb_product *task, int64_t blocks[TB_BLOCKS_MOST])
{
    return sequence == TB_SOLVE ? tb_solve_blocks(task, blocks) : tb_triangle_times_blocks(task, blocks);
}

size_t tb_workspace_of(tb_sequence sequence, const tb_product *task)
{
    return sequence == TB_SOLVE ? 0 : tb_triangle_times_workspace(task);
}

int tb_find_size(const tb_sequence_deal *deal, int64_t size)
{
    int i = 0;
    while (i < deal->count && deal->sizes[i] != size)
        i++;
    return i;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* The schedules of products of a size, which serve again for those that are alike. Sizes that come first in the deal are those
 * of most products; others share a place. */
enum { KEPT = 16 };

typedef struct sequence {
    tb_visitor visitor;
    tb_forwarder forwarder;
    const tb_kernel *kernel;
    const tb_sequence_deal *deal;
    void *workspace;
    size_t used; /* by the walk */
    bool same_a;
    struct {
        int64_t size, m, n, k; /* m is 0: there is none yet */
        tb_schedule schedule;
    } kept[KEPT];
} sequence;

static tb_status launch_product(sequence *all, const tb_sequence_step *step)
{
    const tb_launcher *launcher = &all->forwarder.interface;
    const int found = tb_find_size(all->deal, step->size),
              place = found < all->deal->count ? found : all->deal->count - 1,
              i = place < KEPT ? place : KEPT - 1;
    const tb_kernel *row = &tb_catalog[all->deal->rows[place]];
    size_t used = all->used;
    tb_product lowered;
    const tb_product *p = tb_lower_step(&step->product, all->workspace, &used, &lowered);
    const bool is_kept = all->kept[i].size == step->size && all->kept[i].m == p->m &&
                         all->kept[i].n == p->n && all->kept[i].k == p->k;
    if (is_kept && all->forwarder.only_loads)
        return TB_OK;
    if (!is_kept) {
        all->kept[i].size = step->size;
        all->kept[i].m = p->m;
        all->kept[i].n = p->n;
        all->kept[i].k = p->k;
        all->kept[i].schedule = tb_prepare(row, p, launcher->target);
    }
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (p->expanded[role].from > 0) {
            const tb_expansion expansion = tb_expansion_of(&step->product, p, role, 0);
            TB_TRY(tb_launch_expand(launcher, &expansion));
        }
    return row->launch(launcher, row, p, &all->kept[i].schedule,
                       all->workspace ? (char *)all->workspace + used : NULL);
}

static tb_status launch_step(tb_visitor *visitor, const tb_sequence_step *step)
{
    sequence *all = (sequence *)visitor;
    const tb_launcher *launcher = &all->forwarder.interface;
    switch (step->kind) {
    case TB_STEP_PRODUCT:
        return launch_product(all, step);
    case TB_STEP_MOVE:
        return step->is_of_a && all->same_a
                   ? TB_OK
                   : tb_launch_noting_expand(launcher, &step->move, step->notes_rows, step->notes);
    case TB_STEP_MEND:
        return tb_launch_mending(launcher, all->kernel, &step->product, step->copy, step->notes);
    case TB_STEP_PANEL:
    case TB_STEP_EXCHANGE:
    case TB_STEP_REFLECT: /* of factorizations, which are no row's */
        break;
    }
    return TB_UNSUPPORTED;
}

/* ---- Rows ------------------------------------------------------------------------------------------------- */

/* C := 0; the triangle is not read. By rows that every device runs. */
static tb_status launch_zeros(const tb_launcher *launcher, const tb_product *product)
{
    const bool is_complex = tb_is_complex(tb_element_of(product));
    const tb_matrix c = is_complex ? tb_real_view(&product->c.matrix) : product->c.matrix;
    const tb_kernel *kernel = tb_any_row(c.element);
    const tb_product zeros = tb_gemm(tb_gemm_routine(c.element), false, false, c.rows, c.columns, 0, 0, NULL,
                                     c.rows, NULL, 1, 0, c.data, c.ld);
    const tb_schedule schedule = {.clocks = 0};
    return kernel->launch(launcher, kernel, &zeros, &schedule, NULL);
}

static tb_status launch_sequence(const tb_launcher *launcher, const tb_kernel *kernel,
                                 const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    sequence all = {.visitor = {launch_step},
                    .forwarder = tb_forward_to(launcher),
                    .kernel = kernel,
                    .deal = TB_DEAL(schedule, tb_sequence_deal),
                    .workspace = workspace,
                    .used = tb_workspace_of(kernel->sequence, product),
                    .same_a = launcher->same_a};
    /* Nothing is launched before it is sure that all will be: what is left of C would be neither the old one nor the new one. */
    for (int pass = 0; pass < 2; pass++) {
        all.forwarder.only_loads = pass == 0;
        TB_TRY(tb_walk(kernel->sequence, product, all.deal->block, workspace, &all.visitor));
    }
    return TB_OK;
}

tb_status tb_launch_row(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                        const tb_schedule *schedule, void *workspace)
{
    if (product->m == 0 || product->n == 0)
        return TB_OK;
    if (product->in_place != TB_OUT_OF_PLACE && tb_is_zero(product->alpha))
        return launch_zeros(launcher, product);
    return kernel->sequence == TB_NO_SEQUENCE
               ? kernel->launch(launcher, kernel, product, schedule, workspace)
               : launch_sequence(launcher, kernel, product, schedule, workspace);
}
