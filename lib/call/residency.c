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
        tb_platform.locate((const void *)address, &own, &known);
        if (!is_same_place(&own, place))
            return true;
    }
    return false;
}

void tb_locate_operands(const tb_product *product, tb_facts *facts)
{
    const bool in_process = tb_platform.in_process();
    facts->scattered = false;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_operand *operand = &product->operands[role];
        facts->places[role] = (tb_place){.memory = TB_MEMORY_HOST};
        if (!in_process || (role != TB_C && product->k == 0))
            continue;
        tb_span known = {0};
        const bool is_batch = tb_is_batch(product);
        tb_platform.locate(operand->data, &facts->places[role], is_batch ? &known : NULL);
        if (is_batch && has_scattered(product, role, &facts->places[role], known))
            facts->scattered = true;
    }
}
