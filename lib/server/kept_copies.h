/* Copies of operands that the server keeps on its devices for all clients (docs/streaming.md): they are found by keys, with notes that
 * clients have made and the server does not read. A copy is made of a client's block, and copied into others'; nobody else
 * reaches it. Copies are the server's own memory: they have a share of what clients may have, and go first.
 */
#ifndef TB_KEPT_COPIES_H
#define TB_KEPT_COPIES_H

#include "lib/serving/wire.h"

/* Draws the key of the clients' fingerprints, and tells it in the welcome; where there is none, or the option OPERAND_CACHE is 0, no copies
 * are kept. */
void tb_begin_keeping_copies(tb_welcome *welcome);

/* What clients have of a device, and the most that they may have: 0: all there is. */
typedef struct tb_claimed {
    uint64_t held, most;
} tb_claimed;

/* A client's block that is a copy, or is to become one, and its stream. */
typedef struct tb_copied_block {
    uint64_t key;
    int device;
    tb_stream *stream;
    void *memory;
    uint64_t bytes;
} tb_copied_block;

/* Somebody has an operand with that key. */
void tb_tell_key(uint64_t key);

/* Fills the block in its stream, and the notes where they have room; answers how many bytes these are: 0 where there is no such copy. */
tb_status tb_find_copy(const tb_copied_block *block, void *notes, uint64_t room, uint64_t *notes_bytes);

/* Makes a copy where there is room for one, in place of one with the same key; waits until that is done. The notes, which malloc has made,
 * are handed over. */
tb_status tb_keep_copy(const tb_copied_block *block, const tb_claimed *claimed, void *notes,
                       uint64_t notes_bytes);

/* Memory for a client, for which copies go. */
tb_status tb_allocate_past_copies(int device, uint64_t bytes, const tb_claimed *claimed, void **memory);

/* Gives back those that nobody has found or kept for so long; 0: all. */
void tb_drop_copies(double unused_seconds);

/* Bytes of a device that copies have; and bytes that clients have found, ever. */
uint64_t tb_kept_copies_bytes(int device);
uint64_t tb_found_bytes(void);

/* Writes into a client's wire which keys there are, if they have changed. By one thread at a time for each wire. */
void tb_tell_client_keys(tb_wire *wire);

#endif
