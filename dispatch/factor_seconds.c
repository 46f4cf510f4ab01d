#include "dispatch/factor_seconds.h"

#include "dispatch/cost_model.h"
#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "sequences/apply.h"
#include "sequences/factorization.h"
#include "sequences/inversion.h"
#include "sequences/lq.h"
#include "sequences/lu.h"
#include "sequences/qr.h"
#include "sequences/substitution.h"
#include "words/frame.h"
#include "words/integers.h"
#include "words/task.h"

/* ---- The host --------------------------------------------------------------------------------------------- */

/* OpenBLAS on 16 cores, in ms at n = 512, 1024, 2048 and 4096: dpotrf 1.3, 5.0, 22 and 87, dgetrf 3.5, 13, 55 and 283, dgeqrf 5.7, 30, 140
 * and 640, dorgqr 5.5, 16, 48 and 390. That is their multiply-adds at the rate of products, of QR and Q at a part of it, and 4.5, 12 or 21 ns
 * for each of the square's elements, or 8.8 us for each of Q's reflectors, in which threads wait for each other: so much for each core, and
 * byte of the elements, as if fewer cores waited less. More have not been measured, nor has dormqr, which is taken for dorgqr. */
#define QR_PRODUCTS      6.0
#define Q_PRODUCTS       5.2
#define INVERSE_PRODUCTS 3 /* not measured */
static const double waiting_seconds[TB_FACTORS_COUNT] = {
    [TB_CHOLESKY] = 4.5e-9 / 16 / 8, [TB_LU] = 12e-9 / 16 / 8, [TB_QR] = 21e-9 / 16 / 8};
#define Q_WAITING_SECONDS  (8.8e-6 / 16)
#define WAITING_CORES_MOST 16

/* For each core. */
static double host_waiting_seconds(const tb_factor *factor)
{
    const double all = (double)factor->m * (double)factor->n * (double)tb_bytes_of(factor->a.element);
    if (tb_reads_reflectors(factor))
        return Q_WAITING_SECONDS * (double)tb_factor_order(factor);
    return tb_changes_a(factor) ? waiting_seconds[tb_factors_of(factor)] * all : 0;
}

double tb_factor_host_seconds(const tb_factor *factor, const tb_machine *machine)
{
    const double cores = fmin(fmax(machine->host_cores, 1), WAITING_CORES_MOST),
                 slower = tb_reads_reflectors(factor)      ? Q_PRODUCTS
                          : tb_factors_of(factor) == TB_QR ? QR_PRODUCTS
                          : tb_replacement_of(factor)      ? INVERSE_PRODUCTS
                                                           : 1,
                 products = slower * 2 * tb_factor_volume(factor) / tb_host_flops(factor->a.element, machine);
    return tb_known_ratio(machine->host_ratio) * (products + host_waiting_seconds(factor) * cores);
}

/* ---- Steps on a device ------------------------------------------------------------------------------------ */

/* A panel, and each of its columns, which wait for each other: on an H200, of POTRF with what is below it, of GETRF in the smallest cluster, of
 * GEQRF with 2048 rows. A product, beside its kernel, and a move: not measured. An exchange of rows, and each two elements of 8 bytes in
 * it: on an H200. */
static const struct panel_seconds {
    double each, column;
} panel_seconds[TB_FACTORS_COUNT] = {
    [TB_CHOLESKY] = {8e-6, 0.2e-6}, [TB_LU] = {6e-6, 1.7e-6}, [TB_QR] = {6e-6, 1.9e-6}};
#define PRODUCT_SECONDS  6e-6
#define EXCHANGE_SECONDS 5e-6
#define MOVE_SECONDS     7e-11

/* Where forecasts think that the copy on the device lies. */
#define NOWHERE ((void *)(uintptr_t)256)

/* Products of a few sizes come up again and again. */
enum { KNOWN_MOST = 16 };

/* So many blocks are looked at, one by one. */
enum { FEW = 3 };

typedef struct forecast {
    tb_visitor visitor;
    const tb_factor *there;
    const tb_facts *facts; /* in which all operands lie on the device */
    const tb_chip *chip;
    double seconds, within; /* within: of QR's first block, where it is known */
    int known_count;
    struct known {
        tb_routine routine;
        int64_t m, n, k;
        double seconds;
    } known[KNOWN_MOST];
} forecast;

/* As the resident route computes it. */
static TB_OWN_FRAME double decide_product(const forecast *all, const tb_product *product)
{
    const tb_plan plan = tb_decide(product, all->facts);
    return plan.route == TB_ROUTE_RESIDENT ? tb_plan_seconds(&plan, product, all->chip) : HUGE_VAL;
}

