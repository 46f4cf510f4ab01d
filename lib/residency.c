#include "lib/residency.h"

#include "lib/device.h"

void tb_locate_operands(const tb_problem *problem, tb_facts *facts)
{
    facts->a = facts->b = facts->c = (tb_place){.memory = TB_MEMORY_HOST};
    if (!tb_device.in_process())
        return;
    tb_device.locate(problem->c, &facts->c);
    if (problem->k > 0) {
        tb_device.locate(problem->a, &facts->a);
        tb_device.locate(problem->b, &facts->b);
    }
}
