#include "lib/call/launched.h"

#include "dispatch/schedule.h"
#include "dispatch/tiling.h"
#include "lib/device/copies.h"
#include "lib/machine/machine.h"
#include "words/integers.h"

/* Whether operands are written out for the kernel. A structured one reads them as they lie, but may also be
 * that of the real batch which a complex one is lowered to. Terms that are joined lie as the kernel wants them. */
static bool needs_expansion(const tb_plan *plan, const tb_product *product)
{
    const tb_kernel *kernel = plan->kernel;
    const bool as_given = kernel->reads != TB_READS_PLAIN && kernel->element == tb_element_of(product);
    return !tb_is_plain(product) && product->in_place == TB_OUT_OF_PLACE && !as_given && !plan->joins;
}

void tb_prepare_launch(const tb_product *given, const tb_plan *plan, int term, const tb_buffer *buffers,
                       tb_launched *launched)
{
    tb_launch *launch = tb_begin_launch(&launched->command, plan->kernel);
    tb_product *product = &launch->product;
    if (needs_expansion(plan, given))
        *product = tb_lowered(given);
    else
        *product = *given;
    for (tb_role role = TB_A; role <= TB_B; role++) {
        tb_matrix *operand = &product->operands[role].matrix;
        const bool pads =
            plan->pads[term == 0 ? role : TB_B - role] && !tb_kernel_takes(plan->kernel, product, role);
        launched->is_written_out[role] =
            (product->expanded[role].from > 0 || pads) && operand->rows > 0 && operand->columns > 0;
        if (!launched->is_written_out[role])
            continue;
        launched->as_it_lies[role] = *operand;
        operand->data = buffers[role].memory;
        operand->ld = tb_pitched(operand->rows, operand->element);
        product->batch.members[role].stride = tb_expanded_stride(given, role, operand);
    }
    tb_leave_lists(&product->batch);
}

tb_status tb_write_out(tb_stream *stream, const tb_product *given, const tb_launched *launched)
{
    const tb_product *product = tb_launched_product(launched);
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *there = &product->operands[role];
        if (!launched->is_written_out[role])
            continue;
        if (product->expanded[role].from > 0) {
            const tb_expansion expansion = tb_expansion_of(given, product, role, 0);
            TB_TRY(tb_enqueue_expansion(stream, &expansion));
        } else {
            TB_TRY(tb_copy_operand(stream, TB_DEVICE_TO_DEVICE, &launched->as_it_lies[role], there->data,
                                   there->ld));
        }
    }
    return TB_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

tb_schedule tb_schedule_of(const tb_product *product, const tb_plan *plan, bool planned)
{
    return planned ? plan->schedule
                   : tb_make_schedule(plan->kernel, product, tb_machine_target(plan->place.device));
}

/* What steps of k of a term need. */
static void add_needs(const tb_product *given, tb_range k, const tb_plan *plan, int term, tb_room *room)
{
    const tb_product part = tb_steps_of(given, k);
    tb_launched launched;
    tb_prepare_launch(&part, plan, term, (tb_buffer[TB_B + 1]){{0}}, &launched);
    const tb_product *product = tb_launched_product(&launched);
    const bool planned = term == 0 && k.count == given->k;
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *there = &product->operands[role];
        if (launched.is_written_out[role])
            room->written_out[role] =
                larger(room->written_out[role], tb_pitch(&there->matrix) * (size_t)there->columns *
                                                    (size_t)tb_expanded_count(&part, role));
    }
    room->workspace = larger(room->workspace, tb_schedule_of(product, plan, planned).workspace);
}

/* The first chunk has the caller's beta, the last may be shorter, and kernels plan by both. */
tb_room tb_room_for_chunks(const tb_product *product, const tb_plan *plan, int64_t chunk)
{
    const int64_t last = chunk > 0 ? (product->k - 1) / chunk * chunk : 0;
    const int64_t firsts[] = {0, tb_smaller(chunk, last), last};
    const int launches = tb_launches_of(product, plan);
    tb_room room = {0};
    for (int term = 0; term < launches; term++) {
        const tb_product given = launches > 1 ? tb_term_of(product, term) : *product;
        for (int i = 0; i < 3; i++)
            if (i == 0 || firsts[i] > firsts[i - 1])
                add_needs(&given, (tb_range){firsts[i], tb_smaller(product->k - firsts[i], chunk)}, plan,
                          term, &room);
    }
    return room;
}
