/* Forecasts in seconds, from the product and the machine alone. */
#include "dispatch/cost_model.h"

#include "dispatch/schedule.h"
#include "kernels/launch.h"
#include "words/folded.h"
#include "words/integers.h"
#include "words/lowered.h"
#include "words/frame.h"

/* OpenBLAS 0.3.34 on Sapphire Rapids: 3.1 TFLOP/s of FP32 on 16 cores at n = 4096. A strong host is assumed, so that
 * a weaker one is served by the device later than it could be, never sooner than it should; what calls really
 * take is learned. */
#define HOST_FLOPS_PER_CORE            200e9
#define HOST_BYTES_PER_SECOND_PER_CORE 20e9
#define HOST_CALL_SECONDS              1e-6

/* Shares of each stage of the pipeline that no other stage covers up: the first slab's way in, the last swaths'
 * way out, the last slab's arithmetic. */
#define UNCOVERED_IN   (1.0 / 8)
#define UNCOVERED_OUT  (1.0 / 4)
#define UNCOVERED_WORK (1.0 / 8)

/* Multiplying slab by slab reads and writes C more often than one launch does. */
#define SLAB_FACTOR 1.05

/* 128 fused multiply-adds a cycle and multiprocessor: at 1.76 GHz, 59.6 TFLOP/s on an H200's 132. */
#define FLOP_A_CLOCK 256.5
/* A launch that is prepared while the one before it runs; one that is not, as those of rows without a
 * forecast of their own, takes so much longer. */
#define LAUNCH_SECONDS      1.3e-6
#define LATE_LAUNCH_SECONDS 2e-6
/* Filling the first buffers and writing C, and as long again for reading it, for a block that nothing else on its
 * multiprocessor covers up. */
#define BLOCK_SECONDS 4e-6
/* A block that has no buffers; at most, by how the naive kernel does beside others at a k of 1 to 3. */
#define BARE_BLOCK_SECONDS 1e-6
/* Starting one device-to-device copy, and its launch gap; each of the columns that it moves. */
#define PAD_SECONDS        3e-6
#define PAD_COLUMN_SECONDS 20e-9

/* While the device is not up nobody knows what it is: a middling one. */
static const tb_chip presumed_chip = {.architecture = 80,
                                      .multiprocessors = 64,
                                      .clock = 1.5e9,
                                      .memory_rate = 1e12,
                                      .link_in = 20e9,
                                      .link_out = 20e9};
#define PRESUMED_EFFICIENCY 0.6

/* memcpy into pinned memory beside the link's own traffic: 8 GB/s a thread, no more than 56 for each device
 * that shares the product, and by so many threads at most (lib/streaming/copy_threads.c). */
#define COPY_RATE_A_CORE   8e9
#define COPY_CORES_A_LINK  7
#define COPY_CORES_AT_MOST 16

static double flop(const tb_product *product)
{
    return 2.0 * tb_volume(product);
}

const tb_chip *tb_first_chip(const tb_machine *machine)
{
    return machine->chip_count > 0 ? &machine->chips[0] : &presumed_chip;
}

double tb_presumed_seconds(tb_element element, double flop)
{
    const tb_chip *chip = &presumed_chip;
    const double flops =
        FLOP_A_CLOCK * chip->clock * tb_share_of_element(tb_real_of(element), chip->architecture);
    return flop / (flops * chip->multiprocessors * PRESUMED_EFFICIENCY);
}

static double bytes(const tb_operand *operand)
{
    return (double)tb_bytes_of(operand->element) * (double)operand->rows * (double)operand->columns;
}

static double bytes_of_c(const tb_product *product)
{
    return (double)tb_bytes_of(product->c.element) * tb_masked_elements(product);
}

static double bytes_of_b(const tb_product *product)
{
    return tb_has_one_operand(product) ? 0 : tb_bytes_read(product, TB_B);
}

static double bytes_in(const tb_product *product)
{
    const double in = tb_bytes_read(product, TB_A) + bytes_of_b(product);
    return tb_is_zero(product->beta) ? in : in + bytes_of_c(product);
}

/* A vector holds the fewer elements, the larger they are. */
static double host_flops_per_core(tb_element element)
{
    return HOST_FLOPS_PER_CORE * (double)tb_bytes_of(TB_FP32) / (double)tb_bytes_of(tb_real_of(element));
}

static int host_cores(const tb_machine *machine)
{
    return machine->host_cores > 0 ? machine->host_cores : 1;
}

