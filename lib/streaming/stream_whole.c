/* Products of which everything has its place on the device: step by step, as the tiling has them. */
#include "words/integers.h"
#include "lib/device/operand.h"
#include "lib/reports/options.h"
#include "lib/streaming/stream_run.h"

/* Of a matrix as stored. */
static const float *element(const tb_matrix *matrix, int64_t row, int64_t column)
{
    return matrix->data + row + column * matrix->ld;
}

/* Rows of a band, where it has its place, or of the whole matrix. */
static int64_t rows_there(const tb_stream_run *run, const tb_matrix *matrix, int64_t row)
{
    const int64_t band_m = run->tiling->band_m;
    return run->tiling->apart ? tb_smaller(band_m, matrix->rows - row / band_m * band_m) : matrix->rows;
}

/* Rows and columns of A as it is stored, for the product to read. */
static tb_status bring_a(tb_stream_run *run, tb_problem *part, const tb_step *step)
{
    const tb_problem *problem = run->problem;
    const tb_place *place = &run->plan->a;
    const bool transposed = problem->transpose_a;
    const tb_range rows = transposed ? step->k : step->rows, columns = transposed ? step->rows : step->k;
    const tb_matrix a = tb_matrix_a(problem);
    part->a = element(&a, rows.first, columns.first);
    if (tb_is_on_device(place) && !run->plan->pad_a)
        return TB_OK;
    const tb_matrix from = {part->a, rows.count, columns.count, a.ld};
    float *memory = run->a.memory;
    part->lda = run->ld_a;
    part->a = transposed ? memory + rows.first + columns.first * run->ld_a
                         : tb_in_band(run, memory, run->ld_a, a.columns, rows.first, columns.first);
    if (!step->brings_a)
        return TB_OK;
    run->multiplied.a = NULL;
    return tb_load(run, place, &from, (float *)part->a, run->ld_a,
                   rows.count < (transposed ? a.rows : rows_there(run, &a, rows.first)));
}

static tb_status bring_b(tb_stream_run *run, tb_problem *part, const tb_step *step)
{
    const tb_problem *problem = run->problem;
    const tb_place *place = &run->plan->b;
    const bool transposed = problem->transpose_b;
    const tb_matrix b = tb_matrix_b(problem);
    const int64_t row = transposed ? step->columns.first : step->k.first;
    const int64_t column = transposed ? step->k.first : step->columns.first;
    part->b = element(&b, row, column);
    if (tb_is_on_device(place) && !run->plan->pad_b)
        return TB_OK;
    float *memory = run->b.memory;
    part->ldb = tb_pitched(b.rows);
    part->b = memory + row + column * part->ldb;
    if (step->b_k.count == 0)
        return TB_OK;
    const tb_range rows = transposed ? step->columns : step->b_k,
                   columns = transposed ? step->b_k : step->columns;
    const tb_matrix from = {element(&b, rows.first, columns.first), rows.count, columns.count, b.ld};
    return tb_load(run, place, &from, memory + rows.first + columns.first * part->ldb, part->ldb,
                   rows.count < b.rows);
}

static tb_status bring_c(tb_stream_run *run, tb_problem *part, const tb_step *step)
{
    const tb_problem *problem = run->problem;
    const tb_matrix c = tb_matrix_c(problem);
    part->c = tb_device_element(run, step->rows.first, step->columns.first);
    part->ldc = run->ld_c;
    if (step->k.first > 0)
        part->beta = 1;
    if (!step->brings_c || problem->beta == 0)
        return TB_OK;
    const tb_matrix from = {element(&c, step->rows.first, step->columns.first), part->m, part->n, c.ld};
    return tb_load(run, &run->plan->c, &from, part->c, run->ld_c,
                   part->m < rows_there(run, &c, step->rows.first));
}

