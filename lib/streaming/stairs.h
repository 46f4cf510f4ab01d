/* What of a matrix's rows or columns lies on one side of a triangle's edge: what of C the mask leaves, what
 * is stored of a structured operand.
 */
#ifndef TB_STAIRS_H
#define TB_STAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each row begins, or ends, one element later than the one before. */
typedef struct tb_stairs {
    int64_t step_bytes; /* an element; 0: there are no stairs, and rows are whole */
    int64_t edge_bytes; /* in the first row, from its beginning to the edge; may be negative */
    bool ends;          /* rows end at the edge; else they begin there */
} tb_stairs;

/* In bytes from a row's beginning; of an empty one both are 0. */
typedef struct tb_row_part {
    size_t begin, end;
} tb_row_part;

static inline tb_row_part tb_part_of_row(const tb_stairs *stairs, size_t row_bytes, size_t row)
{
    const int64_t all = (int64_t)row_bytes;
    if (stairs->step_bytes == 0)
        return (tb_row_part){0, row_bytes};
    const int64_t edge = stairs->edge_bytes + (int64_t)row * stairs->step_bytes;
    const int64_t begin = stairs->ends || edge < 0 ? 0 : edge, end = stairs->ends && edge < all ? edge : all;
    return begin < end ? (tb_row_part){(size_t)begin, (size_t)end} : (tb_row_part){0, 0};
}

#endif
