/* What a tiling takes: room on the device, traffic on the link, and the products that it makes the kernel multiply. */
#include "dispatch/tiling.h"

#include "words/integers.h"

int64_t tb_pitched(int64_t rows)
{
    /* A line of 128 bytes; short columns would be mostly padding, and need 16 bytes for float4. */
    return rows < 128 ? tb_round_up(rows, 4) : tb_round_up(rows, 32);
}

int64_t tb_slab_floats(int64_t outer, int64_t k)
{
    return tb_round_up(tb_larger(tb_pitched(outer) * k, tb_pitched(k) * outer), 32);
}

static double slab_bytes(int64_t outer, int64_t k)
{
    return (double)sizeof(float) * (double)tb_slab_floats(outer, k);
}

static double matrix_bytes(int64_t rows, int64_t columns)
{
    return (double)sizeof(float) * (double)tb_pitched(rows) * (double)columns;
}

static double whole_bytes(const tb_problem *problem, const tb_tiling *tiling)
{
    const int64_t m = problem->m, n = problem->n, k = tb_larger(problem->k, 1);
    const int64_t bands = tiling->apart ? tb_pieces(m, tiling->band_m) : 1;
    const int64_t band_m = tiling->apart ? tiling->band_m : m;
    return (problem->transpose_a ? matrix_bytes(k, m) : matrix_bytes(band_m, bands * k)) +
           (problem->transpose_b ? matrix_bytes(n, k) : matrix_bytes(k, n)) + matrix_bytes(band_m, bands * n);
}

double tb_tiling_bytes(const tb_problem *problem, const tb_tiling *tiling)
{
    if (tiling->whole)
        return whole_bytes(problem, tiling);
    int64_t columns = tiling->ring_c * tiling->block_n;
    return (double)tiling->ring_a * slab_bytes(tiling->block_m, tiling->slab_k) +
           (double)tiling->ring_b * slab_bytes(tiling->block_n, tiling->slab_k) +
           (double)sizeof(float) * (double)tb_pitched(tiling->block_m) * (double)columns;
}

