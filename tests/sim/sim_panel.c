/* Panels and exchanges of rows on the simulated device: what the kernels of kernels/panels do. */
#include "kernels/panels/geqrf.h"
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "kernels/panels/panel.h"
#include "lib/call/portable_panel.h"
#include "lib/call/portable_qr.h"
#include "tests/sim/sim.h"
#include "words/integers.h"

#include <string.h>

static bool is_getrf(const tb_factor *block)
{
    return tb_routine_rows[block->routine].class == TB_CLASS_GETRF;
}

static bool is_geqrf(const tb_factor *block)
{
    return tb_routine_rows[block->routine].class == TB_CLASS_GEQRF;
}

static void *reach_numbers(const tb_factor *block, void *data, int64_t rows, int64_t columns, int64_t ld,
                           int device, const char *what)
{
    tb_matrix matrix = {data, rows, columns, ld, block->a.element};
    sim_reach_matrix(&matrix, device, what);
    return matrix.data;
}

static void reach_reflectors(tb_factor *block, int device)
{
    tb_reflectors *to = &block->reflectors;
    const int64_t order = block->n;
    to->tau = reach_numbers(block, to->tau, order, 1, order, device, "tau");
    to->t = reach_numbers(block, to->t, order, order, to->ld_of_t, device, "T");
    to->v = reach_numbers(block, to->v, block->m, order, to->ld_of_v, device, "V");
}

static void reach_pivots(tb_pivots *pivots, int64_t count, int device)
{
    pivots->data = sim_reach(pivots->data, (size_t)count * sizeof(int32_t), device, "pivots");
}

static void reach_workspace(tb_panel *panel, int device, tb_target target)
{
    const tb_factor *block = &panel->block;
    const size_t bytes = tb_panel_workspace(block->routine, tb_larger(block->m, block->n), target);
    panel->workspace = bytes > 0 && panel->workspace
                           ? sim_reach(panel->workspace, bytes, device, "a panel's workspace")
                           : NULL;
}

tb_status sim_reach_panel(tb_panel *panel, int device, tb_target target)
{
    tb_factor *block = &panel->block;
    if (!tb_takes_panel(target, block, panel->position, panel->workspace))
        return TB_UNSUPPORTED;
    reach_workspace(panel, device, target);
    sim_reach_matrix(&block->a, device, "a panel");
    if (is_getrf(block))
        reach_pivots(&block->pivots, tb_smaller(block->m, block->n), device);
    if (is_geqrf(block))
        reach_reflectors(block, device);
    panel->info = sim_reach(panel->info, sizeof *panel->info, device, "info");
    return TB_OK;
}

/* Flags are 0 before and after, and what lies behind them is anything. */
static void use_workspace(char *workspace, const tb_factor *block)
{
    const size_t number = sizeof(float),
                 flags = is_geqrf(block)   ? TB_GEQRF_FLAG_BYTES
                         : is_getrf(block) ? TB_GETRF_FLAG_BYTES
                                           : sizeof(tb_potrf_flags),
                 all = is_geqrf(block)   ? TB_GEQRF_LETTERS_BYTES(number)
                       : is_getrf(block) ? TB_GETRF_LETTERS_BYTES(number)
                                         : TB_POTRF_LETTER_BYTES(number);
    for (size_t i = 0; i < flags; i++)
        if (workspace[i] != 0)
            sim_abort("a panel's workspace was not set to 0");
    memset(workspace + flags, 0xfa, all - flags);
}

/* A block of POTRF's with a pivot that is not positive stays as it was. */
void sim_run_panel(const tb_panel *panel, bool fault)
{
    tb_factor block = panel->block;
    const int64_t all = tb_factors_of(&block) == TB_CHOLESKY ? tb_factor_order(&block) : block.n,
                  columns = fault ? all / 2 : all;
    if (panel->workspace)
        use_workspace(panel->workspace, &block);
    if (is_geqrf(&block)) {
        block.n = block.a.columns = columns;
        tb_reflect_by_loops(&block);
        return;
    }
    if (!is_getrf(&block) && *panel->info != 0)
        return;
    if (is_getrf(&block))
        block.n = block.a.columns = columns;
    const int64_t info =
        is_getrf(&block) ? tb_eliminate_by_loops(&block, panel->position) : sim_factor(&block, columns);
    if (info > 0 && *panel->info == 0)
        *panel->info = panel->position + info;
}

tb_status sim_reach_exchange(tb_row_exchange *exchange, int device)
{
    if (!tb_is_row_exchange(exchange))
        return TB_UNSUPPORTED;
    if (exchange->count == 0 || exchange->matrix.columns == 0)
        return TB_OK;
    sim_reach_matrix(&exchange->matrix, device, "a matrix whose rows are exchanged");
    reach_pivots(&exchange->pivots, exchange->count, device);
    return TB_OK;
}

void sim_run_exchange(const tb_row_exchange *exchange, bool fault)
{
    tb_row_exchange some = *exchange;
    if (fault)
        some.matrix.columns /= 2;
    if (some.count > 0)
        tb_exchange_rows(&some);
}
