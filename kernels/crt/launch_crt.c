/* Launching dgemm_crt: the survey, rectangles of C from residues, and the row that multiplies where the survey was against
 * them. */
#include "kernels/crt/schedule_crt.h"
#include "kernels/forwarder.h"
#include "kernels/launch.h"

#include <stdatomic.h>

static size_t aligned(size_t bytes)
{
    return (bytes + TB_CRT_ALIGNMENT - 1) / TB_CRT_ALIGNMENT * TB_CRT_ALIGNMENT;
}

static void *take(char **workspace, size_t bytes)
{
    void *taken = *workspace;
    *workspace += aligned(bytes);
    return taken;
}

static tb_crt_operand operand_of(const tb_operand *operand, int64_t rows, int64_t k, bool k_contiguous,
                                 int32_t panel)
{
    return (tb_crt_operand){.elements = operand->data,
                            .rows = rows,
                            .k = k,
                            .leading_dimension = operand->ld,
                            .k_contiguous = k_contiguous,
                            .panel = panel};
}

/* Outer indices from one on, as many as the product has. */
static void narrow(tb_crt_operand *x, const tb_crt_operand *all, int parts, int64_t first, int64_t rows,
                   int64_t stages)
{
    x->rows = rows;
    x->elements = all->elements + first * (all->k_contiguous ? all->leading_dimension : parts);
    x->quantum = all->quantum + first;
    x->panels = (int32_t)(tb_round_up(rows, TB_CRT_SIDE) / x->panel);
    x->plane = (int64_t)tb_crt_plane_bytes(rows, stages);
}

static int32_t pieces_of(const tb_crt_operand *x, int64_t stages)
{
    return (int32_t)(x->panels * (x->panel / TB_CRT_PIECE_ROWS) * stages * (TB_CRT_STAGE_K / TB_CRT_PIECE_K));
}

/* No other launch's, and nothing that happens to lie in a workspace: multiples of an odd number all differ, and look random. */
static int64_t draw_ticket(void)
{
    static _Atomic uint64_t launches;
    return (int64_t)((atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) + 1) *
                     UINT64_C(0x9e3779b97f4a7c15));
}

/* Blocks for all of A are there also where it is kept: whether it is known, only the device knows. */
static tb_status launch_survey(const tb_launcher *launcher, tb_entry *entries,
                               const tb_crt_arguments *arguments)
{
    const int64_t m = arguments->a.rows, n = arguments->same ? 0 : arguments->b.rows,
                  rows = tb_ceil_div(m, TB_CRT_BLOCK_ROWS) + tb_ceil_div(n, TB_CRT_BLOCK_ROWS),
                  blocks = TB_CRT_SCOUTS + rows * tb_ceil_div(arguments->problem.k, arguments->survey_k);
    TB_TRY(launcher->launch(launcher, &entries[TB_CRT_SURVEY], blocks, TB_CRT_PASS_THREADS, 0, arguments));
    TB_TRY(launcher->launch(launcher, &entries[TB_CRT_GATHER], tb_ceil_div(m + n, TB_CRT_PASS_THREADS),
                            TB_CRT_PASS_THREADS, 0, arguments));
    return launcher->launch(launcher, &entries[TB_CRT_DECIDE], 1, TB_CRT_DECIDE_THREADS, 0, arguments);
}

static tb_status launch_multiply(const tb_crt_family *family, const tb_launcher *launcher, tb_entry *entry,
                                 const tb_crt_arguments *arguments)
{
    const int64_t works = (int64_t)arguments->tiles * arguments->moduli_most;
    if (family->cluster == 1)
        return launcher->launch(launcher, entry, works, family->threads, family->shared_bytes, arguments);
    const int64_t clusters = tb_smaller(works, tb_crt_at_a_time(family, launcher->target));
    return launcher->launch_clusters(launcher, entry, clusters * family->cluster, family->cluster,
                                     family->threads, family->shared_bytes, arguments);
}

/* A rectangle of C, from residues that are there or are made. */
static tb_status launch_rectangle(const tb_crt_family *family, const tb_launcher *launcher, tb_entry *entries,
                                  const tb_crt_arguments *arguments)
{
    const bool pairs = arguments->parts > 1;
    tb_entry *residues = &entries[pairs ? TB_CRT_RESIDUES_OF_PAIRS : TB_CRT_RESIDUES],
             *multiply = &entries[pairs ? TB_CRT_MULTIPLY_PAIRS : TB_CRT_MULTIPLY];
    const int64_t pieces = (int64_t)arguments->pieces_a + arguments->pieces_b,
                  most = (int64_t)launcher->target.multiprocessors * TB_CRT_PIECE_TURNS;
    if (pieces > 0)
        TB_TRY(launcher->launch(launcher, residues, tb_smaller(pieces, most), TB_CRT_PIECE_THREADS, 0,
                                arguments));
    if (arguments->tiles == 0)
        return TB_OK;
    TB_TRY(launch_multiply(family, launcher, multiply, arguments));
    const int64_t vectors =
        (int64_t)arguments->tiles * family->cluster * arguments->parts * TB_CRT_VECTORS(family->tile_n);
    return launcher->launch(launcher, &entries[TB_CRT_JOIN], vectors, TB_CRT_CONSUMERS, 0, arguments);
}

