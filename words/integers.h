/* What is done with extents and offsets everywhere. Shared by all folders.
 */
#ifndef TB_INTEGERS_H
#define TB_INTEGERS_H

#include <stdint.h>

static inline int64_t tb_smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static inline int64_t tb_larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* The quotient, rounded up. */
static inline int64_t tb_ceil_div(int64_t dividend, int64_t divisor)
{
    return (dividend + divisor - 1) / divisor;
}

static inline int64_t tb_round_up(int64_t value, int64_t multiple)
{
    return tb_ceil_div(value, multiple) * multiple;
}

#endif
