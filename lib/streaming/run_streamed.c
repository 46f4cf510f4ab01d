/* The streamed route: operands in host memory, or some of them, go through a device step by step, or through
 * several, each with a block of C. Where a device fails, what it has not finished is as the caller left it, and the
 * host's BLAS computes that.
 */
#include "lib/call/diagonal.h"
#include "lib/call/run.h"

#include "dispatch/tiling.h"
#include "lib/machine/calibrate.h"
#include "lib/process/clock.h"
#include "lib/streaming/copy_threads.h"
#include "lib/reports/counters.h"
#include "lib/device/device.h"
#include "lib/process/leaving.h"
#include "lib/process/lock.h"
#include "lib/machine/machine.h"
#include "lib/device/memory.h"
#include "lib/device/copies.h"
#include "lib/reports/options.h"
#include "lib/call/stream.h"
#include "lib/streaming/finish.h"
#include "lib/streaming/stream_product.h"
#include "lib/process/threads.h"
#include "words/integers.h"
#include "words/lowered.h"

#include <math.h>
#include <string.h>

/* Less than this is not worth a device's while. */
#define BUDGET_LEAST ((double)(1 << 20))

/* The share of what is free that is taken when the option does not say: the program may want some itself. */
#define BUDGET_SHARE 0.75

/* Of a link with 16 lanes of PCI Express 5.0, bytes a second. */
#define NOMINAL_LINK 52e9

/* Between ordinary and pinned memory, bytes a second: what a thread that is awake reaches, both ways together
 * (on an H200's host of 16 cores twelve do 117 GB/s). The route is chosen by a lower rate, as it decides
 * whether to leave the host at all. */
#define NOMINAL_COPY_A_THREAD 10e9

/* Device memory that this call may use, in bytes. */
static tb_status find_budget(int device, double *bytes)
{
    size_t free_bytes, total_bytes;
    long mib = tb_option_value(TB_OPTION_DEVICE_MEMORY);
    if (mib > 0) {
        *bytes = (double)mib * (1 << 20);
        return TB_OK;
    }
    TB_TRY(tb_device.memory(device, &free_bytes, &total_bytes));
    *bytes = BUDGET_SHARE * (double)(free_bytes + tb_kept_bytes(device));
    return TB_OK;
}

/* One device's region of a call. */
typedef struct region {
    tb_product given;   /* by the program; what is lowered is never cut into regions */
    tb_product product; /* what is multiplied: of it, or of what it is lowered to */
    const tb_plan *plan;
    const tb_kernel *kernel;
} region;

/* Streams block after block of rows. */
static tb_status stream_rows(tb_pipeline *pipeline, const region *region, const tb_tiling *tiling,
                             tb_progress *done)
{
    const tb_product *product = &region->product;
    while (done->rows < product->m) {
        const int64_t first = done->rows, left = product->m - first;
        const tb_product block = tb_rows_of(product, (tb_range){first, tb_smaller(left, tiling->block_m)});
        tb_tiling own = *tiling;
        if (product->in_place != TB_OUT_OF_PLACE) /* the last block may be lower than a band */
            own.band_m = own.piece_m = tb_smaller(own.band_m, block.m);
        const tb_status status =
            tb_stream_product(pipeline, &block, &region->given, region->plan, region->kernel, &own, done);
        done->rows += first;
        TB_TRY(status);
    }
    return TB_OK;
}

/* Slots keep what lies in C until the device has done its work, where beta is to be applied to it. */
static tb_passage passage(const region *region, tb_role role)
{
    const tb_product *product = &region->product;
    const tb_place *place = &region->plan->places[role];
    if (region->given.operands[role].structure != TB_GENERAL && tb_is_in_host_memory(place))
        /* The link would read more than what is stored. */
        return role != TB_C && place->write_combined ? TB_STRAIGHT : TB_BY_SLOTS;
    if (region->given.terms == 2 && role != TB_C) /* of either */
        place = &region->plan->places[region->plan->places[TB_A].memory == TB_MEMORY_HOST ? TB_A : TB_B];
    if (role == TB_C && !tb_is_zero(product->beta) && place->memory != TB_MEMORY_DEVICE)
        return TB_BY_SLOTS;
    if (tb_is_on_device(place) || (role == TB_B && tb_has_one_operand(product)))
        return TB_NO_PASSAGE;
    if (role == TB_C && product->mask != TB_FULL)
        return TB_BY_SLOTS; /* the link would write more than the mask */
    return place->memory == TB_MEMORY_PINNED ? TB_STRAIGHT : TB_BY_SLOTS;
}

