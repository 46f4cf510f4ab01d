/* Fingerprints tell whether bytes are still what they were, where keeping the bytes would cost as much as
 * they do.
 *
 * NH, of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway, CRYPTO 1999): words of 32 bits, each with a word of
 * a key added, are multiplied in pairs, and the products summed modulo 2^64; twice, the second time with the
 * key two words further on. Two pieces of the same length that differ have the same fingerprint for a share
 * of at most 2^-64 of all keys, whatever they hold; the key is drawn at random in each process, or by the server that it
 * is a client of.
 */
#ifndef TB_FINGERPRINT_H
#define TB_FINGERPRINT_H

#include "lib/device/others_copies.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest piece. */
#define TB_FINGERPRINT_BYTES 4096

typedef struct tb_fingerprint {
    uint64_t sums[2];
} tb_fingerprint;

/* Draws the key, once. False where the system has no random numbers: then there are no fingerprints. */
bool tb_fingerprints_ready(void);

/* The same, but where there is no key yet this one is taken, of TB_FINGERPRINT_KEY_WORDS, which stays where it is; NULL: there is
 * none to be had. */
bool tb_fingerprints_ready_by(const uint64_t *given);

/* Whether it is this one. */
bool tb_fingerprints_are_by(const uint64_t *given);

/* The fingerprint of so many bytes, at most TB_FINGERPRINT_BYTES; aligned in any way. */
tb_fingerprint tb_fingerprint_of(const void *bytes, size_t count);

/* Copies so many bytes, and returns the fingerprint of what it has written. Each is read once: where another
 * thread writes into the source meanwhile, the copy may hold old and new bytes, but its fingerprint is still
 * its own. With past_caches the target is written past the caches where it is aligned to 32 bytes, which no
 * lock orders. */
tb_fingerprint tb_copy_with_fingerprint(void *target, const void *source, size_t count, bool past_caches);

/* The same without instructions that not every processor has. */
tb_fingerprint tb_portable_fingerprint_of(const void *bytes, size_t count);
tb_fingerprint tb_portable_copy_with_fingerprint(void *target, const void *source, size_t count);

/* How many there are of so many bytes: one for every TB_FINGERPRINT_BYTES, and one for what is left. */
static inline size_t tb_prints_of(size_t bytes)
{
    return (bytes + TB_FINGERPRINT_BYTES - 1) / TB_FINGERPRINT_BYTES;
}

static inline bool tb_is_same_fingerprint(tb_fingerprint x, tb_fingerprint y)
{
    return ((x.sums[0] ^ y.sums[0]) | (x.sums[1] ^ y.sums[1])) == 0;
}

#endif
