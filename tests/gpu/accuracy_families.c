#include "tests/gpu/accuracy_families.h"

#include <math.h>

/* The limits of a format's numbers: the exponents of 2 below which all of them, and none but subnormal ones, are; and
 * how far factors that cancel go. */
typedef struct limits {
    int largest, smallest, scale;
} limits;

static limits limits_of(const accuracy_position *at)
{
    static const limits all[TB_ELEMENTS] = {[TB_FP32] = {128, -126, 30}, [TB_FP64] = {1024, -1022, 100}};
    return all[at->element];
}

static double uniform(check_random *random)
{
    return (double)(check_next(random) >> 11) * 0x1p-53;
}

double accuracy_normal(check_random *random)
{
    double radius = sqrt(-2 * log(1 - uniform(random)));
    return radius * cos(2 * M_PI * uniform(random));
}

double accuracy_shared_uniform(uint64_t salt, int64_t index)
{
    check_random random = {.state = salt * 0x9e3779b97f4a7c15u + (uint64_t)index};
    return uniform(&random);
}

static double fill_positive(const accuracy_position *at, check_random *random)
{
    (void)at;
    return uniform(random);
}

static double fill_one_to_two(const accuracy_position *at, check_random *random)
{
    (void)at;
    return 1 + uniform(random);
}

static double fill_normal(const accuracy_position *at, check_random *random)
{
    (void)at;
    return accuracy_normal(random);
}

static double fill_wide(const accuracy_position *at, check_random *random)
{
    (void)at;
    return (uniform(random) - 0.5) * exp(accuracy_normal(random));
}

static double fill_widest(const accuracy_position *at, check_random *random)
{
    (void)at;
    return (uniform(random) - 0.5) * exp(4 * accuracy_normal(random));
}

/* Magnitudes from so many binades. */
static double from_binades(check_random *random, int binades)
{
    return ldexp(1 + uniform(random), -(int)((binades - 0.001) * uniform(random)));
}

static double of_either_sign(check_random *random, double value)
{
    return uniform(random) < 0.5 ? -value : value;
}

/* Too different for FP16 parts with FP8: by their logarithms a mean of 2^-5.4 of the largest, in each operand. */
static double fill_eleven_binades(const accuracy_position *at, check_random *random)
{
    (void)at;
    return of_either_sign(random, from_binades(random, 11));
}

/* Numbers are as different as mixed parts just take: 2^-3.4. */
static double fill_seven_binades(const accuracy_position *at, check_random *random)
{
    (void)at;
    return of_either_sign(random, from_binades(random, 7));
}

static double fill_eleven_positive(const accuracy_position *at, check_random *random)
{
    (void)at;
    return from_binades(random, 11);
}

static double fill_seven_positive(const accuracy_position *at, check_random *random)
{
    (void)at;
    return from_binades(random, 7);
}

/* Numbers are of one sign, and some much larger than the others: what tensor cores cut off is a larger share of such a sum. */
static double with_peaks(const accuracy_position *at, check_random *random, int every, double height)
{
    return (at->k % every == 0 ? height : 1) * (1 + uniform(random));
}

#define FILL_WITH_PEAKS(name, every, height)                                                                 \
    static double name(const accuracy_position *at, check_random *random)                                    \
    {                                                                                                        \
        return with_peaks(at, random, every, height);                                                        \
    }
FILL_WITH_PEAKS(fill_every_32nd_8, 32, 8)
FILL_WITH_PEAKS(fill_every_32nd_32, 32, 32)
/* About as different as sgemm_split_sm90 just takes. */
FILL_WITH_PEAKS(fill_every_32nd_10, 32, 10.6)
FILL_WITH_PEAKS(fill_every_8th_13, 8, 13.5)
FILL_WITH_PEAKS(fill_every_4th_21, 4, 21)
FILL_WITH_PEAKS(fill_every_2nd_60, 2, 60)

/* A * D and D^-1 * B, D of powers of two. */
static double fill_scaled(const accuracy_position *at, check_random *random)
{
    const int most = limits_of(at).scale;
    const int exponent = (int)((2 * most + 1) * accuracy_shared_uniform(1, at->k)) - most;
    return ldexp(accuracy_normal(random), at->in_b ? -exponent : exponent);
}

static double fill_graded(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random), (int)(-20 * at->outer / at->outer_count));
}

/* The second of two neighbours along k takes the product of the first away but for a small rest. */
static double fill_cancelling(const accuracy_position *at, check_random *random)
{
    double value = accuracy_shared_uniform(at->in_b ? 3 : 2, at->outer * at->k_count + at->k / 2) + 0.5;
    bool second = at->k % 2 == 1;
    return !second ? value : at->in_b ? -value : value * (1 + ldexp(accuracy_normal(random), -20));
}

