/* Rows in host memory that are copied, with their fingerprints taken on the way, or held against these. By one thread.
 */
#ifndef TB_COPY_ROWS_H
#define TB_COPY_ROWS_H

#include "lib/streaming/fingerprint.h"
#include "lib/streaming/not_finite.h"
#include "lib/streaming/stairs.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rows of row_bytes each, pitches apart in bytes; past the caches where that is faster: a target that is
 * larger than they are and not read again soon, or that a device reads next. */
typedef struct tb_host_copy {
    char *target; /* of a comparison: not looked at; NULL: numbers are looked at, and nothing is copied */
    const char *source;
    size_t target_pitch, source_pitch, row_bytes, rows;
    bool past_caches;
    bool finds_pages; /* the target's pages are there, and this process has not found them yet (pages.h) */
    tb_stairs stairs; /* leave out a part of each row */
    /* Fingerprints of the rows as they were copied, tb_prints_of(row_bytes) each; NULL: none are wanted. */
    tb_fingerprint *prints;
    /* What is seen of numbers that are not finite, shifted by so many bits; NULL: nobody looks. Prints are not taken then. */
    _Atomic(uint32_t) *seen;
    int seen_shift;
    tb_element element; /* real, of these numbers */
    bool has_older;     /* what the target holds before is the older number in each one's place */
} tb_host_copy;

/* Copies some of the rows. */
void tb_copy_rows(const tb_host_copy *copy, size_t first, size_t rows);

/* Whether the sources of some of the rows are as the prints say. */
bool tb_rows_are_same(const tb_host_copy *copy, size_t first, size_t rows);

#endif