static tb_status launch_rectangles(const tb_crt_family *family, const tb_launcher *launcher,
                                   tb_entry *entries, const tb_crt_deal *own, const tb_product *product,
                                   const tb_crt_arguments *all)
{
    const int64_t stages = tb_crt_stages_of(product);
    for (int64_t row = 0; row < product->m; row += own->rows)
        for (int64_t column = 0; column < product->n; column += own->columns) {
            const tb_range rows = {row, tb_smaller(own->rows, product->m - row)},
                           columns = {column, tb_smaller(own->columns, product->n - column)};
            const tb_product part = tb_subproduct(product, rows, columns, (tb_range){0, product->k});
            tb_crt_arguments arguments = *all;
            arguments.problem = tb_dgemm_of(&part);
            narrow(&arguments.a, &all->a, all->parts, row / all->parts, rows.count / all->parts, stages);
            narrow(&arguments.b, &all->b, all->parts, column, columns.count, stages);
            arguments.masked = tb_crt_tiles_of(family, &part);
            arguments.tiles = (int32_t)arguments.masked.count;
            arguments.tiles_m = (int32_t)tb_ceil_div(part.m, tb_crt_rows_of_tiles(family, &part));
            arguments.tiles_n = (int32_t)tb_ceil_div(part.n, family->tile_n);
            /* What the launch before, or the rectangle before, has made. */
            const bool has_a = column > 0, has_b = row > 0 && own->columns >= product->n;
            arguments.pieces_a = has_a ? 0 : pieces_of(&arguments.a, stages);
            arguments.pieces_b = has_b || all->same ? 0 : pieces_of(&arguments.b, stages);
            TB_TRY(launch_rectangle(family, launcher, entries, &arguments));
        }
    return TB_OK;
}

static tb_status launch(const tb_crt_family *family, const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const tb_crt_deal *own = TB_DEAL(schedule, tb_crt_deal);
    const tb_kernel *row = tb_crt_native(kernel, own);
    const tb_schedule native = tb_prepare(row, product, launcher->target);
    if (product->k == 0 || product->m == 0 || product->n == 0)
        return row->launch(launcher, row, product, &native, workspace);
    if (!tb_crt_is_in_range(product))
        return TB_UNSUPPORTED;
    const int64_t stages = tb_crt_stages_of(product), blocks_k = tb_ceil_div(product->k, own->survey_k);
    char *left = workspace;
    tb_crt_arguments arguments = {
        .problem = tb_dgemm_of(product),
        .a = operand_of(&product->a, tb_crt_numbers_m(product), tb_crt_numbers_k(product),
                        product->a.transposed, family->tile_n),
        .b = operand_of(&product->b, product->n, tb_crt_numbers_k(product), !product->b.transposed,
                        family->tile_n),
        .ticket = draw_ticket(),
        .parts = (int32_t)tb_crt_parts_of(product),
        .stages = (int32_t)stages,
        .cluster = family->cluster,
        .survey_k = own->survey_k,
        .moduli_most = own->moduli_most,
        .keeps_a = launcher->same_a && tb_crt_is_whole(own, product),
        .leaves_a = tb_crt_is_whole(own, product),
        .same = tb_crt_is_whole(own, product) && tb_has_one_operand(product),
    };
    /* What is known of A comes first, where the next launch finds it. Planes of A that this one has no use for may be written
     * over. */
    const size_t m = (size_t)tb_crt_numbers_m(product), n = (size_t)product->n,
                 planes = (size_t)own->moduli_most * (size_t)tb_crt_sets_of(product);
    arguments.decision = take(&left, sizeof(tb_crt_decision));
    arguments.a.records = take(&left, m * sizeof(tb_crt_record));
    arguments.a.quantum = take(&left, m * sizeof(int32_t));
    arguments.a.residues = take(&left, planes * tb_crt_plane_bytes(own->rows / arguments.parts, stages));
    arguments.b.records = take(&left, n * sizeof(tb_crt_record));
    arguments.b.quantum = take(&left, n * sizeof(int32_t));
    arguments.b.residues = take(&left, planes * tb_crt_plane_bytes(own->columns, stages));
    arguments.residues_c =
        take(&left, (size_t)own->moduli_most * (size_t)arguments.parts *
                        tb_crt_plane_bytes_of_c(own->rows / arguments.parts, own->columns));
    arguments.a.census = take(&left, tb_crt_census_bytes(own, product));
    arguments.b.census = arguments.a.census + arguments.a.rows * blocks_k;
    if (arguments.same)
        arguments.b = arguments.a;

    /* The first launch that writes is one of several: from there on nothing may fail that can be seen to before. */
    for (int entry = 0; entry < TB_CRT_ENTRIES; entry++)
        TB_TRY(launcher->load(launcher, &kernel->entries[entry]));
    tb_forwarder loading = tb_forward_to(launcher), otherwise = tb_forward_to(launcher);
    loading.only_loads = true;
    otherwise.interface.unless = &arguments.decision->moduli;
    TB_TRY(row->launch(&loading.interface, row, product, &native, left));

    TB_TRY(launch_survey(launcher, kernel->entries, &arguments));
    TB_TRY(launch_rectangles(family, launcher, kernel->entries, own, product, &arguments));
    return row->launch(&otherwise.interface, row, product, &native, left);
}

/* The catalog's callbacks of a row. */
#define CALLBACK(row)                                                                                        \
    tb_status tb_launch_crt_##row(const tb_launcher *launcher, const tb_kernel *kernel,                      \
                                  const tb_product *product, const tb_schedule *schedule, void *workspace)   \
    {                                                                                                        \
        return launch(&tb_crt_##row, launcher, kernel, product, schedule, workspace);                        \
    }
CALLBACK(sm90)
CALLBACK(sm80)
CALLBACK(sm75)
