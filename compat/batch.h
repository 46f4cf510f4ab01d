/* What the classes of batches (gemm_batch_abi.h, gemm_batch_strided_abi.h) share: how a group of products is put into a call of
 * the host's routine, and what is known of a call before it is settled.
 */
#ifndef TB_COMPAT_BATCH_H
#define TB_COMPAT_BATCH_H

#include "lib/call/small.h"
#include "words/members.h"

/* Addresses of a batch's matrices, as ?gemm_batch takes them: all of them, or some at a time where they are to be written
 * down. */
enum { TB_ADDRESSES = 128 };
typedef struct tb_addresses {
    int64_t count;
    void *const *of[TB_ROLES];
    void *written[TB_ROLES][TB_ADDRESSES];
} tb_addresses;

/* Those from a matrix on; false where there are none left. */
static inline bool tb_take_addresses(const tb_product *product, int64_t first, tb_addresses *addresses)
{
    const int64_t left = tb_members_of(product) - first;
    const tb_members *members = product->batch.members;
    const bool known = members[TB_A].starts && members[TB_B].starts && members[TB_C].starts;
    addresses->count = known || left < TB_ADDRESSES ? left : TB_ADDRESSES;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        addresses->of[role] = known ? members[role].starts + first : addresses->written[role];
        for (int64_t i = 0; !known && i < addresses->count; i++)
            addresses->written[role][i] = tb_member_at(product, role, first + i);
    }
    return left > 0;
}

/* Makes a batch of the first product. Matrices that are not read may not even have addresses. */
static inline void tb_spread_product(tb_product *product, int64_t count, const int64_t strides[TB_ROLES],
                                     bool by_members)
{
    const bool multiplies = product->k > 0 && !tb_is_zero(product->alpha);
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        void *const *members = by_members ? product->operands[role].data : NULL;
        if (by_members)
            product->operands[role].data = NULL;
        if (role == TB_C || multiplies)
            tb_spread(product, role, count, strides[role], members);
    }
}

/* Nothing is read of a C without elements, where the matrices lie neither. */
static inline bool tb_has_elements(const tb_product *product)
{
    return product->m > 0 && product->n > 0;
}

/* What the groups of a call are together. */
typedef struct tb_batch_call {
    int number;      /* of the first irregular argument, or 0 */
    double volume;   /* multiply-adds of real numbers */
    bool at_home;    /* while that is little: the matrices are the host's for certain */
    bool multiplies; /* in all groups A and B are read */
} tb_batch_call;

/* One that is regular, and of so many products; members are looked at while all together are small. */
static inline void tb_add_group(tb_batch_call *call, const tb_product *first, int64_t count,
                                const int64_t strides[TB_ROLES], bool by_members)
{
    const bool multiplies = first->k > 0 && !tb_is_zero(first->alpha);
    tb_product group = *first;
    call->volume += (double)count * tb_volume(first);
    call->multiplies &= multiplies;
    call->at_home &= multiplies && call->volume <= TB_SMALL_VOLUME;
    if (!call->at_home || count == 0 || !tb_has_elements(first))
        return;
    tb_spread_product(&group, count, strides, by_members);
    for (int64_t i = 0; call->at_home && i < count; i++)
        call->at_home = !tb_may_be_on_device(tb_member_at(&group, TB_A, i), tb_member_at(&group, TB_B, i),
                                             tb_member_at(&group, TB_C, i));
}

/* Whether the caller's own BLAS is given the call as it came: its groups are small together, and nobody watches. */
static inline bool tb_goes_home(const tb_batch_call *call)
{
    return call->at_home && call->multiplies && call->volume > 0 &&
           call->volume <= atomic_load_explicit(&tb_small_volume, memory_order_relaxed);
}

#endif
