#include "kernels/panels/launch_getrf.h"

#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/panels/getrf.h"
#include "words/integers.h"

static tb_module getrf_modules[TB_ELEMENTS] = {[TB_FP32] = {.name = "getrf_fp32"},
                                               [TB_FP64] = {.name = "getrf_fp64"},
                                               [TB_COMPLEX_FP32] = {.name = "getrf_complex_fp32"},
                                               [TB_COMPLEX_FP64] = {.name = "getrf_complex_fp64"}};

enum { SHARED_MOST = 227 << 10 };
#define ENTRY(element, symbol) [element] = {&getrf_modules[element], symbol, SHARED_MOST, NULL, 0, false}
#define ENTRIES(name, complex_fp64_name)                                                                     \
    {                                                                                                        \
        ENTRY(TB_FP32, "sgetrf_" name), ENTRY(TB_FP64, "dgetrf_" name),                                      \
            ENTRY(TB_COMPLEX_FP32, "cgetrf_" name), ENTRY(TB_COMPLEX_FP64, "zgetrf_" complex_fp64_name)      \
    }
#define FORM(name)                                                                                           \
    {                                                                                                        \
        [TB_GETRF_ROWS_4] = ENTRIES(name "_4", name "_4"),                                                   \
        [TB_GETRF_ROWS_8] = ENTRIES(name "_8", name "_deep"),                                                \
        [TB_GETRF_DEEP] = ENTRIES(name "_deep", name "_deep")                                                \
    }

tb_entry tb_entries_getrf[TB_GETRF_FORMS][TB_GETRF_DEPTHS][TB_ELEMENTS] = {
    [TB_GETRF_ALONE] = FORM("alone"), [TB_GETRF_CLUSTER] = FORM("cluster"), [TB_GETRF_GRID] = FORM("grid")};

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

static int letter_bytes(tb_element element)
{
    return TB_GETRF_LETTER_BYTES((int)tb_bytes_of(element));
}

/* Letters of the block's warps, and what the form has beside them (kernels/panels/exchange.cuh). */
static int letters_of_block(tb_getrf_form form, tb_element element)
{
    const int of_warps = 2 * TB_GETRF_THREADS / 32,
              others = form == TB_GETRF_CLUSTER ? 2 * TB_GETRF_CLUSTER_MAXIMUM : form == TB_GETRF_GRID,
              barriers = form == TB_GETRF_CLUSTER ? 16 : 0;
    return (of_warps + others) * letter_bytes(element) + barriers;
}

/* Of a block. */
static int rows_in_registers(tb_getrf_depth depth, tb_element element, int threads)
{
    static const int deep[TB_ELEMENTS] = {[TB_FP32] = TB_GETRF_ROWS_FP32,
                                          [TB_FP64] = TB_GETRF_ROWS_FP64,
                                          [TB_COMPLEX_FP32] = TB_GETRF_ROWS_COMPLEX_FP32,
                                          [TB_COMPLEX_FP64] = TB_GETRF_ROWS_COMPLEX_FP64};
    const int of_lanes = depth == TB_GETRF_ROWS_4 ? 4 : depth == TB_GETRF_ROWS_8 ? 8 : deep[element];
    return threads / TB_GETRF_LANES * (of_lanes < deep[element] ? of_lanes : deep[element]);
}

/* Of a row for each thread in shared memory, and its number. */
static int further_bytes(tb_element element, int threads)
{
    return threads * (TB_GETRF_COLUMNS * (int)tb_bytes_of(element) + 4);
}

static bool has_clusters(int architecture)
{
    return architecture >= 90 && TB_CODE_FROM_90 != 0;
}

static int64_t rows_maximum(tb_getrf_form form, tb_element element, int architecture, int blocks, int threads)
{
    if (form == TB_GETRF_NONE || (form == TB_GETRF_CLUSTER && !has_clusters(architecture)))
        return 0;
    const int room = shared_maximum(architecture) - letters_of_block(form, element),
              further = room / further_bytes(element, threads) * threads;
    const int64_t rows = (int64_t)blocks * (rows_in_registers(TB_GETRF_DEEP, element, threads) + further);
    return rows < TB_GETRF_ROWS_MAXIMUM ? rows : TB_GETRF_ROWS_MAXIMUM;
}

int64_t tb_getrf_rows_maximum(tb_getrf_form form, tb_element element, int architecture, int blocks)
{
    return rows_maximum(form, element, architecture, blocks, TB_GETRF_THREADS);
}

tb_getrf_shape tb_shape_getrf_of(tb_getrf_form form, tb_element element, int architecture, int64_t rows,
                                 int blocks, int threads)
{
    if (rows > rows_maximum(form, element, architecture, blocks, threads))
        return (tb_getrf_shape){.form = TB_GETRF_NONE};
    const int rows_of_block = (int)tb_ceil_div(rows, blocks);
    tb_getrf_depth depth = TB_GETRF_ROWS_4;
    while (depth < TB_GETRF_DEEP && rows_of_block > rows_in_registers(depth, element, threads))
        depth++;
    const int beyond = rows_of_block - rows_in_registers(depth, element, threads),
              further = beyond > 0 ? (int)tb_ceil_div(beyond, threads) : 0;
    return (tb_getrf_shape){.form = form,
                            .depth = depth,
                            .blocks = blocks,
                            .rows_of_block = rows_of_block,
                            .threads = threads,
                            .shared_bytes =
                                letters_of_block(form, element) + further * further_bytes(element, threads)};
}

