/* The products of a batch (words/batch.h): where they lie, and each of them by itself. */
#ifndef TB_MEMBERS_H
#define TB_MEMBERS_H

#include "words/product.h"

/* Where a matrix of one of the operands begins. */
static inline void *tb_member_at(const tb_product *product, tb_role role, int64_t number)
{
    return tb_start_of(&product->batch.members[role], &product->operands[role].matrix, number);
}

/* One of the products, by itself. The first is had without a look at the members. */
static inline tb_product tb_member_of(const tb_product *product, int64_t number)
{
    tb_product one = *product;
    for (tb_role role = TB_A; role < TB_ROLES && number > 0; role++)
        one.operands[role].data = tb_member_at(product, role, number);
    one.batch = (tb_batch){.count = 0};
    return one;
}

static inline uintptr_t tb_distance_to(void *const *starts, int64_t number)
{
    return (uintptr_t)starts[number] - (uintptr_t)starts[number - 1];
}

/* Makes a product a batch of so many, and says where an operand's matrices lie. They may turn out to be equally far apart. */
static inline void tb_spread(tb_product *product, tb_role role, int64_t count, int64_t stride,
                             void *const *starts)
{
    tb_members *members = &product->batch.members[role];
    product->batch.count = count;
    *members = (tb_members){.stride = stride, .starts = starts};
    if (!starts || count < 1)
        return;
    product->operands[role].data = starts[0];
    const uintptr_t bytes = tb_bytes_of(product->operands[role].element),
                    step = count > 1 ? tb_distance_to(starts, 1) : 0;
    int64_t even = 1; /* so many are at the step, which mostly all are */
    while (even < count && tb_distance_to(starts, even) == step)
        even++;
    members->uneven = even < count || (int64_t)step % (int64_t)bytes != 0;
    members->stride = (int64_t)step / (int64_t)bytes;
    if (!members->uneven)
        return;
    uintptr_t all = step; /* each bit that a distance has */
    for (int64_t i = even; i < count; i++)
        all |= tb_distance_to(starts, i);
    members->stride = (int64_t)((all & -all) / bytes);
}

#endif
