/* Hashes of what products are made of. */
#ifndef TB_MIX_H
#define TB_MIX_H

#include "words/members.h"
#include "words/product.h"

#include <string.h>

/* The hash of what was hashed so far and a value. The constant is 2^64 over the golden ratio (Fibonacci
 * hashing, Knuth, The Art of Computer Programming, volume 3, 6.4). */
static inline uint64_t tb_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint64_t tb_mix_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return tb_mix(hash, bits);
}

/* By how much the address is aligned, up to the 128 bytes that a forecast may ask for: a power of two, its exponent. */
static inline uint64_t tb_alignment_of(const tb_operand *operand)
{
    enum { MOST = 128 };
    return (uint64_t)__builtin_ctzll((uintptr_t)operand->data | MOST);
}

/* The same of the distances between a batch's matrices: the stride's exponent, or the greatest one where all are in one place. */
static inline uint64_t tb_alignment_between(const tb_product *product, tb_role role)
{
    enum { NOT_OF_ELEMENTS = 0, ONE_ELEMENT = 1, MOST = 128 };
    const tb_members *members = &product->batch.members[role];
    const bool is_batch = tb_is_batch(product);
    if (is_batch && members->uneven && members->stride == 0)
        return NOT_OF_ELEMENTS;
    return ONE_ELEMENT + (uint64_t)__builtin_ctzll((uint64_t)(is_batch ? members->stride : 0) | MOST);
}

static inline uint64_t tb_traits_of_scalar(tb_scalar scalar)
{
    return (uint64_t)tb_is_zero(scalar) | (uint64_t)tb_is_one(scalar) << 1 | (uint64_t)(scalar.im != 0) << 2;
}

/* In seven bits. */
static inline uint64_t tb_traits_of_operand(const tb_operand *operand)
{
    return (uint64_t)operand->transposed | (uint64_t)operand->conjugated << 1 |
           (uint64_t)operand->unit_diagonal << 2 | (uint64_t)operand->structure << 3 |
           (uint64_t)operand->stored << 5;
}

/* The hash of all of a product that the choice of its kernel, and its schedule, depend on. What is known of the operands' numbers
 * is not in it: a kernel that they do not suit takes no longer than others would. Where C lies matters in its place alone, where
 * it is an operand, too. */
static inline uint64_t tb_hash_product(uint64_t hash, const tb_product *product)
{
    const bool in_place = product->in_place != TB_OUT_OF_PLACE;
    const uint64_t flags =
        tb_traits_of_operand(&product->a) | tb_traits_of_operand(&product->b) << 7 |
        tb_traits_of_scalar(product->alpha) << 14 | tb_traits_of_scalar(product->beta) << 17 |
        tb_alignment_of(&product->a) << 20 | tb_alignment_of(&product->b) << 23 |
        (in_place ? tb_alignment_of(&product->c) : 0) << 26 | tb_alignment_between(product, TB_A) << 29 |
        tb_alignment_between(product, TB_B) << 33 | (uint64_t)product->routine << 37 |
        (uint64_t)product->mask << 45 | (uint64_t)product->mask_pairs << 47 |
        (uint64_t)product->expanded[TB_A].embedded << 48 | (uint64_t)product->expanded[TB_B].embedded << 49 |
        (uint64_t)product->in_place << 50 | (uint64_t)tb_has_one_operand(product) << 52 |
        (uint64_t)(product->terms == 2) << 53 | (uint64_t)product->a_nonzero << 54 |
        (uint64_t)product->b_nonzero << 56 | (uint64_t)product->b_nonzero_pairs << 58;
    const int64_t extents[] = {product->m,
                               product->n,
                               product->k,
                               tb_members_of(product),
                               product->a.ld,
                               product->b.ld,
                               in_place ? product->c.ld : 0,
                               product->diagonal};
    hash = tb_mix(hash, flags);
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        hash = tb_mix(hash, (uint64_t)extents[i]);
    return hash;
}

#endif