static double product_seconds(forecast *all, const tb_product *product)
{
    for (int i = 0; i < all->known_count; i++) {
        const struct known *known = &all->known[i];
        if (known->routine == product->routine && known->m == product->m && known->n == product->n &&
            known->k == product->k)
            return known->seconds;
    }
    const double seconds = decide_product(all, product);
    if (all->known_count < KNOWN_MOST)
        all->known[all->known_count++] =
            (struct known){product->routine, product->m, product->n, product->k, seconds};
    return seconds;
}

static double panels_seconds(const tb_factor *factor, double panels, int64_t columns)
{
    const struct panel_seconds *seconds = &panel_seconds[tb_factors_of(factor)];
    return panels * seconds->each + (double)columns * seconds->column;
}

static double exchange_seconds(const tb_row_exchange *exchange)
{
    const tb_matrix *matrix = &exchange->matrix;
    return EXCHANGE_SECONDS + MOVE_SECONDS / 8 * (double)tb_bytes_of(matrix->element) *
                                  (double)exchange->count * (double)matrix->columns;
}

/* Of an operand, which is read and written once. */
static double move_seconds(const forecast *all, const tb_expansion *move)
{
    const double bytes = tb_stored_bytes(&move->source) + (double)tb_matrix_bytes(&move->target);
    return PRODUCT_SECONDS + bytes / all->chip->memory_rate;
}

static tb_status add_step(tb_visitor *visitor, const tb_sequence_step *step)
{
    forecast *all = (forecast *)visitor;
    if (step->kind == TB_STEP_PANEL)
        all->seconds += panels_seconds(&step->panel, 1, tb_factor_order(&step->panel));
    else if (step->kind == TB_STEP_EXCHANGE)
        all->seconds += exchange_seconds(&step->exchange);
    else if (step->kind == TB_STEP_MOVE)
        all->seconds += move_seconds(all, &step->move);
    else if (step->product.m > 0 && step->product.n > 0)
        all->seconds += PRODUCT_SECONDS + product_seconds(all, &step->product);
    return TB_OK;
}

/* By which a block of QR's brings columns behind it up to date, and B's, or one of Q's its own, too, or by which it is applied to B; some are looked
 * at. */
static double forecast_behind(forecast *all, tb_range block)
{
    const tb_factor *there = all->there;
    const bool makes_q = tb_makes_q(there), applies_q = tb_applies_q(there);
    const int64_t first = applies_q ? 0 : block.first + (makes_q ? 0 : block.count),
                  count = applies_q ? tb_applied_count(there)
                                    : tb_reflected_lines(there) - first + (makes_q ? 0 : there->b.columns);
    const tb_range some = {first, tb_smaller(count, TB_QR_BEHIND)};
    if (count == 0)
        return 0;
    all->seconds = 0;
    (void)(applies_q ? tb_walk_applied_block
           : makes_q ? tb_walk_q_columns
                     : tb_walk_qr_behind)(there, block, some, &all->visitor); /* it cannot fail */
    return all->seconds * (double)count / (double)some.count;
}

/* What the first block of QR's, or Q's, takes within itself: others take as much, rather less. */
static double forecast_within(forecast *all)
{
    const tb_factor *there = all->there;
    tb_factor alone = *there;
    const tb_range block = {0, tb_smaller(TB_QR_BLOCK, tb_factor_order(there))};
    all->seconds = 0;
    if (tb_reads_reflectors(there)) {
        (void)(tb_makes_q(there) ? tb_walk_q_block : tb_make_reflectors)(there, block,
                                                                         &all->visitor); /* it cannot fail */
        return all->seconds;
    }
    alone.b.columns = 0;
    alone.n = alone.a.columns = tb_smaller(block.count + 1, there->n); /* for which reflectors are joined */
    (void)tb_walk_factor_block(&alone, block, tb_panel_order(there->routine),
                               &all->visitor); /* it cannot fail */
    return all->seconds;
}

static double forecast_reflectors(forecast *all, int64_t first, int64_t columns)
{
    const tb_range block = {first, tb_smaller(columns, tb_factor_order(all->there) - first)};
    if (all->within == 0)
        all->within = forecast_within(all);
    return all->within * (double)block.count / (double)columns + forecast_behind(all, block);
}

static double forecast_block(forecast *all, int64_t first, int64_t columns)
{
    const tb_factor *there = all->there;
    if (tb_factors_of(there) == TB_QR)
        return forecast_reflectors(all, first, columns);
    all->seconds = 0;
    (void)tb_walk_factor_block(there, (tb_range){first, tb_smaller(columns, there->n - first)},
                               tb_panel_order(there->routine), &all->visitor); /* it cannot fail */
    return all->seconds;
}

