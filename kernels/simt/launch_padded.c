#include "kernels/simt/launch_padded.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "kernels/simt/copy_pitched.h"
#include "kernels/simt/launch_simt.h"

/* Columns of a copy begin at multiples of this many floats, a line of the cache. */
#define PITCH_FLOATS 32

extern tb_entry tb_entry_copy_pitched;

static const tb_kernel vectors = {.alignment = 4};

/* The product as it is once its operands have been copied. */
static tb_problem when_padded(const tb_problem *problem)
{
    tb_problem aligned = *problem;
    if (!tb_kernel_takes(&vectors, problem->a, problem->lda)) {
        aligned.a = NULL;
        aligned.lda = PITCH_FLOATS;
    }
    if (!tb_kernel_takes(&vectors, problem->b, problem->ldb)) {
        aligned.b = NULL;
        aligned.ldb = PITCH_FLOATS;
    }
    return aligned;
}

/* The row of the family whose kernels do the multiplication, and its forecast. */
static const tb_kernel *multiplying_row(const tb_problem *problem, int multiprocessors, double *clocks)
{
    const tb_problem aligned = when_padded(problem);
    const tb_kernel *best = NULL;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *row = &tb_catalog[i];
        if (row->launch != tb_launch_simt)
            continue;
        double forecast = tb_simt_clocks(row, &aligned, multiprocessors);
        if (!best || forecast < *clocks) {
            best = row;
            *clocks = forecast;
        }
    }
    return best;
}

/* What has to be copied of an operand: nothing, if floats is 0. */
typedef struct copy {
    tb_copy_arguments arguments;
    int64_t floats;
} copy;

static copy copy_of(const float *operand, int64_t ld, int64_t rows, int64_t columns)
{
    if (rows == 0 || columns == 0 || tb_kernel_takes(&vectors, operand, ld))
        return (copy){0};
    const int64_t to_ld = tb_pieces(rows, PITCH_FLOATS) * PITCH_FLOATS;
    return (copy){.arguments = {.from = operand,
                                .from_ld = ld,
                                .to_ld = to_ld,
                                .rows = rows,
                                .columns = columns,
                                .strips = tb_pieces(rows, 32)},
                  .floats = to_ld * columns};
}

static copy copy_of_a(const tb_problem *p)
{
    return copy_of(p->a, p->lda, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k);
}

static copy copy_of_b(const tb_problem *p)
{
    return copy_of(p->b, p->ldb, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n);
}

static double copy_clocks(const copy *copy, int multiprocessors)
{
    double bytes = 2 * sizeof(float) * (double)copy->arguments.rows * (double)copy->arguments.columns;
    return copy->floats > 0 ? TB_SECOND_LAUNCH_CLOCKS + bytes / TB_BYTES_A_CLOCK / multiprocessors : 0;
}

double tb_padded_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors)
{
    (void)kernel;
    const copy a = copy_of_a(problem), b = copy_of_b(problem);
    double clocks = 0;
    multiplying_row(problem, multiprocessors, &clocks);
    return copy_clocks(&a, multiprocessors) + copy_clocks(&b, multiprocessors) + clocks;
}

size_t tb_padded_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem)
{
    (void)kernel;
    double clocks = 0;
    const tb_kernel *row = multiplying_row(problem, launcher->multiprocessors, &clocks);
    const tb_problem aligned = when_padded(problem);
    return (size_t)(copy_of_a(problem).floats + copy_of_b(problem).floats) * sizeof(float) +
           tb_simt_workspace(launcher, row, &aligned);
}

/* Enqueues the copy, if there is one, lets the operand describe it, and takes its memory off the workspace. */
static tb_status launch_copy(const tb_launcher *launcher, copy *copy, const float **operand, int64_t *ld,
                             float **workspace)
{
    if (copy->floats == 0)
        return TB_OK;
    copy->arguments.to = *workspace;
    *operand = *workspace;
    *ld = copy->arguments.to_ld;
    *workspace += copy->floats;
    int64_t warps = tb_pieces(copy->arguments.strips * copy->arguments.columns, TB_COPY_STRIPS);
    int64_t blocks = tb_pieces(warps * 32, TB_COPY_THREADS);
    if (blocks > TB_BLOCKS_MAXIMUM)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, &tb_entry_copy_pitched, blocks, TB_COPY_THREADS, 0, &copy->arguments);
}

tb_status tb_launch_padded(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                           void *workspace)
{
    (void)kernel;
    double clocks = 0;
    const tb_kernel *row = multiplying_row(problem, launcher->multiprocessors, &clocks);
    tb_problem aligned = *problem;
    copy a = copy_of_a(problem), b = copy_of_b(problem);
    float *left = workspace;
    TB_TRY(launch_copy(launcher, &a, &aligned.a, &aligned.lda, &left));
    TB_TRY(launch_copy(launcher, &b, &aligned.b, &aligned.ldb, &left));
    return tb_launch_simt(launcher, row, &aligned, left);
}
