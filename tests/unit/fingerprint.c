/* Fingerprints: bytes that are the same have the same one, every bit counts, wherever it is, and so does where it is; copies
 * that are made with a fingerprint are copies, and have it. */
#include "lib/streaming/fingerprint.h"
#include "tests/check.h"

#include <string.h>

enum { LENGTHS = 400, CHANGES = 40 };

static unsigned char bytes[TB_FINGERPRINT_BYTES + 64], copy[TB_FINGERPRINT_BYTES + 64];

static bool is_same(const void *x, const void *y, size_t count)
{
    const tb_fingerprint of_y = tb_fingerprint_of(y, count);
    CHECK(tb_is_same_fingerprint(of_y, tb_portable_fingerprint_of(y, count)), "%zu bytes: another one",
          count);
    return tb_is_same_fingerprint(tb_fingerprint_of(x, count), of_y);
}

static void check_length(check_random *random, size_t count)
{
    unsigned char *x = bytes + check_between(random, 0, 31), *y = copy + check_between(random, 0, 31);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)check_next(random);
    memset(copy, 0xff, sizeof copy); /* what lies behind the bytes does not count */
    memcpy(y, x, count);
    CHECK(is_same(x, y, count), "%zu bytes and their copy differ", count);
    for (int i = 0; i < CHANGES; i++) {
        const size_t at = i == 0   ? 0
                          : i == 1 ? count - 1
                                   : (size_t)check_between(random, 0, (int64_t)count - 1);
        const unsigned char bit = (unsigned char)(1 << check_between(random, 0, 7));
        y[at] ^= bit;
        CHECK(!is_same(x, y, count), "bit %d of byte %zu of %zu does not count", bit, at, count);
        y[at] ^= bit;
    }
    /* Two words that change places. */
    if (count < 8)
        return;
    unsigned char word[4];
    memcpy(word, y, 4);
    memcpy(y, y + count - 4, 4);
    memcpy(y + count - 4, word, 4);
    CHECK(memcmp(x, y, count) == 0 || !is_same(x, y, count), "words of %zu bytes may change places", count);
}

/* Each pair of words has a key of its own, in both sums: the same bytes elsewhere have other sums. */
static void every_place_counts(void)
{
    enum { PAIR = 8, PAIRS = TB_FINGERPRINT_BYTES / PAIR };
    static tb_fingerprint prints[PAIRS];
    static unsigned char zeros[TB_FINGERPRINT_BYTES];
    for (int at = 0; at < PAIRS; at++) {
        memset(zeros + at * PAIR, 0x5a, PAIR);
        prints[at] = tb_fingerprint_of(zeros, sizeof zeros);
        memset(zeros + at * PAIR, 0, PAIR);
        for (int other = 0; other < at; other++)
            CHECK(prints[at].sums[0] != prints[other].sums[0] && prints[at].sums[1] != prints[other].sums[1],
                  "pairs %d and %d have the same key", other, at);
    }
}

static void check_copy(check_random *random, size_t count)
{
    enum { MARGIN = 32, UNTOUCHED = 0xee };
    static unsigned char target[TB_FINGERPRINT_BYTES + 3 * MARGIN];
    const unsigned char *source = bytes + check_between(random, 0, 31);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)check_next(random);
    for (int way = 0; way < 3; way++) {
        /* What goes past the caches is aligned, or not. */
        unsigned char *to = target + MARGIN + (check_next(random) & 1 ? check_between(random, 0, 31) : 0);
        to -= way == 2 ? (uintptr_t)to % MARGIN : 0;
        memset(target, UNTOUCHED, sizeof target);
        const tb_fingerprint print = way == 0 ? tb_portable_copy_with_fingerprint(to, source, count)
                                              : tb_copy_with_fingerprint(to, source, count, way == 2);
        CHECK(memcmp(to, source, count) == 0, "%zu bytes, way %d: not copied", count, way);
        CHECK(tb_is_same_fingerprint(print, tb_fingerprint_of(source, count)),
              "%zu bytes, way %d: another one", count, way);
        for (unsigned char *other = target; other < target + sizeof target; other++)
            CHECK((other >= to && other < to + count) || *other == UNTOUCHED,
                  "%zu bytes, way %d: written beside", count, way);
    }
}

int main(void)
{
    check_random random = {.state = check_seed()};
    CHECK(tb_fingerprints_ready(), "there is no key");
    check_length(&random, 4);
    check_length(&random, TB_FINGERPRINT_BYTES);
    for (int i = 0; i < LENGTHS; i++)
        check_length(&random, (size_t)check_between(&random, 1, TB_FINGERPRINT_BYTES));
    for (int i = 0; i < LENGTHS; i++)
        check_copy(&random, (size_t)check_between(&random, 1, TB_FINGERPRINT_BYTES));
    every_place_counts();
    CHECK(tb_prints_of(1) == 1 && tb_prints_of(TB_FINGERPRINT_BYTES) == 1 &&
              tb_prints_of(TB_FINGERPRINT_BYTES + 1) == 2,
          "pieces");
    return check_result();
}