/* The device as its description has it, with a link like most: powers of two of that of a PCI Express 5.0
 * with 16 lanes. What is measured differs a little from one process to the next, and products are to be cut
 * alike in all of them. */
static tb_chip nominal_chip(int device, const tb_device_description *description)
{
    const tb_machine machine = tb_machine_facts();
    const tb_chip *measured = tb_find_chip(&machine, device);
    tb_chip chip = tb_presume_chip(device, description);
    if (measured) {
        chip.link_in = NOMINAL_LINK * exp2(round(log2(measured->link_in / NOMINAL_LINK)));
        chip.link_out = NOMINAL_LINK * exp2(round(log2(measured->link_out / NOMINAL_LINK)));
        chip.clusters = measured->clusters;
    }
    return chip;
}

/* The host copies for all devices that share the product. */
static double nominal_copy_rate(const tb_product *product, int devices)
{
    return NOMINAL_COPY_A_THREAD * tb_copy_threads(devices, tb_product_bytes(product)) / devices;
}

static bool is_same(const tb_known_tiling *known, const tb_product *product, const tb_budget *budget)
{
    const tb_product *p = &known->product;
    const tb_budget *b = &known->budget;
    return p->routine == product->routine && p->m == product->m && p->n == product->n && p->k == product->k &&
           p->a.transposed == product->a.transposed && p->b.transposed == product->b.transposed &&
           p->a.expanded_from == product->a.expanded_from && p->b.expanded_from == product->b.expanded_from &&
           p->mask == product->mask && p->mask_pairs == product->mask_pairs &&
           p->diagonal == product->diagonal && tb_has_one_operand(p) == tb_has_one_operand(product) &&
           p->in_place == product->in_place && tb_is_triangle_left(p) == tb_is_triangle_left(product) &&
           tb_is_zero(p->beta) == tb_is_zero(product->beta) && b->kernel == budget->kernel &&
           b->bytes <= budget->bytes && b->slot_bytes == budget->slot_bytes &&
           b->copy_rate == budget->copy_rate &&
           memcmp(b->passages, budget->passages, sizeof b->passages) == 0;
}

/* What needs a part of the memory only is the same with more of it. */
static tb_known_tiling *find_known(tb_pipeline *pipeline, const tb_product *product, const tb_budget *budget)
{
    for (int i = 0; i < TB_TILINGS_KEPT; i++)
        if (pipeline->known[i].tiling.whole && is_same(&pipeline->known[i], product, budget))
            return &pipeline->known[i];
    return NULL;
}

/* Going through the ways to cut a product takes up to a millisecond. */
static bool choose_tiling(tb_pipeline *pipeline, const tb_product *product, const tb_budget *budget,
                          tb_tiling *tiling)
{
    const tb_known_tiling *before = find_known(pipeline, product, budget);
    if (before) {
        *tiling = before->tiling;
        return true;
    }
    if (!tb_choose_tiling(product, budget, tiling))
        return false;
    if (tiling->whole) {
        tb_known_tiling *known = &pipeline->known[pipeline->next_known++ % TB_TILINGS_KEPT];
        *known = (tb_known_tiling){.product = *product, .budget = *budget, .tiling = *tiling};
        known->budget.chip = NULL;
        known->budget.bytes = tb_tiling_needs(budget, product, tiling);
    }
    return true;
}

/* Whether a product failed for want of memory before anything was written. */
static bool lacks_memory(tb_status status, const tb_progress *done)
{
    return status == TB_OUT_OF_MEMORY && done->rows == 0 && done->columns == 0;
}

/* Whether the pinned memory is known not to be there that operands have to go through. */
static bool lacks_slots(const tb_budget *room)
{
    bool needed = false;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        needed = needed || room->passages[role] == TB_BY_SLOTS;
    return needed && tb_is_refused(TB_PINNED, (size_t)room->slot_bytes);
}

/* As it was cut before, where the library keeps what that took: asking how much is free takes several
 * microseconds. Else TB_OUT_OF_MEMORY. */
