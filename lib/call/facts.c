#include "lib/call/facts.h"

#include "dispatch/factor_choice.h"
#include "lib/learning/learning.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/process/callers_state.h"
#include "lib/user/options.h"
#include "lib/streaming/pipeline.h"
#include "lib/user/precision.h"

#include <stdatomic.h>
#include <string.h>

static void read_forced_choices(tb_facts *facts)
{
    /* The choices of the option are auto, and then the routes in their order. */
    const long route = tb_option_value(TB_OPTION_ROUTE);
    facts->route_forced = route > 0;
    facts->forced_route = route > 0 ? (tb_route)(route - 1) : TB_ROUTE_HOST;

    const char *kernel = tb_option_text(TB_OPTION_KERNEL);
    facts->kernel_forced = strcmp(kernel, "auto") != 0;
    facts->forced_kernel = facts->kernel_forced ? tb_find_kernel(kernel) : NULL;
}

static void read_backlogs(tb_facts *facts)
{
    const tb_machine *machine = &facts->machine;
    memset(facts->backlogs, 0, sizeof facts->backlogs);
    for (int i = 0; i < machine->chip_count && i < TB_BACKLOGS; i++)
        if (machine->chips[i].open)
            facts->backlogs[i] = tb_pipeline_backlog(machine->chips[i].device);
}

void tb_gather_facts(tb_task task, tb_facts *facts)
{
    facts->kernels = tb_catalog;
    facts->kernel_count = tb_catalog_size;
    facts->choices = NULL;
    facts->chosen = NULL;
    read_forced_choices(facts);
    facts->needs_host = tb_caller_needs_host();
    facts->stays_on_host = !tb_option_has(tb_task_routine(task));
    facts->bytes_most = (int64_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20;
    facts->accuracy = tb_wanted_accuracy();
    facts->machine = tb_machine_facts();
    read_backlogs(facts);
    facts->callers = (int)tb_calls_under_way();
    tb_recall_task(task, facts);
}

tb_plan tb_decide_remembering(tb_task task, tb_facts *facts)
{
    static tb_choices choices;
    tb_new_choices chosen;
    chosen.count = 0;
    facts->choices = &choices;
    facts->chosen = &chosen;
    const tb_plan plan =
        tb_is_product(task) ? tb_decide(task.product, facts) : tb_decide_factor(task.factor, facts);
    facts->chosen = NULL;
    for (int i = 0; i < chosen.count; i++)
        atomic_store_explicit(&choices.entries[tb_place_of_choice(chosen.entries[i])], chosen.entries[i],
                              memory_order_relaxed);
    return plan;
}