double tb_tiling_traffic(const tb_problem *problem, const tb_tiling *tiling)
{
    double a = (double)problem->m * (double)problem->k, b = (double)problem->k * (double)problem->n;
    double loads_a = tiling->ring_a < tiling->slabs ? (double)tb_pieces(problem->n, tiling->block_n) : 1;
    return (double)sizeof(float) * (a * loads_a + b * (double)tb_pieces(problem->m, tiling->block_m));
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* Pieces of A that the first block waits for. */
static int64_t first_steps(const tb_tiling *tiling)
{
    return tiling->piece_m < tiling->band_m ? tb_pieces(tiling->band_m, tiling->piece_m)
                                            : tiling->slabs - tiling->lead;
}

int64_t tb_step_count(const tb_problem *problem, const tb_tiling *tiling)
{
    return tiling->lead + first_steps(tiling) + tb_pieces(problem->n - tiling->block_n, tiling->next_n) +
           tb_pieces(problem->m, tiling->band_m) - 1;
}

static tb_range range_at(int64_t first, int64_t most, int64_t end)
{
    return (tb_range){first, tb_smaller(most, end - first)};
}

/* A run of k for all of C. */
static tb_step lead_step(const tb_problem *problem, const tb_tiling *tiling, int64_t index)
{
    const tb_range k = range_at(index * tiling->slab_k, tiling->slab_k, problem->k);
    return (tb_step){.rows = {0, problem->m},
                     .columns = {0, problem->n},
                     .k = k,
                     .brings_a = true,
                     .b_k = k,
                     .brings_c = index == 0,
                     .panel_n = problem->n};
}

/* A piece of A, for the first block. */
static tb_step first_step(const tb_problem *problem, const tb_tiling *tiling, int64_t index)
{
    const int64_t count = first_steps(tiling), first_k = tiling->lead * tiling->slab_k;
    const tb_range all_k = {first_k, problem->k - first_k};
    tb_step step = {.columns = {0, tiling->block_n},
                    .brings_a = true,
                    .brings_c = tiling->lead == 0 && index == 0,
                    .panel_n = tiling->block_n,
                    .completes = index + 1 == count};
    if (tiling->piece_m < tiling->band_m) {
        step.rows = range_at(index * tiling->piece_m, tiling->piece_m, tiling->band_m);
        step.k = all_k;
        step.brings_c = tiling->lead == 0;
        step.b_k = index == 0 ? all_k : (tb_range){0};
        return step;
    }
    step.rows = (tb_range){0, tiling->band_m};
    step.k = range_at(first_k + index * tiling->slab_k, tiling->slab_k, problem->k);
    if (tiling->b_by_slabs)
        step.b_k = step.k;
    else if (index == 0)
        step.b_k = all_k;
    if (step.completes)
        step.panel_n = tiling->panel_n;
    return step;
}

tb_step tb_step_at(const tb_problem *problem, const tb_tiling *tiling, int64_t index)
{
    const int64_t m = problem->m, n = problem->n, first_k = tiling->lead * tiling->slab_k;
    const tb_range k = {first_k, problem->k - first_k};
    if (index < tiling->lead)
        return lead_step(problem, tiling, index);
    index -= tiling->lead;
    if (index < first_steps(tiling))
        return first_step(problem, tiling, index);
    index -= first_steps(tiling);
    const int64_t blocks = tb_pieces(n - tiling->block_n, tiling->next_n);
    const bool brings_c = tiling->lead == 0;
    if (index < blocks)
        return (tb_step){.rows = {0, tiling->band_m},
                         .columns = range_at(tiling->block_n + index * tiling->next_n, tiling->next_n, n),
                         .k = k,
                         .b_k = k,
                         .brings_c = brings_c,
                         .panel_n = tiling->next_panel_n,
                         .completes = true};
    index -= blocks;
    return (tb_step){.rows = range_at((index + 1) * tiling->band_m, tiling->band_m, m),
                     .columns = {0, n},
                     .k = k,
                     .brings_a = true,
                     .brings_c = brings_c,
                     .panel_n = tiling->band_panel_n,
                     .completes = true};
}

/* ---- Sizes ------------------------------------------------------------------------------------------------ */

typedef struct size_list {
    tb_part_size *sizes;
    int count;
    float beta;
} size_list;

static void note_size(size_list *list, int64_t rows, int64_t columns, int64_t k, bool added)
{
    const tb_part_size size = {rows, columns, k, added ? 1 : list->beta};
    for (int i = 0; i < list->count; i++)
        if (list->sizes[i].rows == rows && list->sizes[i].columns == columns && list->sizes[i].k == k &&
            (list->sizes[i].beta == 1) == (size.beta == 1))
            return;
    if (rows > 0 && columns > 0)
        list->sizes[list->count++] = size;
}

static void note_panels(size_list *list, int64_t rows, int64_t columns, int64_t panel, int64_t k, bool added)
{
    if (columns >= panel)
        note_size(list, rows, panel, k, added);
    note_size(list, rows, columns % panel, k, added);
}

/* A block whose product is summed up over k, the last slab panel by panel. */
static void note_block(size_list *list, const tb_problem *problem, const tb_tiling *tiling, int64_t rows,
                       int64_t columns)
{
    const int64_t last = problem->k - (tiling->slabs - 1) * tiling->slab_k;
    if (tiling->slabs > 1)
        note_size(list, rows, columns, tiling->slab_k, false);
    if (tiling->slabs > 2)
        note_size(list, rows, columns, tiling->slab_k, true);
    note_panels(list, rows, columns, tiling->panel_n, last, tiling->slabs > 1);
}

static void note_steps(size_list *list, const tb_problem *problem, const tb_tiling *tiling)
{
    const int64_t count = tb_step_count(problem, tiling);
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(problem, tiling, i);
        note_panels(list, step.rows.count, step.columns.count, step.panel_n, step.k.count, step.k.first > 0);
    }
}

int tb_tiling_sizes(const tb_problem *problem, const tb_tiling *tiling, tb_part_size sizes[TB_PART_SIZES])
{
    size_list list = {.sizes = sizes, .beta = problem->beta};
    if (tiling->whole) {
        note_steps(&list, problem, tiling);
        return list.count;
    }
    const int64_t columns = tb_smaller(tiling->block_n, problem->n);
    const int64_t rows[] = {tb_smaller(tiling->block_m, problem->m), problem->m % tiling->block_m};
    for (int i = 0; i < 2; i++) {
        note_block(&list, problem, tiling, rows[i], columns);
        note_block(&list, problem, tiling, rows[i], problem->n % columns);
    }
    return list.count;
}
