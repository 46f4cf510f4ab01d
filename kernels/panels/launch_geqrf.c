#include "kernels/panels/launch_geqrf.h"

#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/panels/geqrf.h"
#include "words/integers.h"

static tb_module geqrf_modules[TB_ELEMENTS] = {[TB_FP32] = {.name = "geqrf_fp32"},
                                               [TB_FP64] = {.name = "geqrf_fp64"},
                                               [TB_COMPLEX_FP32] = {.name = "geqrf_complex_fp32"},
                                               [TB_COMPLEX_FP64] = {.name = "geqrf_complex_fp64"}};

enum { SHARED_MOST = 227 << 10 };
#define ENTRY(element, symbol) [element] = {&geqrf_modules[element], symbol, SHARED_MOST, NULL, 0, false}
#define FORM(name)                                                                                           \
    {                                                                                                        \
        ENTRY(TB_FP32, "sgeqrf_" name), ENTRY(TB_FP64, "dgeqrf_" name),                                      \
            ENTRY(TB_COMPLEX_FP32, "cgeqrf_" name), ENTRY(TB_COMPLEX_FP64, "zgeqrf_" name)                   \
    }

tb_entry tb_entries_geqrf[TB_GEQRF_FORMS][TB_ELEMENTS] = {[TB_GEQRF_ALONE] = FORM("alone"),
                                                          [TB_GEQRF_CLUSTER] = FORM("cluster"),

                                                          [TB_GEQRF_GRID] = FORM("grid")};

/* ---- Shapes ------------------------------------------------------------------------------------------------- */

/* Of a block, on request: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static int shared_maximum(int architecture)
{
    switch (architecture) {
    case 75:
        return 64 << 10;
    case 80:
    case 87:
        return 163 << 10;
    case 90:
    case 100:
    case 103:
        return SHARED_MOST;
    default:
        return 99 << 10;
    }
}

static int layers_in_registers(tb_geqrf_form form, tb_element element)
{
    static const int layers[TB_ELEMENTS] = {[TB_FP32] = TB_GEQRF_LAYERS_FP32,
                                            [TB_FP64] = TB_GEQRF_LAYERS_FP64,
                                            [TB_COMPLEX_FP32] = TB_GEQRF_LAYERS_COMPLEX_FP32,
                                            [TB_COMPLEX_FP64] = TB_GEQRF_LAYERS_COMPLEX_FP64},
                     of_grid[TB_ELEMENTS] = {[TB_FP32] = TB_GEQRF_GRID_LAYERS_FP32,
                                             [TB_FP64] = TB_GEQRF_GRID_LAYERS_FP64,
                                             [TB_COMPLEX_FP32] = TB_GEQRF_GRID_LAYERS_COMPLEX_FP32,
                                             [TB_COMPLEX_FP64] = TB_GEQRF_GRID_LAYERS_COMPLEX_FP64};
    return (form == TB_GEQRF_GRID ? of_grid : layers)[element];
}

/* What a block has beside layers (kernels/panels/geqrf.h). */
static int fixed_bytes(tb_geqrf_form form, tb_element element)
{
    const int bytes = (int)tb_bytes_of(element),
              of_form = form == TB_GEQRF_CLUSTER ? TB_GEQRF_OF_CLUSTER
                        : form == TB_GEQRF_GRID  ? TB_GEQRF_OF_GRID
                                                 : 0,
              numbers = TB_GEQRF_OF_WARPS + of_form + TB_GEQRF_TRIANGLE + TB_GEQRF_COLUMNS + TB_GEQRF_OF_STEP;
    return numbers * bytes + (form == TB_GEQRF_CLUSTER ? TB_GEQRF_OF_CLUSTER_BYTES : 0) +
           TB_GEQRF_THREADS / 32 * layers_in_registers(form, element) * TB_GEQRF_STAGED_BYTES(bytes);
}

static int layer_bytes(tb_element element)
{
    return TB_GEQRF_LAYER_BYTES((int)tb_bytes_of(element));
}

static bool runs(tb_geqrf_form form, int architecture)
{
    return form != TB_GEQRF_NONE &&
           (form != TB_GEQRF_CLUSTER || (architecture >= 90 && TB_CODE_FROM_90 != 0));
}

static int most_layers_in_shared(tb_geqrf_form form, tb_element element, int architecture)
{
    return form == TB_GEQRF_GRID
               ? (shared_maximum(architecture) - fixed_bytes(form, element)) / layer_bytes(element)
               : 0;
}

int64_t tb_geqrf_rows_on_chip(tb_geqrf_form form, tb_element element, int architecture, int blocks)
{
    if (!runs(form, architecture))
        return 0;
    const int layers =
        layers_in_registers(form, element) + most_layers_in_shared(form, element, architecture);
    return (int64_t)blocks * layers * TB_GEQRF_ROWS_OF_LAYER;
}

