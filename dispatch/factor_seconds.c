#include "dispatch/factor_seconds.h"

#include "dispatch/cost_model.h"
#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "sequences/factorization.h"
#include "words/frame.h"
#include "words/integers.h"

/* ---- The host --------------------------------------------------------------------------------------------- */

/* OpenBLAS's dpotrf on 16 cores took 1.3, 5.0, 22 and 87 ms at n = 512, 1024, 2048 and 4096. That is its multiply-adds at the rate of
 * products, and 4.5 ns for each of the square's elements, in which threads wait for each other: so much for each core and byte,
 * as if fewer cores waited less. More have not been measured. */
#define WAITING_SECONDS    (4.5e-9 / 16 / 8)
#define WAITING_CORES_MOST 16

double tb_factor_host_seconds(const tb_factor *factor, const tb_machine *machine)
{
    const double square = (double)factor->n * (double)factor->n * (double)tb_bytes_of(factor->a.element),
                 cores = fmin(fmax(machine->host_cores, 1), WAITING_CORES_MOST),
                 products = 2 * tb_factor_volume(factor) / tb_host_flops(factor->a.element, machine);
    return tb_known_ratio(machine->host_ratio) * (products + WAITING_SECONDS * cores * square);
}

/* ---- Steps on a device ------------------------------------------------------------------------------------ */

/* Not measured: a panel, and each of its columns, which wait for each other; a product, beside its kernel. */
#define PANEL_SECONDS        10e-6
#define PANEL_COLUMN_SECONDS 0.25e-6
#define PRODUCT_SECONDS      6e-6

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
    double seconds;
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

static tb_status add_step(tb_visitor *visitor, const tb_sequence_step *step)
{
    forecast *all = (forecast *)visitor;
    if (step->kind == TB_STEP_PANEL)
        all->seconds += PANEL_SECONDS + PANEL_COLUMN_SECONDS * (double)step->panel.n;
    else if (step->product.m > 0 && step->product.n > 0)
        all->seconds += PRODUCT_SECONDS + product_seconds(all, &step->product);
    return TB_OK;
}

static double forecast_block(forecast *all, int64_t first, int64_t columns)
{
    const tb_factor *there = all->there;
    all->seconds = 0;
    (void)tb_walk_factor_block(there, (tb_range){first, tb_smaller(columns, there->n - first)},
                               tb_panel_order(there->routine), &all->visitor); /* it cannot fail */
    return all->seconds;
}

static double forecast_all(forecast *all, int64_t block)
{
    double seconds = 0;
    for (int64_t first = 0; first < all->there->n; first += block)
        seconds += forecast_block(all, first, block);
    return seconds;
}

/* What a block takes is nearly a quadratic function of where it begins: the sum over all blocks is that of the function through three
 * of them. squares is the mean of the squares of 0 to 1 in as many steps as there are blocks. The last block counts for a part of
 * one. */
static double forecast_few(forecast *all, int64_t block)
{
    const int64_t order = all->there->n, last = order - block,
                  middle = tb_round_up(last / 2, tb_panel_order(all->there->routine));
    const double blocks = (double)order / (double)block, squares = (2 * blocks - 1) / (6 * (blocks - 1)),
                 of_ends = 2 * squares - 0.5, of_middle = 2 - 4 * squares;
    return blocks * (of_ends * (forecast_block(all, 0, block) + forecast_block(all, last, block)) +
                     of_middle * forecast_block(all, middle, block));
}

TB_OWN_FRAME double tb_factor_steps_seconds(const tb_factor *factor, const tb_facts *facts,
                                            const tb_chip *chip, int64_t block)
{
    tb_facts there = *facts;
    tb_factor copy = *factor;
    copy.a.data = NOWHERE;
    copy.a.ld = tb_pitched(factor->n, factor->a.element);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        there.places[role] = (tb_place){.memory = TB_MEMORY_DEVICE, .device = chip->device};
    forecast all = {.visitor = {add_step}, .there = &copy, .facts = &there, .chip = chip};
    return factor->n <= FEW * block ? forecast_all(&all, block) : forecast_few(&all, block);
}

/* ---- And to it -------------------------------------------------------------------------------------------- */

/* As if one thing came after the other: the triangle's way there, the steps, and its way back. L's columns do come and go while others
 * are computed (lib/streaming/passing.h), so that this is rather too long. */
static double streamed(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip, double steps)
{
    const double n = (double)factor->n, bytes = n * (n + 1) / 2 * (double)tb_bytes_of(factor->a.element);
    const tb_memory memory = facts->places[0].memory;
    const bool copied = memory == TB_MEMORY_HOST || (memory == TB_MEMORY_PINNED && chip->apart);
    const double copying = copied ? bytes / tb_copy_rate(&facts->machine, 1) : 0;
    return tb_known_ratio(facts->machine.streamed_ratio) *
           (TB_STREAMED_CALL_SECONDS + (copied ? TB_COPIED_CALL_SECONDS : 0) + steps +
            fmax(tb_link_seconds(bytes, chip->link_in, false), copying) +
            fmax(tb_link_seconds(bytes, chip->link_out, false), copying));
}

double tb_factor_seconds_least(const tb_factor *factor, const tb_facts *facts)
{
    const tb_chip *chip = tb_first_chip(&facts->machine);
    const double panels = ceil((double)factor->n / (double)tb_panel_order(factor->routine)),
                 chain = panels * PANEL_SECONDS + (double)factor->n * PANEL_COLUMN_SECONDS,
                 products = facts->machine.chip_count > 0
                                ? 0
                                : tb_presumed_seconds(factor->a.element, 2 * tb_factor_volume(factor)) +
                                      2 * panels * PRODUCT_SECONDS;
    return streamed(factor, facts, chip, chain + products);
}

double tb_factor_seconds(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip, int64_t block)
{
    return streamed(factor, facts, chip, tb_factor_steps_seconds(factor, facts, chip, block));
}