double tb_host_flops(tb_element element, const tb_machine *machine)
{
    return host_flops_per_core(element) * host_cores(machine);
}

double tb_host_seconds(const tb_product *product, const tb_machine *machine)
{
    const int cores = host_cores(machine);
    double arithmetic = flop(product) / tb_host_flops(tb_element_of(product), machine);
    double traffic = (bytes_in(product) + bytes_of_c(product)) / (HOST_BYTES_PER_SECOND_PER_CORE * cores);
    return tb_known_ratio(machine->host_ratio) * (HOST_CALL_SECONDS + fmax(arithmetic, traffic));
}

/* ---- Streaming -------------------------------------------------------------------------------------------- */

static double pageable(const tb_place *place, double amount)
{
    return place->memory == TB_MEMORY_HOST ? amount : 0;
}

/* Bytes that the host's threads copy into pinned memory and out of it; also into C in pinned memory, where what lies
 * there must not be lost. */
static double host_copies(const tb_product *product, const tb_facts *facts)
{
    const tb_place *places = facts->places;
    const bool reads_c = !tb_is_zero(product->beta);
    const double c = bytes_of_c(product);
    const double returned = places[TB_C].memory == TB_MEMORY_PINNED && reads_c ? c : 0;
    return returned + pageable(&places[TB_A], tb_bytes_read(product, TB_A)) +
           pageable(&places[TB_B], bytes_of_b(product)) + pageable(&places[TB_C], reads_c ? 2 * c : c);
}

double tb_copy_rate(const tb_machine *machine, int devices)
{
    int cores = machine->host_cores;
    cores = cores < COPY_CORES_AT_MOST ? cores : COPY_CORES_AT_MOST;
    cores = cores < devices * COPY_CORES_A_LINK ? cores : devices * COPY_CORES_A_LINK;
    return COPY_RATE_A_CORE * (cores > 0 ? cores : 1);
}

/* A pipeline's stages overlap, but for its beginning and its end. */
static double overlapped(const tb_terms *terms)
{
    return TB_STREAMED_CALL_SECONDS + (terms->copies > 0 ? TB_COPIED_CALL_SECONDS : 0) +
           tb_longest_term(terms) + UNCOVERED_IN * terms->in + UNCOVERED_OUT * terms->out +
           UNCOVERED_WORK * terms->kernel;
}

/* Bytes that each of two devices gets from the other one instead of the host: half of what both need, where that passes through
 * slots (lib/streaming/exchange.h). */
static double exchanged(const tb_product *product, const tb_facts *facts, const tb_plan *plan)
{
    const tb_region *regions = plan->regions;
    const tb_role common = regions[0].columns < product->n ? TB_A : TB_B;
    const bool may = plan->region_count == 2 && tb_is_plain(product) &&
                     tb_reach_each_other(tb_find_chip(&facts->machine, regions[0].device),
                                         tb_find_chip(&facts->machine, regions[1].device));
    return may ? pageable(&facts->places[common], tb_bytes_read(product, common)) / 2 : 0;
}

/* Brought to where every kernel wants it, wherever the region begins. */
static TB_OWN_FRAME void take_block(const tb_product *product, const tb_region *region, tb_product *block)
{
    *block = tb_region_of(product, region);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        block->operands[role].data = product->operands[role].data;
}

void tb_forecast_streamed(const tb_product *product, const tb_facts *facts, tb_plan *plan)
{
    const double sharing = plan->region_count > 1 ? tb_known_ratio(facts->machine.sharing_ratio) : 1,
                 ratio = sharing * tb_known_ratio(facts->machine.streamed_ratio);
    const double spared = exchanged(product, facts, plan);
    double copying = 0, suited = 0, slowest = 0;
    tb_product block;
    for (int i = 0; i < plan->region_count; i++) {
        take_block(product, &plan->regions[i], &block);
        copying += (host_copies(&block, facts) - spared) / tb_copy_rate(&facts->machine, plan->region_count);
    }
    for (int i = 0; i < plan->region_count; i++) {
        const tb_chip *chip = tb_find_chip(&facts->machine, plan->regions[i].device);
        take_block(product, &plan->regions[i], &block);
        const tb_kernel_times times = tb_time_kernel(plan->regions[i].kernel, &block, chip);
        /* Operands that lie on the device do not cross the link; they are few, and taking them as if they did delays nothing,
         * because such products have no choice. The host's copies are for all devices. */
        tb_terms terms = {.in = tb_link_seconds(bytes_in(&block) - spared, chip->link_in, false),
                          .out = tb_link_seconds(bytes_of_c(&block), chip->link_out, false),
                          .copies = copying,
                          .kernel = SLAB_FACTOR * times.all};
        suited = fmax(suited, overlapped(&terms));
        terms.kernel = SLAB_FACTOR * (times.all + times.at_risk);
        slowest = fmax(slowest, overlapped(&terms));
    }
    plan->device_seconds = ratio * slowest;
    plan->seconds_at_risk = slowest > suited ? ratio * (slowest - suited) : 0; /* both may be infinite */
}

