#include "lib/facts.h"

#include "lib/machine.h"
#include "lib/options.h"
#include "lib/residency.h"

#include <string.h>

/* Choices of the option ROUTE, in their order. */
enum { ROUTE_AUTO, ROUTE_HOST, ROUTE_RESIDENT, ROUTE_STREAMED };

static void read_forced_choices(tb_facts *facts)
{
    static const tb_route routes[] = {
        [ROUTE_AUTO] = TB_ROUTE_HOST,
        [ROUTE_HOST] = TB_ROUTE_HOST,
        [ROUTE_RESIDENT] = TB_ROUTE_RESIDENT,
        [ROUTE_STREAMED] = TB_ROUTE_STREAMED,
    };
    long route = tb_option_value(TB_OPTION_ROUTE);
    facts->route_forced = route != ROUTE_AUTO;
    facts->forced_route = routes[route];

    const char *kernel = tb_option_text(TB_OPTION_KERNEL);
    facts->kernel_forced = strcmp(kernel, "auto") != 0;
    facts->forced_kernel = facts->kernel_forced ? tb_find_kernel(kernel) : NULL;
}

void tb_gather_facts(const tb_problem *problem, tb_facts *facts)
{
    facts->kernels = tb_catalog;
    facts->kernel_count = tb_catalog_size;
    read_forced_choices(facts);
    tb_locate_operands(problem, facts);
    facts->machine = tb_machine_facts();
}