static tb_status stream_in_kept(tb_pipeline *pipeline, const region *region, tb_budget room,
                                tb_progress *done)
{
    if (tb_option_value(TB_OPTION_DEVICE_MEMORY) > 0)
        return TB_OUT_OF_MEMORY;
    room.bytes = (double)tb_kept_bytes(pipeline->device);
    const tb_known_tiling *known = find_known(pipeline, &region->product, &room);
    return known && known->changes == tb_buffer_changes()
               ? stream_rows(pipeline, region, &known->tiling, done)
               : TB_OUT_OF_MEMORY;
}

/* With less and less memory, while that is what is missing and nothing has been written. */
static tb_status stream(tb_pipeline *pipeline, const region *region, tb_progress *done)
{
    const tb_product *product = &region->product;
    const tb_device_description *device = tb_machine_device(pipeline->device);
    if (!device)
        return TB_DEVICE_LOST;
    const tb_chip chip = nominal_chip(pipeline->device, device);
    tb_budget room = {
        .kernel = region->kernel,
        .chip = &chip,
        .slot_bytes = (int64_t)pipeline->slot_bytes,
        .copy_rate = nominal_copy_rate(product, region->plan->region_count),
        .passages = {
            [TB_A] = passage(region, TB_A), [TB_B] = passage(region, TB_B), [TB_C] = passage(region, TB_C)}};
    if (lacks_slots(&room))
        return TB_OUT_OF_MEMORY;
    tb_status status = stream_in_kept(pipeline, region, room, done);
    if (!lacks_memory(status, done) || lacks_slots(&room))
        return status;
    TB_TRY(find_budget(pipeline->device, &room.bytes));
    for (; room.bytes >= BUDGET_LEAST; room.bytes /= 2) {
        tb_tiling tiling;
        if (!choose_tiling(pipeline, product, &room, &tiling))
            break;
        status = stream_rows(pipeline, region, &tiling, done);
        if (!lacks_memory(status, done) || lacks_slots(&room))
            break;
    }
    tb_known_tiling *known = status == TB_OK ? find_known(pipeline, product, &room) : NULL;
    if (known)
        known->changes = tb_buffer_changes();
    return status;
}

/* ---- Regions ------------------------------------------------------------------------------------------------ */

/* One device's region of a call, and how it went. */
typedef struct work {
    bool has_thread;
    _Atomic(uint32_t) *left; /* of the works that have threads, those that are not done */
    region region;
    int device;
    tb_progress done;
    tb_status status;
    double seconds;    /* without waiting for the device's turn */
    double link_bytes; /* that went over the link */
} work;

/* Of up to so many bytes a product leaves most of the device idle (1024 x 1024 x 1024 has 12 MiB). */
#define MEDIUM_BYTES ((size_t)16 << 20)

static bool is_medium(const work *work)
{
    return work->region.plan->region_count == 1 && tb_product_bytes(&work->region.product) <= MEDIUM_BYTES;
}

static void take_turn(work *work)
{
    const region *region = &work->region;
    tb_turn turn = {
        .device = work->device, .medium = is_medium(work), .seconds = region->plan->device_seconds};
    tb_leaving leaving;
    tb_when_left(&leaving, tb_leave_turn, &turn);
    work->status = tb_take_turn(&turn);
    if (work->status == TB_OK) {
        const double start = tb_seconds();
        const bool reads_as_given = region->kernel->structured && region->kernel->in_place == TB_OUT_OF_PLACE;
        work->status = reads_as_given ? TB_UNSUPPORTED : stream(turn.pipeline, region, &work->done);
        work->seconds = tb_seconds() - start;
        tb_end_turn(&turn);
    }
    tb_not_left(&leaving);
}

static void *do_region(void *argument)
{
    work *work = argument;
    take_turn(work);
    work->link_bytes = tb_take_link_bytes();
    /* From here on it is whose it was before. */
    if (work->has_thread) {
        _Atomic(uint32_t) *left = work->left;
        if (atomic_fetch_sub(left, 1) == 1)
            tb_wake_all(left);
    }
    return NULL;
}

static work make_work(const tb_product *product, const tb_plan *plan, const tb_region *region)
{
    const bool in_place = product->in_place != TB_OUT_OF_PLACE;
    const tb_product lowered = in_place ? *product : tb_lowered(product);
    return (work){.region = {.given = *product,
                             .product = tb_region_of(&lowered, region),
                             .plan = plan,
                             .kernel = region->kernel},
                  .device = region->device};
}

static void wait_for_regions(void *left)
{
    _Atomic(uint32_t) *regions = left;
    for (uint32_t now; (now = atomic_load(regions)) > 0;)
        tb_wait_while(regions, now, -1);
}