static double forecast_all(forecast *all, int64_t block)
{
    double seconds = 0;
    for (int64_t first = 0; first < tb_factor_order(all->there); first += block)
        seconds += forecast_block(all, first, block);
    return seconds;
}

/* What a block takes is nearly a quadratic function of where it begins: the sum over all blocks is that of the function through three
 * of them. squares is the mean of the squares of 0 to 1 in as many steps as there are blocks. The last block counts for a part of
 * one. */
static double forecast_few(forecast *all, int64_t block)
{
    const int64_t order = tb_factor_order(all->there), last = order - block,
                  middle = tb_round_up(last / 2, tb_panel_order(tb_factoring_routine(all->there)));
    const double blocks = (double)order / (double)block, squares = (2 * blocks - 1) / (6 * (blocks - 1)),
                 of_ends = 2 * squares - 0.5, of_middle = 2 - 4 * squares;
    return blocks * (of_ends * (forecast_block(all, 0, block) + forecast_block(all, last, block)) +
                     of_middle * forecast_block(all, middle, block));
}

/* Of halves: as many of each size as the square has, whose rows become fewer by the same number from one to the next, so that all
 * take what the first and the last do in the mean. */
static double forecast_halves(forecast *all)
{
    const tb_factor *there = all->there;
    const int64_t order = tb_factor_order(there), panel = tb_panel_order(there->routine);
    double seconds = panels_seconds(there, ceil((double)order / (double)panel), order);
    for (int64_t block = tb_lu_block(panel), whole = block; whole == block || whole / 2 < order; whole *= 2) {
        const int64_t last = (order - 1) / whole * whole;
        const double first = forecast_block(all, 0, tb_smaller(whole, order)),
                     mean =
                         (first + forecast_block(all, tb_larger(last - whole, 0), tb_smaller(whole, order))) /
                         2;
        seconds += (double)order / (double)whole * mean;
    }
    return seconds + (there->n > order ? forecast_block(all, 0, there->n) : 0);
}

static double forecast_factors(forecast *all, int64_t block)
{
    const tb_factor *there = all->there;
    if (tb_factors_of(there) == TB_LU)
        return forecast_halves(all);
    if (tb_factors_of(there) == TB_QR)
        block = TB_QR_BLOCK;
    return tb_factor_order(there) <= FEW * block ? forecast_all(all, block) : forecast_few(all, block);
}

/* Of columns that have no reflector each block is a product; before all others Q is cleared. By rows A is written in the end. */
static double forecast_q(forecast *all)
{
    const tb_factor *there = all->there;
    const int64_t others = tb_reflected_lines(there) - tb_factor_order(there);
    const double blocks = ceil((double)others / TB_QR_BLOCK);
    all->seconds = 0;
    (void)tb_give_zeros(&there->b, &all->visitor); /* it cannot fail */
    if (tb_is_by_rows(there))
        (void)tb_give_adjoint(&there->b, &there->a, &all->visitor);
    const double once = all->seconds;
    return once + blocks * PRODUCT_SECONDS + forecast_factors(all, TB_QR_BLOCK);
}

/* QR of the adjoint, which is written first, and read last. */
static double forecast_lq(forecast *all, const tb_factor *factor)
{
    const tb_factor qr = tb_qr_of_adjoint(factor);
    all->there = &qr;
    all->seconds = 0;
    (void)tb_give_adjoint(&factor->a, &factor->b, &all->visitor); /* it cannot fail */
    (void)tb_give_adjoint(&factor->b, &factor->a, &all->visitor);
    const double moves = all->seconds;
    return moves + forecast_factors(all, TB_QR_BLOCK);
}

static double forecast_solve(forecast *all, const tb_factor *factor)
{
    const tb_factor by_r = tb_by_r(factor), *solved = tb_finds_least_squares(factor) ? &by_r : factor;
    all->seconds = 0;
    (void)tb_walk_substitution(solved, (tb_range){0, solved->b.columns}, &all->visitor); /* it cannot fail */
    return all->seconds;
}

static double forecast_replacement(forecast *all, tb_factor *replaced)
{
    replaced->b = (tb_matrix){.data = NOWHERE,
                              .rows = replaced->n,
                              .columns = replaced->n,
                              .ld = replaced->a.ld,
                              .element = replaced->a.element};
    all->seconds = 0;
    (void)tb_walk_replacement(replaced, &all->visitor); /* it cannot fail */
    return all->seconds;
}

