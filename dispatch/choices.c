#include "dispatch/choices.h"

#include <stdatomic.h>

#define ROW_BITS UINT64_C(0xff)

/* The kernel of an entry, if that answers the question. */
static const tb_kernel *answer_in(uint64_t entry, uint64_t question)
{
    const size_t row = (size_t)(entry & ROW_BITS);
    return (entry ^ question) <= ROW_BITS && row > 0 && row <= tb_catalog_size ? &tb_catalog[row - 1] : NULL;
}

const tb_kernel *tb_recall_choice(const tb_facts *facts, uint64_t question)
{
    const tb_new_choices *chosen = facts->chosen;
    const tb_kernel *known = answer_in(
        atomic_load_explicit(&facts->choices->entries[tb_place_of_choice(question)], memory_order_relaxed),
        question);
    for (int i = 0; !known && chosen && i < chosen->count; i++)
        known = answer_in(chosen->entries[i], question);
    return known;
}

void tb_tell_choice(const tb_facts *facts, uint64_t question, const tb_kernel *kernel)
{
    tb_new_choices *chosen = facts->chosen;
    const uint64_t row = (uint64_t)tb_row_of(kernel) + 1;
    if (chosen && row <= ROW_BITS && chosen->count < (int)(sizeof chosen->entries / sizeof *chosen->entries))
        chosen->entries[chosen->count++] = (question & ~ROW_BITS) | row;
}