tb_geqrf_shape tb_shape_geqrf(tb_geqrf_form form, tb_element element, int architecture, int64_t rows,
                              int blocks)
{
    const int64_t rows_of_block = tb_round_up(tb_ceil_div(rows, blocks), TB_GEQRF_ROWS_OF_WARP);
    if (!runs(form, architecture) || rows_of_block * blocks > INT32_MAX ||
        (form != TB_GEQRF_GRID && rows > tb_geqrf_rows_on_chip(form, element, architecture, blocks)))
        return (tb_geqrf_shape){.form = TB_GEQRF_NONE};
    const int most = most_layers_in_shared(form, element, architecture),
              further = (int)tb_ceil_div(rows_of_block, TB_GEQRF_ROWS_OF_LAYER) -
                        layers_in_registers(form, element),
              in_shared = further < 0      ? 0
                          : further < most ? further
                                           : most;
    return (tb_geqrf_shape){.form = form,
                            .blocks = blocks,
                            .rows_of_block = (int)rows_of_block,
                            .layers_in_shared = in_shared,
                            .shared_bytes = fixed_bytes(form, element) + in_shared * layer_bytes(element),
                            .on_chip = further <= most};
}

static int blocks_for(int64_t rows, int most)
{
    const int64_t wanted = tb_ceil_div(rows, TB_GEQRF_ROWS_OF_LAYER);
    return wanted < most ? (int)wanted : most;
}

static int cluster_for(int64_t rows, int most)
{
    int cluster = 2;
    while (2 * cluster <= most && (int64_t)cluster * TB_GEQRF_ROWS_OF_LAYER < rows)
        cluster *= 2;
    return cluster;
}

/* Blocks of the largest cluster that the device runs; 1: none. Where a device's clusters are not known it is one that all run. */
static int cluster_maximum(tb_target target)
{
    const tb_clusters *clusters = target.clusters;
    int most = TB_CLUSTER_BLOCKS_MAXIMUM;
    if (!runs(TB_GEQRF_CLUSTER, target.architecture))
        return 1;
    if (clusters && clusters->wide_at_a_time > 0)
        return TB_WIDE_CLUSTER_BLOCKS;
    while (clusters && most > 1 && clusters->at_a_time[0][most] == 0)
        most /= 2;
    return most;
}

/* Blocks of the largest grid of which all run at a time, each on a multiprocessor. */
static int grid_maximum(tb_target target)
{
    return target.multiprocessors < TB_GEQRF_GRID_MAXIMUM ? target.multiprocessors : TB_GEQRF_GRID_MAXIMUM;
}

tb_geqrf_shape tb_choose_geqrf(tb_target target, tb_element element, int64_t rows)
{
    const int architecture = target.architecture, most = cluster_maximum(target);
    if (rows <= TB_GEQRF_ROWS_OF_LAYER)
        return tb_shape_geqrf(TB_GEQRF_ALONE, element, architecture, rows, 1);
    if (most > 1) {
        const tb_geqrf_shape cluster =
            tb_shape_geqrf(TB_GEQRF_CLUSTER, element, architecture, rows, cluster_for(rows, most));
        if (cluster.form != TB_GEQRF_NONE)
            return cluster;
    }
    return tb_shape_geqrf(TB_GEQRF_GRID, element, architecture, rows, blocks_for(rows, grid_maximum(target)));
}

size_t tb_geqrf_workspace(tb_element element)
{
    return TB_GEQRF_LETTERS_BYTES(tb_bytes_of(element));
}

/* ---- Launches ----------------------------------------------------------------------------------------------- */

static bool is_launchable(tb_target target, tb_geqrf_shape shape, const tb_matrix *panel)
{
    return shape.form != TB_GEQRF_NONE && panel->columns <= TB_GEQRF_COLUMNS &&
           panel->rows <= (int64_t)shape.blocks * shape.rows_of_block &&
           (shape.form != TB_GEQRF_GRID || shape.blocks <= grid_maximum(target));
}

tb_status tb_launch_geqrf(const tb_launcher *launcher, tb_geqrf_shape shape, const tb_matrix *panel,
                          const tb_geqrf_results *results, void *workspace)
{
    const tb_geqrf_panel arguments = {.a = panel->data,
                                      .ld = panel->ld,
                                      .rows = (int32_t)panel->rows,
                                      .columns = (int32_t)panel->columns,
                                      .blocks = shape.blocks,
                                      .rows_of_block = shape.rows_of_block,
                                      .layers_in_shared = shape.layers_in_shared,
                                      .tau = results->tau,
                                      .t = results->t,
                                      .ld_of_t = results->ld_of_t,
                                      .v = results->v,
                                      .ld_of_v = results->ld_of_v,
                                      .letters = workspace};
    if (!is_launchable(launcher->target, shape, panel))
        return TB_UNSUPPORTED;
    if (panel->rows == 0 || panel->columns == 0)
        return TB_OK;
    tb_entry *entry = &tb_entries_geqrf[shape.form][panel->element];
    if (shape.form == TB_GEQRF_CLUSTER)
        return launcher->launch_clusters(launcher, entry, shape.blocks, shape.blocks, TB_GEQRF_THREADS,
                                         shape.shared_bytes, &arguments);
    if (shape.form == TB_GEQRF_GRID)
        return launcher->launch_together(launcher, entry, shape.blocks, TB_GEQRF_THREADS, shape.shared_bytes,
                                         &arguments);
    return launcher->launch(launcher, entry, shape.blocks, TB_GEQRF_THREADS, shape.shared_bytes, &arguments);
}