double tb_streamed_seconds_least(const tb_product *product, const tb_facts *facts)
{
    const tb_machine *machine = &facts->machine;
    const tb_chip *chip = tb_first_chip(machine);
    const int devices = machine->chip_count > 1 ? machine->chip_count : 1;
    const double sharing = devices > 1 ? fmin(1, tb_known_ratio(machine->sharing_ratio)) : 1;
    const tb_terms terms = {
        .in = tb_link_seconds(bytes_in(product), chip->link_in, false) / devices,
        .out = tb_link_seconds(bytes_of_c(product), chip->link_out, false) / devices,
        .copies = host_copies(product, facts) / tb_copy_rate(machine, devices),
        .kernel = machine->chip_count > 0 ? 0 : tb_presumed_seconds(tb_element_of(product), flop(product))};
    return sharing * tb_known_ratio(machine->streamed_ratio) * overlapped(&terms);
}

/* ---- Kernels ---------------------------------------------------------------------------------------------- */

/* Copying the operands that the kernel would not take into pitched memory. */
static double pad_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    double seconds = 0;
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *operand = &product->operands[role];
        if (!tb_kernel_takes(kernel, product, role))
            seconds += PAD_SECONDS + PAD_COLUMN_SECONDS * (double)operand->columns +
                       2 * bytes(operand) / chip->memory_rate;
    }
    return seconds;
}

/* Whole tiles: the busiest multiprocessor works through its share of blocks, a few at a time. */
static double tile_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    double tiles = ceil((double)product->m / kernel->tile_m) * ceil((double)product->n / kernel->tile_n) *
                   (double)tb_members_of(product);
    double tile_flop = 2.0 * kernel->tile_m * kernel->tile_n * (double)product->k,
           flops = FLOP_A_CLOCK * chip->clock * tb_share_of_row(kernel, chip->architecture);
    double block = (!tb_is_zero(product->beta) ? 2 : 1) *
                   (kernel->tile_k > 1 ? BLOCK_SECONDS : BARE_BLOCK_SECONDS) / kernel->blocks;
    return LATE_LAUNCH_SECONDS + ceil(tiles / chip->multiprocessors) * (tile_flop / flops + block);
}

/* A link with 16 lanes of PCI Express 5.0, bytes a second. */
#define NOMINAL_LINK 52e9

/* Between ordinary and pinned memory, bytes a second: what a thread that is awake reaches, both ways together
 * (on an H200's host of 16 cores twelve do 117 GB/s). The route is chosen by a lower rate, as it decides
 * whether to leave the host at all. */
#define NOMINAL_COPY_A_THREAD 10e9

tb_chip tb_nominal_chip(const tb_chip *presumed, const tb_chip *measured)
{
    tb_chip chip = *presumed;
    if (measured) {
        chip.link_in = NOMINAL_LINK * exp2(round(log2(measured->link_in / NOMINAL_LINK)));
        chip.link_out = NOMINAL_LINK * exp2(round(log2(measured->link_out / NOMINAL_LINK)));
        chip.clusters = measured->clusters;
    }
    return chip;
}

double tb_nominal_copy_rate(int threads, int devices)
{
    return NOMINAL_COPY_A_THREAD * threads / devices;
}

/* The schedule is what was prepared for the product. */
static double seconds_of(const tb_kernel *kernel, const tb_product *product, const tb_schedule *schedule,
                         const tb_chip *chip)
{
    const double arithmetic =
        tb_has_forecast(kernel) ? schedule->clocks / chip->clock : tile_seconds(kernel, product, chip);
    const double traffic =
        (double)tb_members_of(product) * (bytes(&product->a) + bytes(&product->b) + bytes(&product->c));
    const double seconds = LAUNCH_SECONDS + fmax(arithmetic, traffic / chip->memory_rate);
    return kernel->pads ? seconds + pad_seconds(kernel, product, chip) : seconds;
}