static tb_status take_step(tb_stream_run *run, const tb_step *step)
{
    tb_problem part = *run->problem;
    part.m = step->rows.count;
    part.n = step->columns.count;
    part.k = step->k.count;
    TB_TRY(bring_c(run, &part, step));
    TB_TRY(bring_b(run, &part, step));
    TB_TRY(bring_a(run, &part, step));
    return tb_compute(run, &part, step->panel_n, step->completes);
}

tb_status tb_stream_whole(tb_stream_run *run)
{
    const int64_t count = tb_step_count(run->problem, run->tiling);
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(run->problem, run->tiling, i);
        TB_TRY(take_step(run, &step));
    }
    return TB_OK;
}

/* ---- Places ----------------------------------------------------------------------------------------------- */

/* In shorter columns prints would be more than a sixteenth of what they are of. */
#define CACHED_ROWS 64

/* Of less than half a slot it takes as long to see that it has not changed as to load it. What is write-combined only the link
 * reads. */
static bool may_be_cached(const tb_stream_run *run, const tb_place *place, const tb_matrix *matrix)
{
    const double bytes = sizeof(float) * (double)matrix->rows * (double)matrix->columns;
    return run->pipeline->lane == 0 && tb_option_value(TB_OPTION_OPERAND_CACHE) &&
           tb_option_value(TB_OPTION_DEVICE_MEMORY) == 0 && !tb_is_on_device(place) &&
           !place->write_combined && matrix->rows >= CACHED_ROWS &&
           2 * bytes >= (double)run->pipeline->slot_bytes && tb_fingerprints_ready();
}

static void find_cached(tb_stream_run *run)
{
    const tb_problem *problem = run->problem;
    const tb_tiling *tiling = run->tiling;
    const tb_matrix a = tb_matrix_a(problem), b = tb_matrix_b(problem);
    const tb_copy_layout layout_a = {.is_a = true,
                                     .ld = run->ld_a,
                                     .band_m = tiling->apart && !problem->transpose_a ? tiling->band_m : 0},
                         layout_b = {.ld = tb_pitched(b.rows)};
    tb_operand_cache *cache = &run->pipeline->operands;
    if (may_be_cached(run, &run->plan->a, &a))
        run->cached_a = tb_find_operand(cache, &a, &layout_a);
    if (may_be_cached(run, &run->plan->b, &b))
        run->cached_b = tb_find_operand(cache, &b, &layout_b);
}

/* A's rows are C's, unless it is transposed. */
void tb_lay_out_whole(tb_stream_run *run)
{
    const tb_problem *problem = run->problem;
    run->whole_c = true;
    run->ld_c = tb_pitched(run->tiling->apart ? run->tiling->band_m : problem->m);
    run->ld_a = problem->transpose_a ? tb_pitched(tb_larger(problem->k, 1)) : run->ld_c;
    find_cached(run);
}

static tb_status take_unless_there(const tb_stream_run *run, int64_t floats, tb_buffer *buffer)
{
    return buffer->memory ? TB_OK : tb_take_floats(run, floats, buffer);
}

/* Copies that are there are taken before anything else can take their place. */
tb_status tb_take_whole(tb_stream_run *run)
{
    const tb_problem *problem = run->problem;
    const int64_t m = problem->m, n = problem->n, k = tb_larger(problem->k, 1);
    const int64_t bands = run->tiling->apart ? tb_pieces(m, run->tiling->band_m) : 1;
    const int64_t floats_a = run->ld_a * (problem->transpose_a ? m : bands * k),
                  floats_b = problem->transpose_b ? tb_pitched(n) * k : tb_pitched(k) * n;
    if (run->cached_a)
        tb_take_copy(run->cached_a, run->pipeline->device, (size_t)floats_a * sizeof(float), &run->a);
    if (run->cached_b)
        tb_take_copy(run->cached_b, run->pipeline->device, (size_t)floats_b * sizeof(float), &run->b);
    TB_TRY(tb_take_floats(run, bands * n * run->ld_c, &run->c));
    TB_TRY(take_unless_there(run, floats_a, &run->a));
    return take_unless_there(run, floats_b, &run->b);
}
