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

/* Number of pieces of a given size that cover a length. */
static inline int64_t tb_pieces(int64_t length, int64_t piece)
{
    return (length + piece - 1) / piece;
}

static inline int64_t tb_round_up(int64_t value, int64_t multiple)
{
    return tb_pieces(value, multiple) * multiple;
}

#endif
