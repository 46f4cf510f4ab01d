/* Which devices share a product, and who computes what of it. */
#include "dispatch/plan.h"

#include "kernels/launch.h"
#include "words/frame.h"

#include <math.h>

/* A cut lies at a multiple of this where the side is long enough that it makes no difference to the balance. */
#define CUT_MULTIPLE 128

/* Shorter products are not worth the time that thinking about it takes. */
#define SHARED_SECONDS_LEAST 1e-3

/* More devices must be faster by this much: forecasts are no better, and others may want them. */
#define WORTH_SHARING 0.9

static double sum(const double *weights, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++)
        total += weights[i];
    return total;
}

static int64_t cut_at(int64_t length, double share)
{
    int64_t multiple = length >= 16 * CUT_MULTIPLE ? CUT_MULTIPLE : 1;
    return (int64_t)llround(share * (double)length / (double)multiple) * multiple;
}

/* Cuts a region between the first half of the devices and the rest, and goes on with either side. */
static void split_region(tb_region region, const double *weights, int count, tb_region *regions)
{
    if (count == 1) {
        regions[0] = region;
        return;
    }
    int half = count / 2;
    double all = sum(weights, count), share = all > 0 ? sum(weights, half) / all : 0;
    tb_region left = region, right = region;
    if (region.rows > region.columns) {
        left.rows = cut_at(region.rows, share);
        right.row += left.rows;
        right.rows -= left.rows;
    } else {
        left.columns = cut_at(region.columns, share);
        right.column += left.columns;
        right.columns -= left.columns;
    }
    split_region(left, weights, half, regions);
    split_region(right, weights + half, count - half, regions + half);
}

void tb_split(int64_t rows, int64_t columns, const double *weights, int count, tb_region *regions)
{
    split_region((tb_region){.rows = rows, .columns = columns}, weights, count, regions);
}

/* ---- Choosing the devices --------------------------------------------------------------------------------- */

/* Multiplications a second, up to a factor that all devices have in common. */
static double speed(const tb_chip *chip, tb_element element)
{
    return chip->clock * chip->multiprocessors * tb_share_of_element(element, chip->architecture);
}

/* Devices that may take part, the fastest first after the one that the plan is for. */
static int list_chips(const tb_machine *machine, tb_element element, int home, bool closed_too,
                      const tb_chip **chips)
{
    int count = 0;
    chips[count++] = tb_find_chip(machine, home);
    for (int i = 0; i < machine->chip_count; i++) {
        const tb_chip *chip = &machine->chips[i];
        if (chip->device == home || chip->failed || (!chip->open && !closed_too) ||
            count == TB_REGIONS_MAXIMUM)
            continue;
        int place = count++;
        for (; place > 1 && speed(chips[place - 1], element) < speed(chip, element); place--)
            chips[place] = chips[place - 1];
        chips[place] = chip;
    }
    return count;
}

/* A product in C's place is cut across C's columns, or across its rows, but not across both: see tb_goes_by_columns. */
static void cut(const tb_product *product, const double *weights, int count, tb_region *regions)
{
    const bool in_place = product->in_place != TB_OUT_OF_PLACE, by_columns = tb_goes_by_columns(product);
    tb_split(in_place && by_columns ? 0 : product->m, in_place && !by_columns ? 0 : product->n, weights,
             count, regions);
    for (int i = 0; in_place && i < count; i++)
        *(by_columns ? &regions[i].rows : &regions[i].columns) = by_columns ? product->m : product->n;
}

/* The plan with so many of the devices. False when one of them has no kernel for its region. */
static bool share(const tb_product *product, const tb_facts *facts, bool as_forced, const tb_chip **chips,
                  int count, tb_plan *plan)
{
    double weights[TB_REGIONS_MAXIMUM];
    tb_region regions[TB_REGIONS_MAXIMUM];
    for (int i = 0; i < count; i++)
        weights[i] = speed(chips[i], tb_element_of(product));
    cut(product, weights, count, regions);
    plan->region_count = 0;
    for (int i = 0; i < count; i++) {
        if (regions[i].rows == 0 || regions[i].columns == 0)
            continue;
        const tb_product part = tb_region_of(product, &regions[i]);
        tb_plan one = *plan;
        one.place.device = chips[i]->device;
        if (!tb_choose_kernel(&part, facts, as_forced, &one))
            return false;
        regions[i].device = chips[i]->device;
        regions[i].kernel = one.kernel;
        plan->regions[plan->region_count++] = regions[i];
    }
    tb_forecast_streamed(product, facts, plan);
    return plan->region_count > 0;
}

