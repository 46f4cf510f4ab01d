/* Calls that are too small to gain, and known to be so at a glance: compat/ sends them straight to the host. */
#ifndef TB_SMALL_H
#define TB_SMALL_H

#include "lib/call/residency.h"
#include "lib/reports/stats.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Too small to gain, and nothing that the caller's BLAS might get wrong: a product that is not to be read. Integers, as the
 * caller may have a trap enabled that an inexact conversion sets off. */
static inline bool tb_is_small(int64_t m, int64_t n, int64_t k, bool has_alpha)
{
    /* Three extents of 21 bits have no more than 63 together. Larger ones, and negative ones, are not small. Less one, a
     * volume of zero is larger than all others. */
    const uint64_t extents = (uint64_t)m | (uint64_t)n | (uint64_t)k,
                   volume = (uint64_t)m * (uint64_t)n * (uint64_t)k;
    return extents < UINT64_C(1) << 21 &&
           volume - 1 < atomic_load_explicit(&tb_small_volume, memory_order_relaxed) && has_alpha;
}

/* Whether the call can be forwarded at once: small, and no operand in device memory. */
static inline bool tb_stays_on_host(int64_t m, int64_t n, int64_t k, bool has_alpha, const void *a,
                                    const void *b, const void *c)
{
    return tb_is_small(m, n, k, has_alpha) && !tb_may_be_on_device(a, b, c);
}

#endif
