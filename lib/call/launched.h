/* What the kernel of a resident product is launched with: steps of k of a term, whose operands are written out into
 * buffers of the call's where they do not lie as the kernel wants them. Either they are expanded (words/lowered.h), or
 * they miss its alignment and are copied into pitched memory.
 */
#ifndef TB_LAUNCHED_H
#define TB_LAUNCHED_H

#include "dispatch/plan.h"
#include "lib/device/device.h"
#include "lib/device/memory.h"
#include "words/lowered.h"

typedef struct tb_launched {
    tb_command command; /* the launch, made here once: all but its schedule and its workspace */
    bool is_written_out[TB_B + 1];
    tb_matrix as_it_lies[TB_B + 1]; /* of those */
} tb_launched;

/* Bytes of the device's memory. */
typedef struct tb_room {
    size_t written_out[TB_B + 1], workspace;
} tb_room;

/* Whether the kernel adds up the terms of a product, and makes the diagonal of a Hermitian one real. */
static inline bool tb_knows_terms(const tb_kernel *kernel)
{
    return kernel->reads == TB_READS_STRUCTURED;
}

/* How many products are launched for it, each in chunks of k: its terms, unless the kernel adds them up, or joins them. */
static inline int tb_launches_of(const tb_product *product, const tb_plan *plan)
{
    return plan->joins || tb_knows_terms(plan->kernel) ? 1 : tb_terms_of(product);
}

/* The product that is launched. */
static inline const tb_product *tb_launched_product(const tb_launched *launched)
{
    return &launched->command.launch.product;
}

/* For the term of that number; operands are to be written out into the buffers, by role. */
void tb_prepare_launch(const tb_product *given, const tb_plan *plan, int term, const tb_buffer *buffers,
                       tb_launched *launched);

/* Enqueues the copies and expansions. */
tb_status tb_write_out(tb_stream *stream, const tb_product *given, const tb_launched *launched);

/* The plan's for all steps of k of the first term (planned); for others one that is made for them. */
tb_schedule tb_schedule_of(const tb_product *product, const tb_plan *plan, bool planned);

/* What all terms of the product need in turn, so many steps of k at a time. */
tb_room tb_room_for_chunks(const tb_product *product, const tb_plan *plan, int64_t chunk);

#endif