tb_kernel_times tb_time_kernel(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    const tb_schedule schedule = tb_make_schedule(kernel, product, tb_target_of(chip));
    return (tb_kernel_times){.all = seconds_of(kernel, product, &schedule, chip),
                             .of_a = schedule.clocks_of_a / chip->clock,
                             .at_risk = schedule.clocks_at_risk / chip->clock};
}

double tb_kernel_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    return tb_time_kernel(kernel, product, chip).all;
}

double tb_expanding_seconds(const tb_product *product, const tb_product *lowered, const tb_chip *chip)
{
    double seconds = 0;
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (tb_is_expanded(product, role))
            seconds +=
                LATE_LAUNCH_SECONDS + (double)tb_members_of(product) *
                                          (tb_bytes_read(product, role) + bytes(&lowered->operands[role])) /
                                          chip->memory_rate;
    return seconds;
}

double tb_folding_seconds(const tb_product *product, const tb_chip *chip)
{
    const double square =
        (double)product->n * (double)product->n * (double)tb_bytes_of(tb_element_of(product));
    const double of_c = tb_is_zero(product->beta) ? square / 2 : square;
    return LATE_LAUNCH_SECONDS + (square + of_c) / chip->memory_rate;
}

/* Whether the kernel takes the product as it is, both terms of it too. */
static bool reads_as_given(const tb_kernel *kernel, const tb_product *product)
{
    return kernel->reads == TB_READS_STRUCTURED && kernel->element == tb_element_of(product);
}

/* Seconds that a kernel takes as it was prepared for what it multiplies: the product, a term of it, or what that is lowered
 * to. */
static double seconds_as_prepared(const tb_kernel *kernel, const tb_product *product,
                                  const tb_schedule *schedule, const tb_chip *chip)
{
    const tb_product term = tb_term_of(product, 0), lowered = tb_lowered(&term);
    if (reads_as_given(kernel, product))
        return seconds_of(kernel, product, schedule, chip);
    if (kernel->reads == TB_READS_COMPLEX)
        return tb_terms_of(product) * seconds_of(kernel, &term, schedule, chip);
    return tb_terms_of(product) *
           (seconds_of(kernel, &lowered, schedule, chip) + tb_expanding_seconds(&term, &lowered, chip));
}

double tb_resident_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    const tb_product term = tb_term_of(product, 0), lowered = tb_lowered(&term);
    const tb_product *multiplied = reads_as_given(kernel, product)     ? product
                                   : kernel->reads == TB_READS_COMPLEX ? &term
                                                                       : &lowered;
    const tb_schedule schedule = tb_make_schedule(kernel, multiplied, tb_target_of(chip));
    return seconds_as_prepared(kernel, product, &schedule, chip);
}

double tb_plan_seconds(const tb_plan *plan, const tb_product *product, const tb_chip *chip)
{
    const tb_product sums = tb_to_be_folded(product);
    if (plan->joins)
        return seconds_of(plan->kernel, product, &plan->schedule, chip);
    return plan->folds ? seconds_as_prepared(plan->kernel, &sums, &plan->schedule, chip) +
                             tb_folding_seconds(product, chip)
                       : seconds_as_prepared(plan->kernel, product, &plan->schedule, chip);
}

/* A streamed product is taken to have about so many swaths, of so many columns at least; and one alone where it has fewer
 * columns than COLUMNS_MANY. */
#define SWATHS       8
#define SWATH_LEAST  384
#define COLUMNS_MANY 2048

double tb_kernel_seconds_by_swaths(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip)
{
    tb_product swath = *product;
    const bool by_columns = product->in_place == TB_OUT_OF_PLACE || tb_goes_by_columns(product);
    const int64_t extent = by_columns ? product->n : product->m;
    const tb_range range = {0, extent >= COLUMNS_MANY ? tb_larger(extent / SWATHS, SWATH_LEAST) : extent};
    swath = by_columns ? tb_columns_of(product, range) : tb_rows_of(product, range);
    const double swaths = (double)extent / (double)tb_larger(range.count, 1);
    const tb_kernel_times times = tb_time_kernel(kernel, &swath, chip);
    const int times_a = swaths > 1 ? 2 : 1; /* slab by slab, and again for whole columns */
    return swaths * (times.all - times.of_a) + times_a * times.of_a;
}
