/* Operands in host memory that come again: their copies stay on the device, and what has not changed since is not
 * loaded again, which every call finds out by fingerprints of all that the program's memory holds
 * (docs/streaming.md). A strip is what of an operand's rows is loaded at a time, mostly all of them. Used by one
 * product at a time, as its pipeline is.
 */
#ifndef TB_OPERAND_CACHE_H
#define TB_OPERAND_CACHE_H

#include "lib/streaming/fingerprint.h"
#include "lib/device/memory.h"
#include "words/operand.h"
#include "words/role.h"

#include <stdbool.h>

#define TB_OPERANDS_CACHED    16
#define TB_STRIPS_MAXIMUM     64
#define TB_SAMPLES_OF_OPERAND 8

/* Columns of the operand one behind the other, of which known ones are on the device as the prints say. */
typedef struct tb_strip {
    int64_t first_row, rows;
    size_t prints_a_column;
    tb_fingerprint *prints;
    bool *known;
} tb_strip;

/* What is known of a copy: goes where the copy goes, and is freed with it. */
struct tb_notes {
    tb_strip strips[TB_STRIPS_MAXIMUM];
    int strip_count;
};

/* What distinguishes copies of one matrix: A and B have copies of their own. */
typedef struct tb_copy_layout {
    tb_role role;
    int64_t ld;     /* columns are so many elements apart */
    int64_t band_m; /* rows of a band; 0 where bands have no places of their own */
} tb_copy_layout;

typedef struct tb_cached_operand {
    tb_matrix operand; /* in the program's memory; data is NULL: none */
    tb_copy_layout layout;
    tb_fingerprint samples[TB_SAMPLES_OF_OPERAND];
    unsigned long first_call, last_call;
    uint64_t name;          /* of the buffer that holds the copy; 0: there is none */
    tb_notes *notes;        /* during a call: what is known of the copy; NULL: nothing */
    size_t copy_bytes;      /* that the copy takes */
    double looked_at, same; /* bytes, in this call */
    bool is_others;         /* in this call: the server has given a copy of its own (others_copies.h) */
    bool is_doubted;        /* in this call: that copy is of other data, and is not looked at any more */
    bool is_unoffered;      /* something has been loaded since the server was offered the copy */
    int disappointments;    /* calls in a row in which most had changed, or its copy was gone */
    int rest;               /* so many calls pass before the next attempt */
} tb_cached_operand;

typedef struct tb_operand_cache {
    tb_cached_operand operands[TB_OPERANDS_CACHED];
    unsigned long calls;    /* so many operands were looked for */
    unsigned long answered; /* until the latest product that succeeded */
    /* What was looked for last and not found, as it has not come before, or has changed; NULL: it was found, or rests. */
    tb_cached_operand *fresh;
    int disappointments, rest; /* with others' copies: as a single operand's */
} tb_operand_cache;

/* The operand, if it has come before, in a product that succeeded, and seems to be as it was; else NULL, and it is
 * remembered. */
tb_cached_operand *tb_find_operand(tb_operand_cache *cache, const tb_matrix *operand,
                                   const tb_copy_layout *layout);

/* Calls that pass after one more disappointment. */
int tb_rest_after(int *disappointments);

/* Device memory with its copy, if that still lies there. */
void tb_take_copy(tb_cached_operand *operand, int device, size_t bytes, tb_buffer *buffer);

/* The product of the operands that were looked for last has succeeded. */
static inline void tb_note_answered(tb_operand_cache *cache)
{
    cache->answered = cache->calls;
}

/* All of them: their copies are nowhere any more. */
void tb_forget_operands(tb_operand_cache *cache);

/* After the call. Unless all of the copy has arrived, what is in the buffer is forgotten. */
void tb_give_operand(tb_cached_operand *operand, tb_buffer *buffer, bool arrived);

/* The strip with these rows, of which these columns are about to be loaded; NULL: they cannot be remembered. */
tb_strip *tb_find_strip(tb_cached_operand *operand, int64_t first_row, int64_t rows, int64_t first_column,
                        int64_t columns);

/* Whether some columns are known; from then on they are, as they are being loaded. Where loading fails, all
 * of the copy is forgotten. */
bool tb_know(tb_strip *strip, int64_t first_column, int64_t columns);

/* They are loaded in another way, and nothing is known of them. */
void tb_forget_columns(tb_strip *strip, int64_t first_column, int64_t columns);

/* Prints of a column. */
static inline tb_fingerprint *tb_prints_of_column(const tb_strip *strip, int64_t column)
{
    return strip->prints + (size_t)column * strip->prints_a_column;
}

#endif
