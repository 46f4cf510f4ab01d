/* Sequences (sequences/sequence.h): how finely one is cut, which row of the catalog computes products of each size, and
 * what all steps are forecast to take together. */
#include "dispatch/choices.h"
#include "dispatch/mix.h"
#include "dispatch/schedule.h"

#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "sequences/sequence.h"

/* Where forecasts think that operands lie of which nothing is known but their size. */
#define NOWHERE ((void *)(uintptr_t)256)

/* ---- One row for a product -------------------------------------------------------------------------------- */

/* Rows without a forecast of their own are not asked: they are slow, or ask for an alignment. */
static bool may_compute(const tb_kernel *kernel, const tb_product *product, tb_accuracy accuracy,
                        int architecture)
{
    const tb_reads reads = tb_is_plain(product) ? TB_READS_PLAIN : TB_READS_STRUCTURED;
    return kernel->prepare && kernel->sequence == TB_NO_SEQUENCE && kernel->reads == reads &&
           kernel->element == tb_element_of(product) && kernel->in_place == product->in_place &&
           (product->mask == TB_FULL || kernel->masks) && kernel->accuracy <= accuracy &&
           kernel->alignment == 1 && tb_kernel_runs_on(kernel, architecture) &&
           tb_kernel_is_free_on(kernel, architecture) && tb_kernel_suits(kernel, product) &&
           (kernel->k_limit == 0 || product->k <= kernel->k_limit);
}

/* The one that every device runs, however small, for a product that no row above computes. */
static const tb_kernel *any_row(const tb_product *product)
{
    if (product->in_place == TB_OUT_OF_PLACE)
        return tb_any_row(tb_element_of(product));
    const tb_kernel *row = tb_catalog;
    while (row->in_place != product->in_place || row->element != tb_element_of(product) ||
           row->sequence != TB_NO_SEQUENCE)
        row++;
    return row;
}

/* The row that is forecast to take least. */
static const tb_kernel *find_row(const tb_product *product, tb_accuracy accuracy, tb_target target)
{
    const tb_kernel *best = NULL;
    double least = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (!may_compute(kernel, product, accuracy, target.architecture))
            continue;
        const double clocks = tb_prepare(kernel, product, target).clocks;
        if (!best || clocks <= least) {
            best = kernel;
            least = clocks;
        }
    }
    return best ? best : any_row(product);
}

/* The hash of all that a step's row depends on. A bit tells it from what a call's own row depends on (kernel_choice.c). */
static uint64_t hash_question(const tb_product *product, tb_accuracy accuracy, tb_target target)
{
    enum { OF_A_STEP = 1 << 7 };
    uint64_t hash = OF_A_STEP | (uint64_t)accuracy << 1 | (uint64_t)target.architecture << 8 |
                    (uint64_t)target.multiprocessors << 32;
    hash = tb_mix(tb_mix_real(hash, target.memory_bytes_a_clock), (uintptr_t)target.clusters);
    return tb_hash_product(hash, product);
}

/* The same, by what is remembered. */
static const tb_kernel *choose_row(const tb_product *product, tb_accuracy accuracy, tb_target target,
                                   const tb_facts *facts)
{
    if (!facts || !facts->choices)
        return find_row(product, accuracy, target);
    const uint64_t question = hash_question(product, accuracy, target);
    const tb_kernel *known = tb_recall_choice(facts, question);
    if (known && (may_compute(known, product, accuracy, target.architecture) || known == any_row(product)))
        return known;
    const tb_kernel *best = find_row(product, accuracy, target);
    tb_tell_choice(facts, question, best);
    return best;
}

/* ---- Forecasts -------------------------------------------------------------------------------------------- */

typedef struct forecast {
    double clocks, clocks_of_a;
    size_t workspace; /* of rows, with what is written out for them */
} forecast;

typedef struct chooser {
    tb_visitor visitor;
    const tb_kernel *kernel;
    tb_target target;
    const tb_facts *facts; /* NULL: rows are chosen anew */
    size_t used;           /* of the workspace, by the walk */
    tb_sequence_deal deal; /* of all walks */
    struct {
        int64_t m, n, k;
        forecast forecast;
    } known[TB_SIZES_MOST]; /* of the last product of each size in the deal */
    forecast forecast;      /* of one walk */
} chooser;

