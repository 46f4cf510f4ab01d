#include "lib/call/residency.h"

#include "words/members.h"

static bool is_same_place(const tb_place *x, const tb_place *y)
{
    return x->memory == y->memory && x->device == y->device && x->context == y->context &&
           x->write_combined == y->write_combined;
}

/* Whether one of a batch's matrices lies in other memory than the first, which has all that is known. Those at a stride lie in one
 * piece of it, or there are two. Of others that lie where one of them has been found to lie nobody is asked. */
static bool has_scattered(const tb_product *product, tb_role role, const tb_place *place, tb_span known)
{
    const int64_t members = tb_members_of(product);
    for (int64_t i = product->batch.members[role].uneven ? 0 : members - 1; i < members; i++) {
        const uintptr_t address = (uintptr_t)tb_member_at(product, role, i);
        tb_place own;
        if (address - known.start < known.bytes)
            continue;
        tb_device.locate((const void *)address, &own, &known);
        if (!is_same_place(&own, place))
            return true;
    }
    return false;
}

void tb_locate_matrices(tb_task task, tb_facts *facts)
{
    const bool in_process = tb_device.in_process(), is_batch = tb_task_members(task) > 1;
    facts->scattered = false;
    for (int i = 0; i < TB_TASK_MATRICES; i++) {
        facts->places[i] = (tb_place){.memory = TB_MEMORY_HOST};
        if (!in_process || i >= tb_task_matrices(task) || !tb_task_touches(task, i))
            continue;
        tb_span known = {0};
        tb_device.locate(tb_task_matrix(task, i)->data, &facts->places[i], is_batch ? &known : NULL);
        if (is_batch && has_scattered(task.product, (tb_role)i, &facts->places[i], known))
            facts->scattered = true;
    }
}
