/* The moduli, and what the theorem needs of them; all of it computed by the compiler.
 *
 * Of n moduli m[i] let P be the product and w[i] the multiple of P / m[i] that leaves 1 by m[i]. An integer x of which
 * |x| < P / 2 and residues r[i] are known is  sum r[i] w[i] - q P,  with q the nearest integer to  sum r[i] w[i] / P.
 */
#pragma once

#include "kernels/crt/crt.h"
#include "kernels/crt/instructions.cuh"

#include <stdint.h>

namespace crt
{

constexpr int moduli = TB_CRT_MODULI, group = 4; /* residues in a word */
constexpr int modulus_of[moduli] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                    227, 223, 217, 211, 199, 197, 193, 191};

/* The residue with the least magnitude; -128 of 256 and 128. */
constexpr int centered(int64_t x, int m)
{
    const int r = int((x % m + m) % m);
    return 2 * r >= m ? r - m : r;
}

/* 2^bits by a modulus. */
constexpr int power(int bits, int m)
{
    int value = 1;
    for (int i = 0; i < bits; i++)
        value = value * 2 % m;
    return centered(value, m);
}

/* Integers of up to 192 bits. */
struct wide {
    static constexpr int words = 6;
    uint32_t word[words] = {};

    constexpr void multiply(uint32_t factor)
    {
        uint64_t carry = 0;
        for (int i = 0; i < words; i++) {
            carry += uint64_t(word[i]) * factor;
            word[i] = uint32_t(carry);
            carry >>= 32;
        }
    }
    constexpr int remainder(int m) const
    {
        uint64_t rest = 0;
        for (int i = words - 1; i >= 0; i--)
            rest = (rest << 32 | word[i]) % uint64_t(m);
        return int(rest);
    }
    constexpr double value() const
    {
        double sum = 0;
        for (int i = words - 1; i >= 0; i--)
            sum = sum * 4294967296.0 + word[i];
        return sum;
    }
    /* Modulo 2^192. */
    constexpr wide negative() const
    {
        wide result;
        uint64_t carry = 1;
        for (int i = 0; i < words; i++) {
            carry += uint32_t(~word[i]);
            result.word[i] = uint32_t(carry);
            carry >>= 32;
        }
        return result;
    }
};

/* The product of the first n moduli but one; left_out n leaves out none. */
constexpr wide product_without(int n, int left_out)
{
    wide product;
    product.word[0] = 1;
    for (int i = 0; i < n; i++)
        if (i != left_out)
            product.multiply(uint32_t(modulus_of[i]));
    return product;
}

constexpr wide weight(int n, int i)
{
    wide result = product_without(n, i);
    const int m = modulus_of[i], rest = result.remainder(m);
    int inverse = 1;
    while (inverse * rest % m != 1)
        inverse++;
    result.multiply(uint32_t(inverse));
    return result;
}

/* What joins residues by the first n moduli: bytes of w, as words of which each holds the same byte of four moduli; and w / P in
 * units of 2^-16, in two bytes. An integer takes as many words as there are groups of four moduli. */
constexpr int groups_most = (moduli + group - 1) / group;
struct joining {
    uint32_t weights[4 * groups_most][groups_most] = {};
    uint32_t shares[2][groups_most] = {};
    uint32_t minus_p[groups_most] = {},
             start[groups_most] = {}; /* start: `quotient_shift` P, so that q is not negative */
};
constexpr int quotient_shift = 128 * moduli;

constexpr joining joining_of(int n)
{
    joining all;
    const wide p = product_without(n, n), negative = p.negative();
    wide shifted = p;
    shifted.multiply(quotient_shift);
    for (int i = 0; i < groups_most; i++) {
        all.minus_p[i] = negative.word[i];
        all.start[i] = shifted.word[i];
    }
    for (int i = 0; i < n; i++) {
        const wide w = weight(n, i);
        const int at = 8 * (i % group);
        for (int byte = 0; byte < 4 * groups_most; byte++)
            all.weights[byte][i / group] |= (w.word[byte / 4] >> (8 * (byte % 4)) & 255) << at;
        const uint32_t share = uint32_t(w.value() / p.value() * 65536 + 0.5),
                       kept = share > 65535 ? 65535 : share;
        all.shares[0][i / group] |= (kept & 255) << at;
        all.shares[1][i / group] |= (kept >> 8) << at;
    }
    return all;
}
struct joinings {
    joining of[moduli + 1] = {};
};
constexpr joinings make_joinings()
{
    joinings all;
    for (int n = 1; n <= moduli; n++)
        all.of[n] = joining_of(n);
    return all;
}
__constant__ constexpr joinings device_joinings = make_joinings();

/* What makes residues of an integer y, 0 <= y < 2^64, and of a sum s, |s| <= 2^30. */
struct reduction {
    uint32_t bytes[2]; /* 2^(8 j), for the bytes of y */
    int32_t start_y;   /* takes `bias` from y, and makes a float of the result */
    uint32_t halves;   /* 1 and 2^16, for the halves of s */
    int32_t start_s;
    float inverse;
    int32_t modulus;
};
struct reductions {
    reduction of[moduli] = {};
};
/* The bits of a float that is 1.5 * 2^23 and an integer of up to 22 bits and a sign. */
constexpr int32_t magic = 0x4b400000;
constexpr int bias_bits = 63; /* y is 2^63 and an integer of less magnitude */

constexpr reductions make_reductions()
{
    reductions all;
    for (int i = 0; i < moduli; i++) {
        const int m = modulus_of[i];
        reduction &of = all.of[i];
        for (int j = 0; j < 8; j++)
            of.bytes[j / 4] |= uint32_t(power(8 * j, m) & 255) << (8 * (j % 4));
        of.start_y = magic - power(bias_bits, m);
        const int half = power(16, m);
        of.halves = 1u | uint32_t(half & 255) << 8;
        of.start_s = magic - half * (1 << 15);
        of.inverse = 1.0f / float(m);
        of.modulus = m;
    }
    return all;
}
__constant__ constexpr reductions device_reductions = make_reductions();

/* 0.47 P of the first n moduli: the estimate of q errs by 0.02 at most. */
struct limits {
    double of[moduli + 1] = {};
};
constexpr limits make_limits()
{
    limits all;
    double p = 1;
    for (int i = 0; i < moduli; i++) {
        p *= modulus_of[i];
        all.of[i + 1] = 0.47 * p;
    }
    return all;
}
__constant__ constexpr limits device_limits = make_limits();

/* The residue, in the lowest byte, of the integer in the float's bits. */
__device__ inline uint32_t reduce(int32_t bits, float inverse, int32_t modulus)
{
    const float x = __int_as_float(bits) - 12582912.0f;
    const int32_t quotient = __float_as_int(fmaf(x, inverse, 12582912.0f));
    return uint32_t(bits - quotient * modulus);
}

/* The lowest bytes of four words. */
__device__ inline uint32_t pack(uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3)
{
    return __byte_perm(__byte_perm(b0, b1, 0x0040), __byte_perm(b2, b3, 0x0040), 0x5410);
}

} // namespace crt