/* What of QR and Q lies beside A. */
static void place_beside(tb_factor *copy)
{
    const int64_t length = tb_reflector_length(copy);
    copy->reflectors.tau = NOWHERE;
    if (tb_makes_q(copy) || tb_makes_lq(copy))
        copy->b = (tb_matrix){.data = NOWHERE,
                              .rows = length,
                              .columns = tb_reflected_lines(copy),
                              .ld = tb_pitched(length, copy->a.element),
                              .element = copy->a.element};
    (tb_reads_reflectors(copy) ? tb_place_q : tb_place_reflectors)(copy, NOWHERE);
}

TB_OWN_FRAME double tb_factor_steps_seconds(const tb_factor *factor, const tb_facts *facts,
                                            const tb_chip *chip, int64_t block)
{
    tb_facts there = *facts;
    tb_factor copy = *factor, made;
    copy.a.data = copy.b.data = NOWHERE;
    copy.pivots = (tb_pivots){NOWHERE, 32};
    copy.a.ld = tb_pitched(factor->m, factor->a.element);
    copy.b.ld = tb_pitched(tb_solves(factor) ? factor->b.rows : factor->m, factor->a.element);
    place_beside(&copy);
    made = copy;
    if (tb_makes_factors(factor))
        made.routine = tb_factoring_routine(factor);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        there.places[role] = (tb_place){.memory = TB_MEMORY_DEVICE, .device = chip->device};
    forecast all = {.visitor = {add_step}, .there = &made, .facts = &there, .chip = chip};
    if (tb_applies_q(factor))
        return forecast_factors(&all, TB_QR_BLOCK);
    if (tb_makes_lq(factor))
        return forecast_lq(&all, &copy);
    if (tb_makes_q(factor))
        return forecast_q(&all);
    return (tb_makes_factors(factor) ? forecast_factors(&all, block) : 0) +
           (tb_solves(factor) ? forecast_solve(&all, &copy) : 0) +
           (tb_replacement_of(factor) ? forecast_replacement(&all, &copy) : 0);
}

/* ---- And to it -------------------------------------------------------------------------------------------- */

/* As if one thing came after the other: what is stored on its way there, the steps, and its way back. Columns of L do come and go while
 * others are computed (lib/streaming/passing.h), so that this is rather too long. */
static double streamed(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip, double steps)
{
    const double task = (double)tb_task_bytes(tb_task_of_factor(factor)),
                 all = task + (tb_reads_reflectors(factor) ? (double)tb_q_given_bytes(factor) : 0),
                 back = tb_changes_a(factor) ? task : (double)tb_matrix_bytes(&factor->b),
                 saved = tb_is_all_or_nothing(factor) ? back : 0;
    const tb_memory memory = facts->places[0].memory;
    const bool copied = memory == TB_MEMORY_HOST || (memory == TB_MEMORY_PINNED && chip->apart);
    const double copying = copied ? 1 / tb_copy_rate(&facts->machine, 1) : 0;
    return tb_known_ratio(facts->machine.streamed_ratio) *
           (TB_STREAMED_CALL_SECONDS + (copied ? TB_COPIED_CALL_SECONDS : 0) + steps +
            fmax(tb_link_seconds(all, chip->link_in, false), all * copying) +
            fmax(tb_link_seconds(back, chip->link_out, false), back * copying) +
            saved / tb_copy_rate(&facts->machine, 1));
}

/* Panels, and as many products as there are at the least; those of a block of Q's, or of one that is applied. */
static double chain_seconds(const tb_factor *factor, bool is_known)
{
    enum { PRODUCTS_OF_Q = 10, PRODUCTS_APPLIED = 9 };
    const double order = (double)tb_factor_order(factor);
    if (tb_makes_q(factor))
        return ceil(order / TB_QR_BLOCK) * PRODUCTS_OF_Q * PRODUCT_SECONDS;
    if (tb_applies_q(factor))
        return ceil(order / TB_QR_BLOCK) * PRODUCTS_APPLIED * PRODUCT_SECONDS;
    if (!tb_makes_factors(factor))
        return 0;
    const double panels = ceil(order / (double)tb_panel_order(tb_factoring_routine(factor)));
    return panels_seconds(factor, panels, tb_factor_order(factor)) +
           (is_known ? 0 : 2 * panels * PRODUCT_SECONDS);
}

double tb_factor_seconds_least(const tb_factor *factor, const tb_facts *facts)
{
    const bool is_known = facts->machine.chip_count > 0;
    const double products =
        is_known ? 0 : tb_presumed_seconds(factor->a.element, 2 * tb_factor_volume(factor));
    return streamed(factor, facts, tb_first_chip(&facts->machine),
                    chain_seconds(factor, is_known) + products);
}

double tb_factor_seconds(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip, int64_t block)
{
    return streamed(factor, facts, chip, tb_factor_steps_seconds(factor, facts, chip, block));
}
