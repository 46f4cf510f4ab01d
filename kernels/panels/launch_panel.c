#include "kernels/panels/launch_panel.h"

#include "kernels/built_code.h"
#include "kernels/panels/geqrf.h"
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_geqrf.h"
#include "kernels/panels/launch_getrf.h"
#include "kernels/panels/panel.h"
#include "words/integers.h"

static tb_module potrf_modules[TB_ELEMENTS] = {[TB_FP32] = {.name = "potrf_fp32"},
                                               [TB_FP64] = {.name = "potrf_fp64"},
                                               [TB_COMPLEX_FP32] = {.name = "potrf_complex_fp32"},
                                               [TB_COMPLEX_FP64] = {.name = "potrf_complex_fp64"}};

#define ENTRY(element, symbol, bytes, rows)                                                                  \
    [element] = {&potrf_modules[element], symbol, TB_POTRF_SHARED_BYTES(bytes, rows), NULL, 0, false}
tb_entry tb_entries_potrf_panel[TB_ELEMENTS] = {
    ENTRY(TB_FP32, "spotrf_panel", 4, TB_POTRF_ROWS), ENTRY(TB_FP64, "dpotrf_panel", 8, TB_POTRF_ROWS),
    ENTRY(TB_COMPLEX_FP32, "cpotrf_panel", 8, TB_POTRF_ROWS_COMPLEX),
    ENTRY(TB_COMPLEX_FP64, "zpotrf_panel", 16, TB_POTRF_ROWS_COMPLEX)};

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

/* A grid takes any that its numbers can count. */
#define ROWS_MOST (INT32_MAX / 2)

static bool is_of_u(const tb_factor *block)
{
    return tb_routine_rows[block->routine].class == TB_CLASS_POTRF && block->stored == TB_UPPER;
}

/* Of the triangle on the diagonal. */
static int64_t order_of(const tb_factor *block)
{
    return is_of_u(block) ? block->m : block->n;
}

/* With those below the triangle, or of U columns. */
static int64_t rows_of(const tb_factor *block)
{
    return is_of_u(block) ? block->n : block->m;
}

/* GETRF's are of any rows, and have pivots; others have no fewer rows than columns. */
static bool has_shape(const tb_factor *block)
{
    const tb_reflectors *reflectors = &block->reflectors;
    if (is_geqrf(block->routine))
        return block->m >= block->n && reflectors->tau && reflectors->t && reflectors->v &&
               reflectors->ld_of_t >= block->n && reflectors->ld_of_v >= block->m;
    return is_getrf(block->routine)
               ? block->m > 0 && block->pivots.data && block->pivots.bits == 32
               : block->stored != TB_FULL && rows_of(block) >= order_of(block) && rows_of(block) <= ROWS_MOST;
}

bool tb_is_panel(const tb_factor *block)
{
    const tb_matrix *a = &block->a;
    return (unsigned)block->routine < TB_ROUTINES && order_of(block) > 0 &&
           order_of(block) <= panels[block->routine].order && has_shape(block) &&
           a->element == tb_routine_rows[block->routine].element && a->rows == block->m &&
           a->columns == block->n && a->ld >= block->m;
}

int64_t tb_panel_rows(tb_routine routine, tb_target target)
{
    if (is_getrf(routine))
        return tb_getrf_rows_on(target, tb_routine_rows[routine].element);
    return panels[routine].order > 0 ? ROWS_MOST : 0;
}

_Static_assert(TB_GETRF_FLAG_BYTES <= TB_PANEL_CLEARED_BYTES &&
                   TB_GEQRF_FLAG_BYTES <= TB_PANEL_CLEARED_BYTES &&
                   sizeof(tb_potrf_flags) <= TB_PANEL_CLEARED_BYTES,
               "the flags are cleared");

size_t tb_panel_workspace(tb_routine routine, int64_t rows, tb_target target)
{
    const tb_element element = tb_routine_rows[routine].element;
    if (is_geqrf(routine))
        return tb_choose_geqrf(target, element, rows).form == TB_GEQRF_GRID ? tb_geqrf_workspace(element) : 0;
    if (is_getrf(routine))
        return tb_choose_getrf(target, element, rows).form == TB_GETRF_GRID ? tb_getrf_workspace(element) : 0;
    return panels[routine].order > 0 && rows > 1 ? TB_POTRF_LETTER_BYTES(tb_bytes_of(element)) : 0;
}

bool tb_takes_panel(tb_target target, const tb_factor *block, int64_t position, const void *workspace)
{
    if (!tb_is_panel(block))
        return false;
    if (!is_getrf(block->routine) && !is_geqrf(block->routine))
        return workspace || block->m == block->n;
    return (block->m <= tb_panel_rows(block->routine, target) && position >= 0 &&
            position <= INT32_MAX - block->m &&
            (workspace || tb_panel_workspace(block->routine, block->m, target) == 0));
}

/* A block has the triangle, and each further one some of the rows below it. */
static tb_status launch_potrf(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                              int64_t *info, void *workspace)
{
    const bool lower = !is_of_u(block);
    const int64_t order = order_of(block), rows = rows_of(block);
    const int rows_of_block = tb_is_complex(block->a.element) ? TB_POTRF_ROWS_COMPLEX : TB_POTRF_ROWS;
    const tb_potrf_panel arguments = {.a = block->a.data,
                                      .order = order,
                                      .rows = rows,
                                      .row_step = lower ? 1 : block->a.ld,
                                      .column_step = lower ? block->a.ld : 1,
                                      .position = position,
                                      .info = info,
                                      .letters = workspace};
    tb_entry *entry = panels[block->routine].potrf;
    return launcher->launch(launcher, entry, 1 + tb_ceil_div(rows - order, rows_of_block),
                            TB_POTRF_THREADS(tb_bytes_of(block->a.element)), entry->dynamic_shared_bytes,
                            &arguments);
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
        return launch_potrf(launcher, block, position, info, workspace);
    return tb_launch_getrf(launcher, tb_choose_getrf(launcher->target, block->a.element, block->m), &block->a,
                           position, block->pivots.data, info, workspace);
}