/* So many that all rows are in registers, as few to a lane as can be, and none is without: warps that have no row take part all the same. */
static int threads_for(tb_element element, int64_t rows_of_block)
{
    enum { WARP = 32 };
    for (tb_getrf_depth depth = TB_GETRF_ROWS_4; depth < TB_GETRF_DEPTHS; depth++) {
        const int64_t of_warp = rows_in_registers(depth, element, WARP),
                      threads = tb_ceil_div(rows_of_block, of_warp) * WARP;
        if (threads <= TB_GETRF_THREADS)
            return (int)(threads > WARP ? threads : WARP);
    }
    return TB_GETRF_THREADS;
}

tb_getrf_shape tb_shape_getrf(tb_getrf_form form, tb_element element, int architecture, int64_t rows,
                              int blocks)
{
    return tb_shape_getrf_of(form, element, architecture, rows, blocks,
                             threads_for(element, tb_ceil_div(rows, blocks)));
}

/* Of a panel that one block has: then nothing goes from one multiprocessor to another, which takes longer than twice as many rows. */
#define ROWS_ALONE 256
/* Of a cluster's blocks, as far as there are any: four warps that have a row a thread are as many as one multiprocessor's schedulers. Each
 * doubling of the blocks takes less than one of the rows. */
#define ROWS_IN_CLUSTER 128
#define ROWS_IN_GRID    256

static int blocks_for(int64_t rows, int most)
{
    const int64_t wanted = tb_ceil_div(rows, ROWS_IN_GRID);
    return wanted < most ? (int)wanted : most;
}

static int cluster_for(int64_t rows, int most)
{
    int cluster = 2;
    while (2 * cluster <= most && (int64_t)cluster * ROWS_IN_CLUSTER < rows)
        cluster *= 2;
    return cluster;
}

/* Blocks of the largest cluster that the device runs of blocks that have a multiprocessor each; 1: it runs none. */
static int cluster_maximum(tb_target target)
{
    const tb_clusters *clusters = target.clusters;
    int most = TB_CLUSTER_BLOCKS_MAXIMUM;
    if (!has_clusters(target.architecture))
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
    return target.multiprocessors < TB_GETRF_GRID_MAXIMUM ? target.multiprocessors : TB_GETRF_GRID_MAXIMUM;
}

tb_getrf_shape tb_choose_getrf(tb_target target, tb_element element, int64_t rows)
{
    const int architecture = target.architecture, most = cluster_maximum(target);
    if (rows <= ROWS_ALONE)
        return tb_shape_getrf(TB_GETRF_ALONE, element, architecture, rows, 1);
    if (most > 1) {
        const tb_getrf_shape cluster =
            tb_shape_getrf(TB_GETRF_CLUSTER, element, architecture, rows, cluster_for(rows, most));
        if (cluster.form != TB_GETRF_NONE)
            return cluster;
    }
    return tb_shape_getrf(TB_GETRF_GRID, element, architecture, rows, blocks_for(rows, grid_maximum(target)));
}

int64_t tb_getrf_rows_on(tb_target target, tb_element element)
{
    return tb_getrf_rows_maximum(TB_GETRF_GRID, element, target.architecture, grid_maximum(target));
}

size_t tb_getrf_workspace(tb_element element)
{
    return TB_GETRF_LETTERS_BYTES(tb_bytes_of(element));
}

/* ---- Launches ----------------------------------------------------------------------------------------------- */

static bool is_launchable(tb_target target, tb_getrf_shape shape, const tb_matrix *panel)
{
    return shape.form != TB_GETRF_NONE && panel->columns <= TB_GETRF_COLUMNS &&
           panel->rows <= (int64_t)shape.blocks * shape.rows_of_block &&
           (shape.form != TB_GETRF_GRID || shape.blocks <= grid_maximum(target));
}

tb_status tb_launch_getrf(const tb_launcher *launcher, tb_getrf_shape shape, const tb_matrix *panel,
                          int64_t position, int32_t *pivots, int64_t *info, void *workspace)
{
    const tb_getrf_panel arguments = {.a = panel->data,
                                      .ld = panel->ld,
                                      .rows = (int32_t)panel->rows,
                                      .columns = (int32_t)panel->columns,
                                      .blocks = shape.blocks,
                                      .rows_of_block = shape.rows_of_block,
                                      .position = position,
                                      .pivots = pivots,
                                      .info = info,
                                      .letters = workspace};
    if (!is_launchable(launcher->target, shape, panel))
        return TB_UNSUPPORTED;
    if (panel->rows == 0 || panel->columns == 0)
        return TB_OK;
    tb_entry *entry = &tb_entries_getrf[shape.form][shape.depth][panel->element];
    if (shape.form == TB_GETRF_CLUSTER)
        return launcher->launch_clusters(launcher, entry, shape.blocks, shape.blocks, shape.threads,
                                         shape.shared_bytes, &arguments);
    if (shape.form == TB_GETRF_GRID)
        return launcher->launch_together(launcher, entry, shape.blocks, shape.threads, shape.shared_bytes,
                                         &arguments);
    return launcher->launch(launcher, entry, shape.blocks, shape.threads, shape.shared_bytes, &arguments);
}
