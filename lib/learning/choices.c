#include "lib/learning/choices.h"

#include <stdatomic.h>

static tb_choices choices;

tb_plan tb_decide_remembering(const tb_product *product, tb_facts *facts)
{
    tb_new_choices chosen;
    chosen.count = 0;
    facts->choices = &choices;
    facts->chosen = &chosen;
    const tb_plan plan = tb_decide(product, facts);
    facts->chosen = NULL;
    for (int i = 0; i < chosen.count; i++)
        atomic_store_explicit(&choices.entries[tb_place_of_choice(chosen.entries[i])], chosen.entries[i],
                              memory_order_relaxed);
    return plan;
}