static double fill_equal(const accuracy_position *at, check_random *random)
{
    (void)random;
    return 1 + accuracy_shared_uniform(at->in_b ? 5 : 4, at->outer);
}

static double fill_huge(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random),
                 at->in_b ? -10 - (int)ceil(log2((double)at->k_count)) : limits_of(at).largest - 8);
}

/* Sums just under the largest number. */
static double fill_largest(const accuracy_position *at, check_random *random)
{
    return (1 + uniform(random)) *
           ldexp(0.49, at->in_b ? -(int)ceil(log2((double)at->k_count)) : limits_of(at).largest - 2);
}

static double fill_tiny(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random), limits_of(at).smallest / 2 + 9);
}

/* Sums about the smallest number that is not subnormal, from operands that are not small. */
static double fill_smallest(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random), limits_of(at).smallest / 2 - 1);
}

static double fill_subnormal(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random), at->in_b ? 20 : limits_of(at).smallest - 4);
}

/* Along k magnitudes grow, in both operands. */
static double fill_graded_k(const accuracy_position *at, check_random *random)
{
    return ldexp(accuracy_normal(random), (int)(20 * at->k / at->k_count));
}

/* Each row of A and column of B has one element much larger than the others. */
static double fill_one_huge(const accuracy_position *at, check_random *random)
{
    const int64_t huge =
        (int64_t)((double)at->k_count * accuracy_shared_uniform(at->in_b ? 9 : 8, at->outer));
    return ldexp(accuracy_normal(random), at->k == huge ? 30 : 0);
}

/* Blocks of rows and of k; off the diagonal of blocks numbers are much smaller. */
static double fill_blocks(const accuracy_position *at, check_random *random)
{
    const int64_t block_k = 8 * at->k / at->k_count, block = 8 * at->outer / at->outer_count;
    return ldexp(accuracy_normal(random), block == block_k ? 4 * (int)block : -40);
}

/* Half the bits of a double: their products are exact. */
static double fill_floats(const accuracy_position *at, check_random *random)
{
    (void)at;
    return (double)(float)accuracy_normal(random);
}

/* Pixels and counts: sums are exact. */
static double fill_bytes(const accuracy_position *at, check_random *random)
{
    (void)at;
    return (double)check_between(random, 0, 255);
}

/* What has to do with parts of numbers is of floats alone. */
const accuracy_family accuracy_families[] = {
    {"uniform 0..1", fill_positive, false, false, false, TB_ELEMENTS},
    {"uniform 1..2", fill_one_to_two, false, false, false, TB_ELEMENTS},
    {"normal", fill_normal, true, false, false, TB_ELEMENTS},
    {"(u-1/2)exp(N)", fill_wide, true, false, false, TB_ELEMENTS},
    {"(u-1/2)exp(4N)", fill_widest, false, false, false, TB_ELEMENTS},
    {"eleven binades", fill_eleven_binades, true, false, false, TB_FP32},
    {"seven binades", fill_seven_binades, true, false, false, TB_FP32},
    {"eleven, positive", fill_eleven_positive, false, false, false, TB_FP32},
    {"seven, positive", fill_seven_positive, false, false, false, TB_FP32},
    {"32nd, 8 times", fill_every_32nd_8, false, false, false, TB_FP32},
    {"32nd, 10.6 times", fill_every_32nd_10, false, false, false, TB_FP32},
    {"8th, 13.5 times", fill_every_8th_13, false, false, false, TB_FP32},
    {"4th, 21 times", fill_every_4th_21, false, false, false, TB_FP32},
    {"2nd, 60 times", fill_every_2nd_60, false, false, false, TB_FP32},
    {"32nd, 32 times", fill_every_32nd_32, false, false, false, TB_FP32},
    {"A D, 1/D B", fill_scaled, true, false, false, TB_ELEMENTS},
    {"graded", fill_graded, true, false, false, TB_ELEMENTS},
    {"graded k", fill_graded_k, false, false, true, TB_ELEMENTS},
    {"one huge", fill_one_huge, false, false, false, TB_FP64},
    {"blocks", fill_blocks, false, false, true, TB_ELEMENTS},
    {"floats", fill_floats, true, false, false, TB_FP64},
    {"bytes", fill_bytes, false, false, false, TB_FP64},
    {"cancelling", fill_cancelling, false, false, false, TB_ELEMENTS},
    {"equal along k", fill_equal, false, false, false, TB_ELEMENTS},
    {"huge", fill_huge, false, false, false, TB_ELEMENTS},
    {"near largest", fill_largest, false, false, false, TB_ELEMENTS},
    {"tiny", fill_tiny, false, true, false, TB_ELEMENTS},
    {"near smallest", fill_smallest, false, true, false, TB_ELEMENTS},
    {"subnormal", fill_subnormal, false, true, false, TB_ELEMENTS},
};
const int accuracy_family_count = (int)(sizeof accuracy_families / sizeof *accuracy_families);
