/* How the kernel computes the parts of a streamed product: schedules are made once, when the product is cut, and looked
 * up by each launch. The workspace is enough for every part.
 */
#ifndef TB_PART_SCHEDULES_H
#define TB_PART_SCHEDULES_H

#include "dispatch/schedule.h"
#include "dispatch/tiling.h"

/* Parts that differ in more than where they lie; a product that is not cut by its place in a triangle has no more. */
#define TB_PARTS_KEPT 28

typedef struct tb_part_schedules {
    const tb_kernel *kernel;
    tb_target target;
    size_t workspace; /* bytes of device memory that the kernel needs beside its operands */
    int count;
    uint64_t parts[TB_PARTS_KEPT];       /* hashes of all that their schedules depend on */
    tb_schedule made[TB_PARTS_KEPT + 1]; /* the last one: of a part that is not among them */
} tb_part_schedules;

/* The hash of all that a product's tiling and the schedules of its parts depend on, but for the memory that there is. */
uint64_t tb_hash_of_cut(const tb_product *product, const tb_budget *budget);

/* Makes the schedules of all parts. */
void tb_schedule_parts(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget,
                       tb_part_schedules *schedules);

/* The schedule of a part, which is as it lies on the device; valid until the next is asked for. */
const tb_schedule *tb_schedule_of_part(tb_part_schedules *schedules, const tb_product *part);

/* What the kernel needs beside its operands as far as that decides how a product is cut, in bytes. */
double tb_nominal_workspace(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget);

#endif
