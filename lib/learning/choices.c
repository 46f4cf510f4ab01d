#include "lib/learning/choices.h"

#include <stdatomic.h>

/* Of each entry the upper 56 bits are the question's, the lower 8 the answer's row in the catalog, counted from 1. All 0: nothing
 * is remembered. Whichever thread writes last is believed. */
#define ENTRIES  1024
#define ROW_BITS UINT64_C(0xff)
static _Atomic(uint64_t) entries[ENTRIES];

static _Atomic(uint64_t) *entry_of(uint64_t question)
{
    return &entries[question / (ROW_BITS + 1) % ENTRIES];
}

static bool is_asked(const tb_facts *facts)
{
    return facts->machine.readiness == TB_READY && !facts->kernel_forced;
}

void tb_recall_choice(const tb_product *product, tb_facts *facts)
{
    facts->suggested = NULL;
    if (!is_asked(facts))
        return;
    const uint64_t question = tb_question_of(product, facts);
    const uint64_t kept = atomic_load_explicit(entry_of(question), memory_order_relaxed);
    const size_t row = (size_t)(kept & ROW_BITS);
    if ((kept ^ question) <= ROW_BITS && row > 0 && row <= facts->kernel_count)
        facts->suggested = &facts->kernels[row - 1];
}

void tb_keep_choice(const tb_product *product, const tb_facts *facts, const tb_plan *plan)
{
    if (!is_asked(facts) || !plan->considered || plan->considered == facts->suggested)
        return;
    const uint64_t question = tb_question_of(product, facts);
    const uint64_t row = (uint64_t)(plan->considered - facts->kernels) + 1;
    if (row <= ROW_BITS)
        atomic_store_explicit(entry_of(question), (question & ~ROW_BITS) | row, memory_order_relaxed);
}
