/* Copies of operands that the server keeps: what a block held when it was kept, whatever is written to it later; as many as their share
 * lets be; and the first to go when a client needs memory, while somebody may still be reading them.
 */
#include "lib/device/platform.h"
#include "lib/server/cleaning.h"
#include "lib/server/kept_copies.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10, NOTES = 64 };

/* Of the device; copies have an eighth. */
#define MEMORY ((uint64_t)32 * BLOCK)
enum { COPIES = 4 };

static const tb_claimed nobodys;
static tb_stream *stream;
static char image[BLOCK];

static void *allocate(void)
{
    void *memory = NULL;
    CHECK(tb_allocate(0, BLOCK, &memory) == TB_OK, "no memory for the test");
    return memory;
}

static void fill(void *block, char value)
{
    memset(image, value, BLOCK);
    sim_copy(block, image, BLOCK);
}

static bool holds(const void *block, char value)
{
    sim_copy(image, block, BLOCK);
    for (int i = 0; i < BLOCK; i++)
        if (image[i] != value)
            return false;
    return true;
}

static tb_copied_block block_at(void *memory, uint64_t key)
{
    return (tb_copied_block){.key = key, .stream = stream, .memory = memory, .bytes = BLOCK};
}

static void keep(void *memory, uint64_t key, char value, const tb_claimed *claimed)
{
    const tb_copied_block block = block_at(memory, key);
    char *notes = malloc(NOTES);
    memset(notes, value, NOTES);
    fill(memory, value);
    CHECK(tb_keep_copy(&block, claimed, notes, NOTES) == TB_OK, "keeping fails");
}

/* Whether there is a copy, which then has the value. */
static bool find(void *memory, uint64_t key, char value)
{
    const tb_copied_block block = block_at(memory, key);
    char notes[NOTES];
    uint64_t bytes;
    fill(memory, -1);
    CHECK(tb_find_copy(&block, notes, sizeof notes, &bytes) == TB_OK, "finding fails");
    tb_synchronize(stream);
    if (bytes == 0)
        return false;
    CHECK(bytes == NOTES && notes[0] == value && notes[NOTES - 1] == value, "other notes");
    CHECK(holds(memory, value), "another copy");
    return true;
}

static int copies(void)
{
    return (int)(tb_kept_copies_bytes(0) / BLOCK);
}

static void what_was_kept_is_found(void *own, void *other)
{
    CHECK(!find(other, 1, 0), "a copy that nobody has kept");
    keep(own, 1, 5, &nobodys);
    fill(own, 6);
    CHECK(find(other, 1, 5) && !find(other, 2, 0), "not the one copy that there is");
    keep(own, 1, 7, &nobodys);
    CHECK(find(other, 1, 7) && copies() == 1, "not in the place of the one before");
    tb_copied_block block = block_at(other, 1);
    uint64_t bytes;
    char notes[NOTES];
    tb_find_copy(&block, notes, NOTES - 1, &bytes);
    CHECK(bytes == 0, "notes for which there was no room");
    block.bytes = BLOCK / 2;
    tb_find_copy(&block, notes, NOTES, &bytes);
    CHECK(bytes == 0, "a copy of another size");
    tb_drop_copies(0);
    CHECK(!find(other, 1, 0) && copies() == 0, "a copy that was dropped");
}

/* Those that were used least recently go. */
static void copies_have_a_share(void *own, void *other)
{
    for (uint64_t key = 1; key <= COPIES; key++)
        keep(own, key, (char)key, &nobodys);
    CHECK(copies() == COPIES, "%d copies, not %d", copies(), COPIES);
    CHECK(find(other, 1, 1), "the oldest is gone before there are too many");
    keep(own, COPIES + 1, 9, &nobodys);
    CHECK(copies() == COPIES && find(other, 1, 1) && !find(other, 2, 0) && find(other, COPIES + 1, 9),
          "%d copies, or not the ones that were used last", copies());
    tb_drop_copies(0);
}

/* Of a limit for clients they have an eighth, too, and nothing that clients have. */
static void copies_heed_the_limit(void *own)
{
    const tb_claimed narrow = {.held = 0, .most = 8 * BLOCK},
                     taken = {.held = 15 * BLOCK + 1, .most = 16 * BLOCK}, small = {.most = BLOCK};
    keep(own, 1, 1, &narrow);
    keep(own, 2, 2, &narrow);
    CHECK(copies() == 1, "%d copies in an eighth of eight", copies());
    tb_drop_copies(0);
    keep(own, 1, 1, &taken);
    CHECK(copies() == 0, "a copy in a client's place");
    keep(own, 1, 1, &small);
    CHECK(copies() == 0, "a copy that is larger than the share");
    void *memory;
    keep(own, 1, 1, &nobodys);
    const tb_claimed full = {.held = 7 * BLOCK, .most = 8 * BLOCK};
    CHECK(tb_allocate_past_copies(0, BLOCK, &full, &memory) == TB_OK && copies() == 0,
          "a copy stays above the limit");
    tb_release(0, memory);
}

