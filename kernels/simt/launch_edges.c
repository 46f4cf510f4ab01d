/* The SIMT rows' callbacks. The last rows or columns of C would fill hardly anything of their tiles where few are left
 * behind whole ones: sgemm_skinny computes those in launches of its own, and reads the long operand once more for them.
 */
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "lib/integers.h"

/* Starting a launch: what is unrolled takes longer to be fetched than a simple kernel. Such that the naive kernel gets the
 * products that it is faster at (bench/regret). */
#define START_CLOCKS 5200.0
/* Each launch more, beside what its blocks do; and what the tiles that it saves take less than others, as warps outside C
 * do not multiply. Between 2500 and 20000 it makes little difference (12 shapes on an H200). */
#define EDGE_CLOCKS 8000.0
/* A product that takes less gains nothing, and forecasting its edges would take longer than launching it. */
#define LEAST_CLOCKS 200000.0

/* What sgemm_skinny certainly serves. */
#define EDGE_MAXIMUM   16
#define EXTENT_MAXIMUM INT32_MAX

enum { ROWS = 1, COLUMNS = 2, BOTH = ROWS | COLUMNS };

/* A product as it is launched. */
typedef struct parts {
    tb_problem tiles, edges[2]; /* the tiles come first */
    int edge_count;
    double clocks; /* of all together */
} parts;

/* m x n of C from the row and the column on. Operands of forecasts may be NULL. */
static tb_problem part_of(const tb_problem *problem, int64_t row, int64_t column, int64_t m, int64_t n)
{
    tb_problem part = *problem;
    part.m = m;
    part.n = n;
    if (part.a)
        part.a += problem->transpose_a ? row * problem->lda : row;
    if (part.b)
        part.b += problem->transpose_b ? column : column * problem->ldb;
    if (part.c)
        part.c += row + column * problem->ldc;
    return part;
}

/* How many are left behind whole tiles, if they are few. */
static int64_t few_left(int64_t extent, int tile)
{
    const int64_t left = extent % tile;
    return extent > tile && extent <= EXTENT_MAXIMUM && left <= EDGE_MAXIMUM ? left : 0;
}

static void add_edge(parts *parts, tb_problem edge, tb_target target)
{
    parts->clocks += EDGE_CLOCKS + tb_skinny_plan(&edge, target.multiprocessors).clocks;
    parts->edges[parts->edge_count++] = edge;
}

/* Apart: which of its last rows and columns. */
static parts with_apart(const tb_kernel *kernel, const tb_problem *problem, int apart, tb_target target)
{
    const int64_t rows = apart & ROWS ? few_left(problem->m, kernel->tile_m) : 0;
    const int64_t columns = apart & COLUMNS ? few_left(problem->n, kernel->tile_n) : 0;
    const int64_t m = problem->m - rows, n = problem->n - columns;
    parts parts = {.tiles = part_of(problem, 0, 0, m, n)};
    parts.clocks = tb_simt_plan(kernel, &parts.tiles, 1, target).clocks;
    if (rows > 0)
        add_edge(&parts, part_of(problem, m, 0, rows, n), target);
    if (columns > 0)
        add_edge(&parts, part_of(problem, 0, n, problem->m, columns), target);
    return parts;
}

static parts parts_of(const tb_kernel *kernel, const tb_problem *problem, tb_target target)
{
    parts best = with_apart(kernel, problem, 0, target);
    if (best.clocks < LEAST_CLOCKS || problem->k > EXTENT_MAXIMUM)
        return best;
    const int few = (few_left(problem->m, kernel->tile_m) > 0 ? ROWS : 0) |
                    (few_left(problem->n, kernel->tile_n) > 0 ? COLUMNS : 0);
    for (int apart = ROWS; apart <= BOTH; apart++) {
        if ((apart & ~few) != 0)
            continue;
        const parts each = with_apart(kernel, problem, apart, target);
        if (each.clocks < best.clocks)
            best = each;
    }
    return best;
}

double tb_simt_clocks(const tb_kernel *kernel, const tb_problem *problem, tb_target target)
{
    return START_CLOCKS + parts_of(kernel, problem, target).clocks;
}

int tb_simt_edges(const tb_kernel *kernel, const tb_problem *problem, tb_target target)
{
    return parts_of(kernel, problem, target).edge_count;
}

static size_t larger(size_t x, size_t y)
{
    return x > y ? x : y;
}

size_t tb_simt_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem)
{
    const parts parts = parts_of(kernel, problem, launcher->target);
    const tb_kernel *skinny = tb_find_kernel("sgemm_skinny");
    size_t bytes = tb_simt_workspace_batched(launcher, kernel, &parts.tiles, 1);
    for (int i = 0; i < parts.edge_count; i++)
        bytes = larger(bytes, tb_skinny_workspace(launcher, skinny, &parts.edges[i]));
    return bytes;
}

tb_status tb_launch_simt(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                         void *workspace)
{
    const parts parts = parts_of(kernel, problem, launcher->target);
    const tb_kernel *skinny = tb_find_kernel("sgemm_skinny");
    /* Each launch writes to C: after the first nothing may fail that can be seen to before. */
    for (int i = 0; i < parts.edge_count; i++)
        TB_TRY(tb_prepare_skinny(launcher, skinny, &parts.edges[i]));
    TB_TRY(tb_launch_simt_if(launcher, kernel, &parts.tiles, workspace, NULL));
    for (int i = 0; i < parts.edge_count; i++)
        TB_TRY(tb_launch_skinny(launcher, skinny, &parts.edges[i], workspace));
    return TB_OK;
}