static void take_whole(const tb_product *product, const tb_facts *facts, tb_plan *plan)
{
    plan->regions[0] = (tb_region){
        .device = plan->place.device, .kernel = plan->kernel, .rows = product->m, .columns = product->n};
    plan->region_count = 1;
    tb_forecast_streamed(product, facts, plan);
}

/* What the devices could do together; with closed_too also those that are not open. */
static tb_plan best_sharing(const tb_product *product, const tb_facts *facts, bool as_forced, bool closed_too,
                            const tb_plan *whole)
{
    const tb_chip *chips[TB_REGIONS_MAXIMUM];
    tb_plan best = *whole;
    int count = list_chips(&facts->machine, tb_element_of(product), whole->place.device, closed_too, chips);
    int wanted = facts->machine.devices_wanted;
    for (int shared = wanted > 0 ? wanted : 2; shared <= (wanted > 0 ? wanted : count); shared++) {
        tb_plan candidate = *whole;
        int used = shared < count ? shared : count;
        if (!share(product, facts, as_forced, chips, used, &candidate))
            continue;
        if (wanted > 0 || candidate.device_seconds < WORTH_SHARING * best.device_seconds)
            best = candidate;
    }
    return best;
}

/* A product that one device computes goes to the one with the least to do, where any like the first would do. */
static int least_busy(const tb_facts *facts, int device)
{
    const tb_machine *machine = &facts->machine;
    const tb_chip *chosen = tb_find_chip(machine, device);
    const ptrdiff_t index = chosen - machine->chips;
    double least = index < TB_BACKLOGS ? facts->backlogs[index] : 0;
    for (int i = 0; i < machine->chip_count && i < TB_BACKLOGS; i++) {
        const tb_chip *chip = &machine->chips[i];
        if (chip->open && chip->architecture == chosen->architecture &&
            chip->multiprocessors >= chosen->multiprocessors && facts->backlogs[i] < least) {
            device = chip->device;
            least = facts->backlogs[i];
        }
    }
    return device;
}

static TB_OWN_FRAME void share_best(const tb_product *product, const tb_facts *facts, bool as_forced,
                                    tb_plan *plan)
{
    const tb_plan open = best_sharing(product, facts, as_forced, false, plan);
    const tb_plan all = best_sharing(product, facts, as_forced, true, plan);
    *plan = open;
    if (all.region_count > open.region_count)
        plan->start = TB_START_MORE;
}

void tb_choose_regions(const tb_product *product, const tb_facts *facts, bool as_forced, tb_plan *plan)
{
    take_whole(product, facts, plan);
    /* What is expanded has one device to itself. */
    bool movable = product->expanded[TB_A].from == 0 && product->expanded[TB_B].from == 0 &&
                   tb_is_in_host_memory(&plan->places[TB_C]) &&
                   (product->k == 0 ||
                    (tb_is_in_host_memory(&plan->places[TB_A]) && tb_is_in_host_memory(&plan->places[TB_B])));
    int wanted = facts->machine.devices_wanted;
    if (facts->machine.chip_count < 2 || wanted == 1 || !movable)
        return;
    /* One device has all of a triangle: another one would have to be brought nearly all of A, too. */
    if (product->mask == TB_FULL && (wanted > 0 || plan->device_seconds >= SHARED_SECONDS_LEAST))
        share_best(product, facts, as_forced, plan);
    if (plan->region_count == 1)
        plan->regions[0].device = plan->place.device = least_busy(facts, plan->regions[0].device);
}
