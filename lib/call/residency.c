#include "lib/call/residency.h"

#include "words/frame.h"
#include "words/members.h"

static bool is_same_place(const tb_place *x, const tb_place *y)
{
    return x->memory == y->memory && x->device == y->device && x->context == y->context &&
           x->write_combined == y->write_combined;
}

/* A batch's matrices, of which the first has all that is known. Those at a stride lie in one piece of memory,
 * or there are two. Of others that lie where one of them has been found to lie nobody is asked. */
static TB_OWN_FRAME void locate_members(const tb_product *product, tb_role role, tb_facts *facts)
{
    const int64_t members = tb_members_of(product);
    tb_span known = {0};
    tb_platform.locate(product->operands[role].data, &facts->places[role], &known);
    for (int64_t i = product->batch.members[role].uneven ? 0 : members - 1; i < members; i++) {
        const uintptr_t address = (uintptr_t)tb_member_at(product, role, i);
        tb_place own;
        if (address - known.start < known.bytes)
            continue;
        tb_platform.locate((const void *)address, &own, &known);
        if (is_same_place(&own, &facts->places[role]))
            continue;
        facts->scattered = true;
        return;
    }
}

void tb_locate_matrices(tb_task task, tb_facts *facts)
{
    facts->scattered = false;
    for (int i = 0; i < TB_TASK_MATRICES; i++)
        facts->places[i] = (tb_place){.memory = TB_MEMORY_HOST};
    if (!tb_platform.in_process())
        return;
    for (int i = 0; i < tb_task_matrices(task); i++)
        if (tb_task_touches(task, i) && tb_task_members(task) > 1)
            locate_members(task.product, (tb_role)i, facts);
        else if (tb_task_touches(task, i))
            tb_platform.locate(tb_task_matrix(task, i)->data, &facts->places[i], NULL);
}
