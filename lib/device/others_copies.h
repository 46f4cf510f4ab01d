/* Copies of operands that whoever serves a device keeps for all of its clients, in memory of its own there. They are found by keys, and
 * come with notes: bytes that mean something to clients alone (lib/streaming/others_copies.h). What is answered by TB_OK or not found
 * leaves the device as usable as it was.
 */
#ifndef TB_DEVICE_OTHERS_COPIES_H
#define TB_DEVICE_OTHERS_COPIES_H

#include "words/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pair of words for each pair of the longest piece that fingerprints are taken of, and one more (lib/streaming/fingerprint.h). */
enum { TB_FINGERPRINT_KEY_WORDS = 513 };

/* Notes of more bytes are not kept. */
#define TB_NOTES_BYTES_MOST ((size_t)4 << 20)

typedef struct tb_stream tb_stream;

typedef struct tb_others_copy {
    uint64_t key; /* not 0 */
    void *memory; /* the client's own block on the device: so many bytes of it are the copy, or become it */
    size_t bytes;
    void *notes; /* in pinned memory of the device's table */
    size_t notes_bytes;
} tb_others_copy;

typedef struct tb_others_copies {
    /* The key of all clients' fingerprints, of TB_FINGERPRINT_KEY_WORDS; NULL: no copies are kept. */
    const uint64_t *(*fingerprint_key)(void);
    /* Whether somebody has told of the key, or a copy has it: at once, and perhaps a few milliseconds late. */
    bool (*knows)(uint64_t key);
    void (*tell)(uint64_t key);
    /* Fills the block, in the stream, and the notes, which have room for notes_bytes; then these are what there are, and 0 where there
     * is no such copy. */
    tb_status (*find)(tb_stream *stream, tb_others_copy *copy);
    /* The block may be written to by what is ordered afterwards, in any stream. It is no more than an offer. */
    tb_status (*keep)(tb_stream *stream, const tb_others_copy *copy);
} tb_others_copies;

#endif