/* All of the device is to be had, of which copies have a part that is being read. */
static void copies_go_first(void *own, void *other)
{
    void *taken[MEMORY / BLOCK];
    int count = 0;
    char notes[NOTES];
    uint64_t bytes;
    for (uint64_t key = 1; key <= COPIES; key++)
        keep(own, key, (char)key, &nobodys);
    fill(other, -1);
    const tb_copied_block block = block_at(other, COPIES);
    tb_wait_for_cleaning(0);
    sim_set("DELAY", "100000");
    CHECK(tb_find_copy(&block, notes, NOTES, &bytes) == TB_OK && bytes == NOTES, "no copy");
    while (count < (int)(MEMORY / BLOCK) &&
           tb_allocate_past_copies(0, BLOCK, &nobodys, &taken[count]) == TB_OK)
        fill(taken[count++], 99);
    CHECK(copies() == 0 && sim_free_bytes(0) < BLOCK, "%d copies stay, and %zu bytes are free", copies(),
          sim_free_bytes(0));
    tb_synchronize(stream);
    tb_wait_for_cleaning(0);
    sim_set("DELAY", "0");
    CHECK(holds(other, COPIES), "who was reading got something else");
    keep(own, 1, 1, &nobodys);
    CHECK(copies() == 0, "a copy where there is no memory");
    while (count > 0)
        tb_release(0, taken[--count]);
}

/* Not of what is done to memory that was given back. */
static void set_failures(const char *script)
{
    tb_wait_for_cleaning(0);
    tb_wait_for_cleaning(0);
    sim_set("FAIL", script);
}

/* A copy that cannot be made, or read, is none. */
static void what_fails_is_no_copy(void *own, void *other)
{
    static const char *const failures[] = {"allocate:1=memory", "copy:1=memory", "copy:1=unsupported"};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        set_failures(failures[i]);
        keep(own, 1, 1, &nobodys);
        set_failures("");
        CHECK(copies() == 0 && !find(other, 1, 0), "%s: a copy", failures[i]);
    }
    keep(own, 1, 1, &nobodys);
    set_failures("copy:1=memory");
    CHECK(!find(other, 1, 1), "a copy was read although that failed");
    set_failures("");
    CHECK(find(other, 1, 1), "the copy is gone");
    tb_drop_copies(0);
}

static bool wire_has(tb_wire *wire, uint64_t key)
{
    bool has = false;
    tb_tell_client_keys(wire);
    for (int i = 0; i < TB_WIRE_KEYS; i++)
        has = has || atomic_load(&wire->keys[i]) == key;
    return has;
}

/* Keys of copies stay for as long as these, whatever is told meanwhile. */
static void clients_are_told_keys(void *own)
{
    tb_wire *wire = calloc(1, sizeof *wire);
    keep(own, 77, 1, &nobodys);
    CHECK(wire_has(wire, 77) && !wire_has(wire, 78), "not the keys that there are");
    tb_tell_key(78);
    CHECK(wire_has(wire, 78), "not what was told");
    for (uint64_t key = 100; key < 100 + 2 * TB_WIRE_KEYS; key++)
        tb_tell_key(key);
    CHECK(wire_has(wire, 77) && !wire_has(wire, 78) && wire_has(wire, 100 + 2 * TB_WIRE_KEYS - 1),
          "not the latest ones");
    tb_drop_copies(0);
    CHECK(!wire_has(wire, 77), "the key of a copy that was dropped");
    free(wire);
}

/* Whoever reads a copy that goes has read all of it before its memory is another one's. */
static void copies_go_once_they_are_read(void *own, void *other)
{
    enum { ROUNDS = 24 };
    char notes[NOTES];
    uint64_t bytes;
    tb_wait_for_cleaning(0);
    sim_set("DELAY", "10000");
    for (int round = 0; round < ROUNDS; round++) {
        const tb_copied_block block = block_at(other, 1);
        keep(own, 1, (char)(round + 1), &nobodys);
        fill(other, -1);
        CHECK(tb_find_copy(&block, notes, sizeof notes, &bytes) == TB_OK && bytes == NOTES,
              "there is no copy");
        tb_drop_copies(0);
        tb_wait_for_cleaning(0);
        tb_synchronize(stream);
        CHECK(holds(other, (char)(round + 1)), "round %d: what was read is another one's", round);
    }
    sim_set("DELAY", "0");
}

static void processes_have_keys_of_the_servers(void)
{
    static tb_welcome first, second;
    tb_begin_keeping_copies(&first);
    tb_begin_keeping_copies(&second);
    CHECK(first.keeps_copies &&
              memcmp(first.fingerprint_key, second.fingerprint_key, sizeof first.fingerprint_key) != 0,
          "no key of its own");
}

int main(void)
{
    int devices;
    tb_wait_for_cleaning(0);
    sim_set("MEMORY", "2097152");
    if (tb_platform.open(&devices) != TB_OK || tb_device_at(0)->open_device(0) != TB_OK ||
        tb_create_stream(0, &stream) != TB_OK)
        return EXIT_FAILURE;
    void *own = allocate(), *other = allocate();
    what_was_kept_is_found(own, other);
    copies_have_a_share(own, other);
    copies_heed_the_limit(own);
    copies_go_first(own, other);
    what_fails_is_no_copy(own, other);
    copies_go_once_they_are_read(own, other);
    clients_are_told_keys(own);
    processes_have_keys_of_the_servers();
    tb_release(0, own);
    tb_release(0, other);
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    CHECK(sim_get_usage().device_blocks == 0, "%ld blocks stay", sim_get_usage().device_blocks);
    return check_result();
}
