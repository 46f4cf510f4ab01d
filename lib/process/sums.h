/* Sums that several threads add to. */
#ifndef TB_SUMS_H
#define TB_SUMS_H

#include <stdatomic.h>

/* += on an atomic double would need libatomic. Nothing to add is the usual case on the host route. */
static inline void tb_add_to_sum(_Atomic(double) *sum, double amount)
{
    double before = atomic_load_explicit(sum, memory_order_relaxed);
    while (amount != 0 && !atomic_compare_exchange_weak_explicit(sum, &before, before + amount,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
}

static inline double tb_sum_of(const _Atomic(double) *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

static inline void tb_clear_sum(_Atomic(double) *sum)
{
    atomic_store_explicit(sum, 0, memory_order_relaxed);
}

#endif
