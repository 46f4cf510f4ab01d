#include "kernels/panels/launch_panel.h"

#include "kernels/built_code.h"
#include "kernels/panels/geqrf.h"
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_geqrf.h"
#include "kernels/panels/launch_getrf.h"
#include "kernels/panels/panel.h"

static tb_module potrf_modules[TB_ELEMENTS] = {[TB_FP32] = {.name = "potrf_fp32"},
                                               [TB_FP64] = {.name = "potrf_fp64"},
                                               [TB_COMPLEX_FP32] = {.name = "potrf_complex_fp32"},
                                               [TB_COMPLEX_FP64] = {.name = "potrf_complex_fp64"}};

#define ENTRY(element, symbol) [element] = {&potrf_modules[element], symbol, 0, NULL, 0, false}
tb_entry tb_entries_potrf_panel[TB_ELEMENTS] = {
    ENTRY(TB_FP32, "spotrf_panel"), ENTRY(TB_FP64, "dpotrf_panel"), ENTRY(TB_COMPLEX_FP32, "cpotrf_panel"),
    ENTRY(TB_COMPLEX_FP64, "zpotrf_panel")};

/* One a routine that has panels. */
static const struct panel {
    int64_t order;
    tb_entry *potrf; /* NULL: it is another one's */
} panels[TB_ROUTINES] = {
    [TB_SPOTRF] = {TB_POTRF_ORDER, &tb_entries_potrf_panel[TB_FP32]},
    [TB_DPOTRF] = {TB_POTRF_ORDER, &tb_entries_potrf_panel[TB_FP64]},
    [TB_CPOTRF] = {TB_POTRF_ORDER, &tb_entries_potrf_panel[TB_COMPLEX_FP32]},
    [TB_ZPOTRF] = {TB_POTRF_ORDER, &tb_entries_potrf_panel[TB_COMPLEX_FP64]},
    [TB_SGETRF] = {TB_GETRF_COLUMNS, NULL},
    [TB_DGETRF] = {TB_GETRF_COLUMNS, NULL},
    [TB_CGETRF] = {TB_GETRF_COLUMNS, NULL},
    [TB_ZGETRF] = {TB_GETRF_COLUMNS, NULL},
    [TB_SGEQRF] = {TB_GEQRF_COLUMNS, NULL},
    [TB_DGEQRF] = {TB_GEQRF_COLUMNS, NULL},
    [TB_CGEQRF] = {TB_GEQRF_COLUMNS, NULL},
    [TB_ZGEQRF] = {TB_GEQRF_COLUMNS, NULL},
};

int64_t tb_panel_order(tb_routine routine)
{
    return panels[routine].order;
}

static bool is_getrf(tb_routine routine)
{
    return tb_routine_rows[routine].class == TB_CLASS_GETRF;
}

static bool is_geqrf(tb_routine routine)
{
    return tb_routine_rows[routine].class == TB_CLASS_GEQRF;
}

/* GETRF's are of any rows, and have pivots, and GEQRF's have no fewer rows than columns. */
static bool has_shape(const tb_factor *block)
{
    const tb_reflectors *reflectors = &block->reflectors;
    if (is_geqrf(block->routine))
        return block->m >= block->n && reflectors->tau && reflectors->t && reflectors->v &&
               reflectors->ld_of_t >= block->n && reflectors->ld_of_v >= block->m;
    return is_getrf(block->routine) ? block->m > 0 && block->pivots.data && block->pivots.bits == 32
                                    : block->m == block->n;
}

bool tb_is_panel(const tb_factor *block)
{
    const tb_matrix *a = &block->a;
    return (unsigned)block->routine < TB_ROUTINES && block->n > 0 &&
           block->n <= panels[block->routine].order && has_shape(block) &&
           a->element == tb_routine_rows[block->routine].element && a->rows == block->m &&
           a->columns == block->n && a->ld >= block->m;
}

/* A grid takes any that its numbers can count. */
#define GEQRF_ROWS_MOST (INT32_MAX / 2)

int64_t tb_panel_rows(tb_routine routine, tb_target target)
{
    if (is_geqrf(routine))
        return GEQRF_ROWS_MOST;
    return is_getrf(routine) ? tb_getrf_rows_on(target, tb_routine_rows[routine].element)
                             : panels[routine].order;
}

_Static_assert(TB_GETRF_FLAG_BYTES <= TB_PANEL_CLEARED_BYTES && TB_GEQRF_FLAG_BYTES <= TB_PANEL_CLEARED_BYTES,
               "the flags are cleared");

size_t tb_panel_workspace(tb_routine routine, int64_t rows, tb_target target)
{
    const tb_element element = tb_routine_rows[routine].element;
    if (is_geqrf(routine))
        return tb_choose_geqrf(target, element, rows).form == TB_GEQRF_GRID ? tb_geqrf_workspace(element) : 0;
    return is_getrf(routine) && tb_choose_getrf(target, element, rows).form == TB_GETRF_GRID
               ? tb_getrf_workspace(element)
               : 0;
}

bool tb_takes_panel(tb_target target, const tb_factor *block, int64_t position, const void *workspace)
{
    if (!tb_is_panel(block))
        return false;
    return (!is_getrf(block->routine) && !is_geqrf(block->routine)) ||
           (block->m <= tb_panel_rows(block->routine, target) && position >= 0 &&
            position <= INT32_MAX - block->m &&
            (workspace || tb_panel_workspace(block->routine, block->m, target) == 0));
}

static tb_status launch_potrf(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                              int64_t *info)
{
    const bool lower = block->stored == TB_LOWER;
    const tb_potrf_panel arguments = {.a = block->a.data,
                                      .order = block->n,
                                      .row_step = lower ? 1 : block->a.ld,
                                      .column_step = lower ? block->a.ld : 1,
                                      .position = position,
                                      .info = info};
    return launcher->launch(launcher, panels[block->routine].potrf, 1,
                            TB_POTRF_THREADS(tb_bytes_of(block->a.element)), 0, &arguments);
}

static tb_status launch_geqrf(const tb_launcher *launcher, const tb_factor *block, void *workspace)
{
    const tb_reflectors *reflectors = &block->reflectors;
    const tb_geqrf_results results = {.tau = reflectors->tau,
                                      .t = reflectors->t,
                                      .ld_of_t = reflectors->ld_of_t,
                                      .v = reflectors->v,
                                      .ld_of_v = reflectors->ld_of_v};
    return tb_launch_geqrf(launcher, tb_choose_geqrf(launcher->target, block->a.element, block->m), &block->a,
                           &results, workspace);
}

tb_status tb_launch_panel(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                          int64_t *info, void *workspace)
{
    if (!tb_takes_panel(launcher->target, block, position, workspace))
        return TB_UNSUPPORTED;
    if (is_geqrf(block->routine))
        return launch_geqrf(launcher, block, workspace);
    if (!is_getrf(block->routine))
        return launch_potrf(launcher, block, position, info);
    return tb_launch_getrf(launcher, tb_choose_getrf(launcher->target, block->a.element, block->m), &block->a,
                           position, block->pivots.data, info, workspace);
}
