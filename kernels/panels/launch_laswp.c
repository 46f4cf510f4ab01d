#include "kernels/panels/launch_laswp.h"

#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/panels/getrf.h"
#include "words/integers.h"

static tb_module laswp_module = {.name = "laswp"};

#define ENTRY(element, symbol) [element] = {&laswp_module, symbol, 0, NULL, 0, false}
tb_entry tb_entries_laswp[TB_ELEMENTS] = {ENTRY(TB_FP32, "slaswp"), ENTRY(TB_FP64, "dlaswp"),
                                          ENTRY(TB_COMPLEX_FP32, "claswp"), ENTRY(TB_COMPLEX_FP64, "zlaswp")};

static tb_module panel_module = {.name = "panel_laswp"};
#define PANEL_ENTRY(element, symbol) [element] = {&panel_module, symbol, 0, NULL, 0, TB_EARLY}
tb_entry tb_entries_panel_laswp[TB_ELEMENTS] = {
    PANEL_ENTRY(TB_FP32, "spanel_laswp"), PANEL_ENTRY(TB_FP64, "dpanel_laswp"),
    PANEL_ENTRY(TB_COMPLEX_FP32, "cpanel_laswp"), PANEL_ENTRY(TB_COMPLEX_FP64, "zpanel_laswp")};

static bool has_its_panel(const tb_row_exchange *exchange)
{
    return !exchange->has_panel ||
           (!exchange->backwards && exchange->count > 0 && exchange->count <= TB_PANEL_EXCHANGED_MOST &&
            exchange->panel >= 0 && exchange->count <= exchange->matrix.columns &&
            exchange->panel <= exchange->matrix.columns - exchange->count &&
            exchange->panel <= INT32_MAX - TB_PANEL_EXCHANGED_MOST);
}

bool tb_is_row_exchange(const tb_row_exchange *exchange)
{
    const tb_matrix *a = &exchange->matrix;
    return (unsigned)a->element < TB_ELEMENTS && a->rows >= 0 && a->rows <= INT32_MAX && a->columns >= 0 &&
           a->ld >= a->rows && exchange->first >= 0 && exchange->count >= 0 && exchange->count <= a->rows &&
           exchange->first <= a->rows - exchange->count && exchange->pivots.data &&
           exchange->pivots.bits == 32 && has_its_panel(exchange);
}

/* Blocks find out by themselves where rows go: of few columns each that would be most of the work. */
static int64_t columns_of_block(const tb_launcher *launcher, int64_t columns)
{
    enum { AT_A_TIME = 4, LEAST = 8, BLOCKS_OF_MULTIPROCESSOR = 2 };
    const int64_t fair = tb_ceil_div(columns, BLOCKS_OF_MULTIPROCESSOR * launcher->target.multiprocessors);
    return tb_round_up(fair > LEAST ? fair : LEAST, AT_A_TIME);
}

static tb_status exchange_some(const tb_launcher *launcher, const tb_matrix *matrix, tb_laswp arguments)
{
    arguments.columns_of_block = columns_of_block(launcher, matrix->columns);
    const int64_t blocks = tb_ceil_div(matrix->columns, arguments.columns_of_block);
    return launcher->launch(launcher, &tb_entries_laswp[matrix->element], blocks, TB_LASWP_THREADS, 0,
                            &arguments);
}

/* A warp a column, as far as there is room for them. */
static tb_status launch_with_panel(const tb_launcher *launcher, const tb_row_exchange *exchange)
{
    enum { WARPS = TB_PANEL_LASWP_THREADS / 32, BLOCKS_OF_MULTIPROCESSOR = 4 };
    const tb_matrix *matrix = &exchange->matrix;
    const int64_t wanted = tb_ceil_div(matrix->columns - exchange->count, WARPS),
                  most = BLOCKS_OF_MULTIPROCESSOR * launcher->target.multiprocessors;
    const tb_laswp arguments = {.a = matrix->data,
                                .ld = matrix->ld,
                                .columns = matrix->columns,
                                .pivots = exchange->pivots.data,
                                .rows = (int32_t)matrix->rows,
                                .first = (int32_t)exchange->first,
                                .count = (int32_t)exchange->count,
                                .panel = (int32_t)exchange->panel};
    if (wanted == 0)
        return TB_OK;
    return launcher->launch(launcher, &tb_entries_panel_laswp[matrix->element], tb_smaller(wanted, most),
                            TB_PANEL_LASWP_THREADS, 0, &arguments);
}

tb_status tb_launch_laswp(const tb_launcher *launcher, const tb_row_exchange *exchange)
{
    const tb_matrix *matrix = &exchange->matrix;
    if (!tb_is_row_exchange(exchange))
        return TB_UNSUPPORTED;
    if (matrix->columns == 0)
        return TB_OK;
    if (exchange->has_panel)
        return launch_with_panel(launcher, exchange);
    const int64_t launches = tb_ceil_div(exchange->count, TB_LASWP_PIVOTS);
    for (int64_t i = 0; i < launches; i++) {
        const int64_t done = (exchange->backwards ? launches - 1 - i : i) * TB_LASWP_PIVOTS,
                      left = exchange->count - done;
        const tb_laswp arguments = {.a = matrix->data,
                                    .ld = matrix->ld,
                                    .columns = matrix->columns,
                                    .pivots = (const int32_t *)exchange->pivots.data + done,
                                    .rows = (int32_t)matrix->rows,
                                    .first = (int32_t)(exchange->first + done),
                                    .count = (int32_t)(left < TB_LASWP_PIVOTS ? left : TB_LASWP_PIVOTS),
                                    .backwards = exchange->backwards};
        TB_TRY(exchange_some(launcher, matrix, arguments));
    }
    return TB_OK;
}
