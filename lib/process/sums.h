/* Words that several threads look at and change, in no order: each by itself; and sums that they add to. */
#ifndef TB_SUMS_H
#define TB_SUMS_H

#include <stdatomic.h>

#define TB_LOAD(word)         atomic_load_explicit(word, memory_order_relaxed)
#define TB_STORE(word, value) atomic_store_explicit(word, value, memory_order_relaxed)
#define TB_ADD(word, amount)  atomic_fetch_add_explicit(word, amount, memory_order_relaxed)

/* += on an atomic double would need libatomic. Nothing to add is the usual case on the host route. */
static inline void tb_add_to_sum(_Atomic(double) *sum, double amount)
{
    double before = TB_LOAD(sum);
    while (amount != 0 && !atomic_compare_exchange_weak_explicit(sum, &before, before + amount,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
}

#endif