/* Clocks of a launch that writes an operand out, with so many bytes read and written. */
static double writing_clocks(double bytes, tb_target target)
{
    return TB_SECOND_LAUNCH_CLOCKS +
           bytes / (TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

static int row_for(chooser *all, const tb_product *product, int64_t size)
{
    tb_sequence_deal *deal = &all->deal;
    const int i = tb_find_size(deal, size);
    if (i < deal->count)
        return i;
    if (deal->count == TB_SIZES_MOST || size > UINT32_MAX)
        return deal->count - 1;
    deal->sizes[i] = (uint32_t)size;
    deal->rows[i] = (int16_t)tb_row_of(choose_row(product, all->kernel->accuracy, all->target, all->facts));
    return deal->count++;
}

static forecast forecast_row(const tb_kernel *row, const tb_product *product, size_t used, tb_target target)
{
    const tb_schedule schedule = tb_prepare(row, product, target);
    forecast forecast = {.clocks = TB_SECOND_LAUNCH_CLOCKS +
                                   (row->prepare ? schedule.clocks : tb_row_clocks(row, product, target)),
                         .workspace = used + schedule.workspace};
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const double from = product->expanded[role].from;
        if (from > 0)
            forecast.clocks +=
                writing_clocks((1 + from) * (double)tb_matrix_bytes(&product->operands[role].matrix), target);
    }
    return forecast;
}

static forecast forecast_product(chooser *all, const tb_sequence_step *step)
{
    size_t used = all->used;
    tb_product lowered;
    const tb_product *product = tb_lower_step(&step->product, NOWHERE, &used, &lowered);
    const int count = all->deal.count, i = row_for(all, product, step->size);
    if (i >= count || all->known[i].m != product->m || all->known[i].n != product->n ||
        all->known[i].k != product->k) {
        all->known[i].m = product->m;
        all->known[i].n = product->n;
        all->known[i].k = product->k;
        all->known[i].forecast = forecast_row(&tb_catalog[all->deal.rows[i]], product, used, all->target);
    }
    return all->known[i].forecast;
}

static tb_status add_step(tb_visitor *visitor, const tb_sequence_step *step)
{
    chooser *all = (chooser *)visitor;
    forecast one = {.clocks = TB_SECOND_LAUNCH_CLOCKS, .workspace = all->used};
    if (step->kind == TB_STEP_PRODUCT)
        one = forecast_product(all, step);
    else if (step->kind == TB_STEP_MOVE)
        one.clocks = writing_clocks(
            tb_stored_bytes(&step->move.source) + (double)tb_matrix_bytes(&step->move.target), all->target);
    all->forecast.clocks += one.clocks;
    all->forecast.clocks_of_a += step->is_of_a ? one.clocks : 0;
    if (one.workspace > all->forecast.workspace)
        all->forecast.workspace = one.workspace;
    return TB_OK;
}

/* The blocks that are forecast to take least. What scales C by a complex alpha is not counted: other rows do that, too. */
static tb_schedule choose(const tb_kernel *kernel, const tb_product *product, tb_target target,
                          const tb_facts *facts)
{
    tb_schedule schedule = {.clocks = 0};
    tb_product task = *product;
    int64_t blocks[TB_BLOCKS_MOST];
    const int count = tb_blocks_of(kernel->sequence, &task, blocks);
    chooser all = {.visitor = {add_step},
                   .kernel = kernel,
                   .target = target,
                   .facts = facts,
                   .used = tb_workspace_of(kernel->sequence, &task)};
    if (task.alpha.im != 0)
        task.alpha = (tb_scalar){1, 0};
    for (int i = 0; i < count; i++) {
        all.forecast = (forecast){0};
        (void)tb_walk(kernel->sequence, &task, blocks[i], NOWHERE, &all.visitor); /* it cannot fail */
        if (i > 0 && all.forecast.clocks >= schedule.clocks)
            continue;
        schedule.clocks = all.forecast.clocks;
        schedule.clocks_of_a = all.forecast.clocks_of_a;
        schedule.workspace = all.forecast.workspace;
        all.deal.block = blocks[i];
    }
    TB_SET_DEAL(&schedule, tb_sequence_deal, all.deal);
    return schedule;
}

tb_schedule tb_schedule_sequence(const tb_kernel *kernel, const tb_product *product, tb_target target,
                                 const tb_facts *facts)
{
    if (product->m == 0 || product->n == 0)
        return (tb_schedule){.clocks = 0};
    return choose(kernel, product, target, facts);
}
