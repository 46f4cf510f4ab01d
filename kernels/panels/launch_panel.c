#include "kernels/panels/launch_panel.h"

#include "kernels/built_code.h"
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
    tb_entry *entry;
    int64_t order;
} panels[TB_ROUTINES] = {
    [TB_SPOTRF] = {&tb_entries_potrf_panel[TB_FP32], TB_POTRF_ORDER},
    [TB_DPOTRF] = {&tb_entries_potrf_panel[TB_FP64], TB_POTRF_ORDER},
    [TB_CPOTRF] = {&tb_entries_potrf_panel[TB_COMPLEX_FP32], TB_POTRF_ORDER},
    [TB_ZPOTRF] = {&tb_entries_potrf_panel[TB_COMPLEX_FP64], TB_POTRF_ORDER},
};

int64_t tb_panel_order(tb_routine routine)
{
    return panels[routine].order;
}

bool tb_is_panel(const tb_factor *block)
{
    const tb_matrix *a = &block->a;
    return (unsigned)block->routine < TB_ROUTINES && block->n > 0 &&
           block->n <= panels[block->routine].order &&
           a->element == tb_routine_rows[block->routine].element && a->rows == block->n &&
           a->columns == block->n && a->ld >= block->n;
}

tb_status tb_launch_panel(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                          int64_t *info)
{
    const bool lower = block->stored == TB_LOWER;
    const tb_potrf_panel arguments = {.a = block->a.data,
                                      .order = block->n,
                                      .row_step = lower ? 1 : block->a.ld,
                                      .column_step = lower ? block->a.ld : 1,
                                      .position = position,
                                      .info = info};
    if (!tb_is_panel(block))
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, panels[block->routine].entry, 1, TB_POTRF_THREADS, 0, &arguments);
}
