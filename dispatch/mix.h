/* Hashes of what products are made of. */
#ifndef TB_MIX_H
#define TB_MIX_H

#include <stdint.h>

/* The hash of what was hashed so far and a value. The constant is 2^64 over the golden ratio (Fibonacci
 * hashing, Knuth, The Art of Computer Programming, volume 3, 6.4). */
static inline uint64_t tb_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
