#include "lib/streaming/stream_product.h"

#include "dispatch/tiling.h"
#include "lib/device/platform.h"
#include "lib/device/memory.h"
#include "lib/machine/calibrate.h"
#include "lib/machine/machine.h"
#include "lib/user/options.h"
#include "lib/streaming/copy_threads.h"

/* Less than this is not worth a device's while. */
#define BUDGET_LEAST ((double)(1 << 20))

/* The share of what is free that is taken when the option does not say: the program may want some itself. */
#define BUDGET_SHARE 0.75

/* Device memory that this call may use, in bytes. */
static tb_status find_budget(int device, double *bytes)
{
    size_t free_bytes, total_bytes;
    long mib = tb_option_value(TB_OPTION_DEVICE_MEMORY);
    if (mib > 0) {
        *bytes = (double)mib * (1 << 20);
        return TB_OK;
    }
    TB_TRY(tb_device_at(device)->memory(device, &free_bytes, &total_bytes));
    *bytes = BUDGET_SHARE * (double)(free_bytes + tb_kept_bytes(device));
    return TB_OK;
}

/* What of that is taken beside what the tiling says (stream_expand.c): by triangles in host memory, which lie there as they are
 * stored, and by what general operands come through that are written out on the device. */
static double bytes_beside(const tb_pipeline *pipeline, const tb_streamed_region *region)
{
    size_t triangles = 0, staging = 0;
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *given = &region->given.operands[role];
        if (region->product.expanded[role].from == 0 || tb_is_on_device(&region->plan->places[role]))
            continue;
        if (given->structure == TB_GENERAL)
            staging = tb_staging_bytes(pipeline);
        else
            triangles += (size_t)(tb_pitched(given->rows, given->element) * given->columns) *
                         tb_bytes_of(given->element);
    }
    return (double)(triangles + staging);
}

/* Streams block after block of rows. */
static tb_status stream_rows(tb_pipeline *pipeline, const tb_streamed_region *region, tb_known_tiling *known,
                             tb_progress *done)
{
    const tb_product *product = &region->product;
    while (done->rows < product->m) {
        const int64_t first = done->rows;
        tb_tiling own;
        const tb_product block = tb_rows_of_tiling(product, &known->tiling, first, &own);
        const tb_status status = tb_stream_product(pipeline, region, &block, &own, &known->schedules, done);
        done->rows += first;
        TB_TRY(status);
    }
    return TB_OK;
}

/* Slots keep what lies in C until the device has done its work, where beta is to be applied to it. */
static tb_passage passage(const tb_streamed_region *region, tb_role role)
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

/* What needs a part of the memory only is the same with more of it. */
static tb_known_tiling *find_known(tb_pipeline *pipeline, const tb_product *product, const tb_budget *budget)
{
    const uint64_t cut = tb_hash_of_cut(product, budget);
    for (int i = 0; i < TB_TILINGS_KEPT; i++)
        if (pipeline->known[i].cut == cut && pipeline->known[i].bytes <= budget->bytes)
            return &pipeline->known[i];
    return NULL;
}

/* Going through the ways to cut a product takes up to a millisecond. NULL where there is none. */
static tb_known_tiling *choose_tiling(tb_pipeline *pipeline, const tb_product *product,
                                      const tb_budget *budget)
{
    tb_known_tiling *known = find_known(pipeline, product, budget);
    tb_tiling tiling;
    if (known || !tb_choose_tiling(product, budget, &tiling))
        return known;
    known = &pipeline->known[pipeline->next_known % TB_TILINGS_KEPT];
    pipeline->next_known += tiling.whole;
    known->cut = tiling.whole ? tb_hash_of_cut(product, budget) : 0;
    known->bytes = tb_tiling_needs(budget, product, &tiling);
    known->tiling = tiling;
    tb_schedule_parts(product, &tiling, budget, &known->schedules);
    return known;
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
    return needed && tb_pinned_is_refused((size_t)room->slot_bytes);
}

/* As it was cut before, where the library keeps what that took: asking how much is free takes several
 * microseconds. Else TB_OUT_OF_MEMORY. */
static tb_status stream_in_kept(tb_pipeline *pipeline, const tb_streamed_region *region, tb_budget room,
                                tb_progress *done)
{
    if (tb_option_value(TB_OPTION_DEVICE_MEMORY) > 0)
        return TB_OUT_OF_MEMORY;
    room.bytes = (double)tb_kept_bytes(pipeline->device);
    tb_known_tiling *known = find_known(pipeline, &region->product, &room);
    return known && known->changes == tb_buffer_changes() ? stream_rows(pipeline, region, known, done)
                                                          : TB_OUT_OF_MEMORY;
}

tb_status tb_stream_region(tb_pipeline *pipeline, const tb_streamed_region *region, tb_progress *done)
{
    const tb_product *product = &region->product;
    const tb_device_description *device = tb_machine_device(pipeline->device);
    if (!device)
        return TB_DEVICE_LOST;
    const int devices = region->plan->region_count;
    const tb_machine machine = tb_machine_facts();
    const tb_chip presumed = tb_presume_chip(pipeline->device, device),
                  chip = tb_nominal_chip(&presumed, tb_find_chip(&machine, pipeline->device));
    tb_budget room = {.kernel = region->kernel,
                      .chip = &chip,
                      .slot_bytes = (int64_t)pipeline->slot_bytes,
                      .copy_rate =
                          tb_nominal_copy_rate(tb_copy_threads(devices, tb_product_bytes(product)), devices)};
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        room.passages[role] = passage(region, role);
    for (tb_role role = TB_A; role <= TB_B; role++)
        room.stays[role] = tb_is_on_device(&region->plan->places[role]) && !region->plan->pads[role];
    if (lacks_slots(&room))
        return TB_OUT_OF_MEMORY;
    tb_status status = stream_in_kept(pipeline, region, room, done);
    if (!lacks_memory(status, done) || lacks_slots(&room))
        return status;
    double bytes;
    TB_TRY(find_budget(pipeline->device, &bytes));
    for (; bytes >= BUDGET_LEAST; bytes /= 2) {
        room.bytes = bytes - bytes_beside(pipeline, region);
        tb_known_tiling *chosen = choose_tiling(pipeline, product, &room);
        if (!chosen)
            break;
        status = stream_rows(pipeline, region, chosen, done);
        if (!lacks_memory(status, done) || lacks_slots(&room))
            break;
    }
    tb_known_tiling *known = status == TB_OK ? find_known(pipeline, product, &room) : NULL;
    if (known)
        known->changes = tb_buffer_changes();
    return status;
}
