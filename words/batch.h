/* Batches: products that differ in where their matrices lie, and in nothing else. A batch is a tb_product whose operands are
 * batches; one of its products is a member. A call of ?gemm_batch is one batch for each of its groups.
 *
 * Of an operand the matrices lie anywhere (members), or equally far apart (stride): also at 0, where all products read the same.
 * Those of C do not overlap; that is the caller's to see to.
 */
#ifndef TB_BATCH_H
#define TB_BATCH_H

#include "words/product.h"

/* Where a matrix of the batch begins. */
static inline void *tb_member_at(const tb_operand *operand, int64_t number)
{
    return operand->members
               ? operand->members[number]
               : (char *)operand->data + number * operand->stride * (int64_t)tb_bytes_of(operand->element);
}

/* One of the products, by itself. The first is had without a look at the members. */
static inline tb_product tb_member_of(const tb_product *product, int64_t number)
{
    tb_product one = *product;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_operand *operand = &one.operands[role];
        if (number > 0)
            operand->data = tb_member_at(operand, number);
        operand->count = operand->stride = 0;
        operand->members = NULL;
        operand->uneven = false;
    }
    return one;
}

static inline uintptr_t tb_distance_to(void *const *members, int64_t number)
{
    return (uintptr_t)members[number] - (uintptr_t)members[number - 1];
}

/* Makes an operand of a product a batch. Members may turn out to be equally far apart. */
static inline void tb_spread(tb_operand *operand, int64_t count, int64_t stride, void *const *members)
{
    operand->count = count;
    operand->stride = stride;
    operand->members = members;
    if (!members || count < 1)
        return;
    operand->data = members[0];
    const uintptr_t bytes = tb_bytes_of(operand->element), step = count > 1 ? tb_distance_to(members, 1) : 0;
    int64_t even = 1; /* so many are at the step, which mostly all are */
    while (even < count && tb_distance_to(members, even) == step)
        even++;
    operand->uneven = even < count || (int64_t)step % (int64_t)bytes != 0;
    operand->stride = (int64_t)step / (int64_t)bytes;
    if (!operand->uneven)
        return;
    uintptr_t all = step; /* each bit that a distance has */
    for (int64_t i = even; i < count; i++)
        all |= tb_distance_to(members, i);
    operand->stride = (int64_t)((all & -all) / bytes);
}

#endif