/* Who waits for regions counts with none that has no thread, however the caller leaves. */
static void start_region(work *work, _Atomic(uint32_t) *left)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    work->left = left;
    work->has_thread = true;
    atomic_fetch_add(left, 1);
    if (!tb_start_thread(do_region, work)) {
        work->has_thread = false;
        atomic_fetch_sub(left, 1);
    }
    tb_let_signals(&signals);
}

/* All regions at once, as far as threads can be had. */
static void do_regions(work *works, int count)
{
    _Atomic(uint32_t) left = 0;
    tb_leaving leaving;
    tb_when_left(&leaving, wait_for_regions, &left);
    for (int i = 1; i < count; i++)
        start_region(&works[i], &left);
    do_region(&works[0]);
    for (int i = 1; i < count; i++)
        if (!works[i].has_thread)
            do_region(&works[i]);
    wait_for_regions(&left);
    tb_not_left(&leaving);
}

/* What is left to do for the host: the product as the program gave it, and how far it has come. Parts of complex
 * numbers are rows of what was multiplied. */
static tb_product left_of(const work *work, tb_progress *done)
{
    const region *region = &work->region;
    *done = work->done;
    if (tb_is_plain(&region->given) || region->given.in_place != TB_OUT_OF_PLACE)
        return region->product;
    if (tb_is_complex(tb_element_of(&region->given))) {
        done->rows /= 2;
        done->next_rows /= 2;
    }
    return region->given;
}

/* C, which is complete, lies in the program's memory. */
static tb_status make_diagonal_real(const tb_product *product, const tb_plan *plan)
{
    tb_stream *stream;
    tb_buffer zero = {0};
    if (product->c.structure != TB_HERMITIAN)
        return TB_OK;
    if (plan->places[TB_C].memory != TB_MEMORY_DEVICE) {
        tb_make_diagonal_real(&product->c);
        return TB_OK;
    }
    TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &stream));
    tb_status status = tb_take_zero(stream, plan->place.device, &zero);
    if (status == TB_OK)
        status = tb_enqueue_real_diagonal(stream, &product->c, &zero);
    status = tb_end_stream(stream, status);
    tb_give_buffer(&zero);
    return status;
}

/* ---- When the device cannot ------------------------------------------------------------------------------- */

static bool has_begun(const work *works, int count)
{
    for (int i = 0; i < count; i++)
        if (works[i].status == TB_OK || works[i].done.rows > 0 || works[i].done.columns > 0)
            return true;
    return false;
}

/* The regions that failed, each from where it had come to. TB_DECLINED when the whole product is still to be done. */
static tb_outcome finish(const work *works, int count, const tb_host *host)
{
    if (!has_begun(works, count))
        return TB_DECLINED;
    for (int i = 0; i < count; i++)
        if (works[i].status != TB_OK) {
            tb_progress done;
            const tb_product left = left_of(&works[i], &done);
            tb_finish_on_host(&left, &done, host);
        }
    return TB_DONE;
}

tb_outcome tb_run_streamed(const tb_product *product, const tb_plan *plan, const tb_host *host,
                           double *seconds)
{
    work works[TB_REGIONS_MAXIMUM];
    const int count = plan->region_count;
    for (int i = 0; i < count; i++)
        works[i] = make_work(product, plan, &plan->regions[i]);
    do_regions(works, count);

    bool complete = true, lost = false;
    double slowest = 0;
    for (int i = 0; i < count; i++) {
        complete = complete && works[i].status == TB_OK;
        lost = lost || works[i].status == TB_DEVICE_LOST;
        slowest = works[i].seconds > slowest ? works[i].seconds : slowest;
        tb_add_link_bytes(works[i].link_bytes);
    }
    if (complete)
        works[0].status = make_diagonal_real(product, plan);
    if (complete && works[0].status == TB_OK) {
        *seconds = slowest;
        return TB_DONE;
    }
    /* Operands on a device: there is one region, and the host cannot reach all of it. */
    if (!lost && plan->needs_device) {
        tb_progress done;
        const tb_product left = left_of(&works[0], &done);
        tb_status status = tb_rescue(&left, plan, &done, host);
        if (status == TB_OK)
            return TB_DONE;
        lost = status == TB_DEVICE_LOST;
    }
    if (lost)
        tb_machine_lose("multiplying matrices in host memory");
    return plan->needs_device ? TB_DECLINED : finish(works, count, host);
}
