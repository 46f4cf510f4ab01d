/* Copies that another process keeps, from a pretended one: when it is asked and told, what is believed of its notes, whatever they hold,
 * and when the cache does without.
 */
#include "lib/device/platform.h"
#include "lib/streaming/others_copies.h"
#include "tests/check.h"

#include <string.h>

enum { ROWS = 1500, COLUMNS = 16, MUTATIONS = 4000, KEYS = 8 };

static float data[2][ROWS * COLUMNS];
static const tb_copy_layout layout = {.role = TB_A, .ld = ROWS};

/* ---- Who keeps copies ------------------------------------------------------------------------------------- */

static uint64_t fingerprint_key[TB_FINGERPRINT_KEY_WORDS];
static uint64_t keys[KEYS];
static int key_count, asked, offered;
static char notes[1 << 16];
static size_t notes_bytes;

static const uint64_t *the_key(void)
{
    return fingerprint_key;
}

static bool knows(uint64_t key)
{
    for (int i = 0; i < key_count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static void tell(uint64_t key)
{
    CHECK(key_count < KEYS && !knows(key), "too many keys, or one twice");
    keys[key_count++] = key;
}

static tb_status find(tb_stream *stream, tb_others_copy *copy)
{
    (void)stream;
    asked++;
    CHECK(copy->notes_bytes >= notes_bytes && knows(copy->key), "asked without room, or without a reason");
    copy->notes_bytes = notes_bytes;
    memcpy(copy->notes, notes, notes_bytes);
    return TB_OK;
}

static tb_status keep(tb_stream *stream, const tb_others_copy *copy)
{
    (void)stream;
    offered++;
    CHECK(copy->notes_bytes <= sizeof notes && copy->bytes == sizeof data[0], "another copy");
    notes_bytes = copy->notes_bytes;
    memcpy(notes, copy->notes, notes_bytes);
    return TB_OK;
}

static tb_status allocate_pinned(size_t bytes, void **memory)
{
    *memory = malloc(bytes);
    return TB_OK;
}

static void release_pinned(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

static const tb_others_copies others = {the_key, knows, tell, find, keep};
static const tb_device_operations operations = {
    .others = &others, .allocate_pinned = allocate_pinned, .release_pinned = release_pinned};

/* ---- Processes -------------------------------------------------------------------------------------------- */

/* Its block is never touched. */
static tb_pipeline *process;
static tb_buffer block;

static void begin_process(void)
{
    static tb_pipeline processes[2];
    process = process == &processes[0] ? &processes[1] : &processes[0];
    const tb_buffer room = process->notes_room;
    *process = (tb_pipeline){.device = TB_SERVED_FIRST, .notes_room = room};
    block = (tb_buffer){.device = TB_SERVED_FIRST, .bytes = sizeof data[0]};
}

static tb_matrix matrix_of(int which)
{
    return (tb_matrix){.data = data[which], .rows = ROWS, .columns = COLUMNS, .ld = ROWS, .element = TB_FP32};
}

/* Up to where its slots would be filled. */
static tb_cached_operand *begin_call(int which)
{
    const tb_matrix matrix = matrix_of(which);
    tb_cached_operand *operand = tb_find_operand(&process->operands, &matrix, &layout);
    if (!operand)
        operand = tb_find_elsewhere(process);
    block.memory = NULL;
    if (operand)
        tb_take_copy(operand, process->device, sizeof data[0], &block);
    block.memory = data; /* which stands for device memory */
    if (operand && operand->name == 0)
        CHECK(tb_fetch_copy(process, operand, &block) == TB_OK, "fetching fails");
    return operand;
}

/* All that was looked at was the same, or not; if nothing was, all has been loaded. */
static void end_call(tb_cached_operand *operand, double looked_at, double same)
{
    if (operand) {
        operand->looked_at = looked_at;
        operand->same = same;
        operand->is_unoffered = operand->is_unoffered || same < looked_at;
        tb_offer_copy(process, operand, &block);
        tb_buffer none = {0};
        tb_give_operand(operand, &none, false);
    }
    tb_note_answered(&process->operands);
}

/* Fingerprints of two strips, as slots would have them. */
static void load(tb_cached_operand *operand)
{
    for (int half = 0; half < 2; half++) {
        tb_strip *strip = tb_find_strip(operand, half * ROWS / 2, ROWS / 2, 0, COLUMNS);
        tb_know(strip, 0, COLUMNS - half);
        memset(strip->prints, 3 + half, COLUMNS * strip->prints_a_column * sizeof *strip->prints);
    }
    operand->is_unoffered = true;
}

static bool has_what_was_loaded(tb_cached_operand *operand)
{
    bool has = operand->notes && operand->notes->strip_count == 2;
    for (int half = 0; has && half < 2; half++) {
        tb_strip *strip = tb_find_strip(operand, half * ROWS / 2, ROWS / 2, 0, 0);
        const unsigned char *prints = (const void *)strip->prints;
        for (size_t i = 0; i < COLUMNS * strip->prints_a_column * sizeof *strip->prints; i++)
            has = has && prints[i] == 3 + half;
        for (int column = 0; column < COLUMNS; column++)
            has = has && strip->known[column] == (column < COLUMNS - half);
    }
    return has;
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static void the_third_process_finds(void)
{
    begin_process();
    CHECK(!begin_call(0) && key_count == 1 && asked == 0, "what is new is told of, and no more");
    end_call(NULL, 0, 0);
    begin_process();
    tb_cached_operand *operand = begin_call(0);
    CHECK(operand && asked == 1 && !operand->notes, "what was told of is asked for");
    load(operand);
    end_call(operand, 0, 0);
    CHECK(offered == 1, "what has been loaded is not offered");
    begin_process();
    operand = begin_call(0);
    CHECK(operand && has_what_was_loaded(operand), "what was offered is not found");
    end_call(operand, 10, 10);
    CHECK(offered == 1, "what was found is offered again");
    operand = begin_call(0);
    CHECK(operand && has_what_was_loaded(operand) && operand->rest == 0,
          "a copy that was lost is not found again");
    end_call(operand, 10, 10);
    CHECK(!begin_call(1) && key_count == 2, "another operand is found");
}

static void what_changes_is_not_offered_at_every_call(void)
{
    begin_process();
    tb_cached_operand *operand = begin_call(0);
    for (int i = 0; i < 4; i++) {
        operand->looked_at = 10;
        operand->same = 9;
        operand->is_unoffered = true;
        tb_offer_copy(process, operand, &block);
    }
    CHECK(offered == 1, "offered while it changes");
    operand->same = 10;
    tb_offer_copy(process, operand, &block);
    tb_offer_copy(process, operand, &block);
    CHECK(offered == 2, "not offered once when it has come to rest");
    end_call(operand, 10, 10);
}

/* Found copies whose data are others', or whose pieces are of no use: 8 operands are not asked for, then 16, until one is what it should be. */
static void disappointments_are_rested_from(void)
{
    static const int rests[] = {8, 16, 32}, used[] = {10, 0, 10};
    tb_pipeline *first = process;
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        process->operands = (tb_operand_cache){.disappointments = process->operands.disappointments};
        end_call(begin_call(0), used[i], used[i] / 10);
        for (int rest = 0; rest < rests[i]; rest++) {
            process->operands.operands[0] = (tb_cached_operand){0};
            const int before = asked;
            begin_call(0);
            CHECK(asked == before, "asked in the %dth call after disappointment %zu", rest, i);
        }
        CHECK(process == first && process->operands.rest == 0, "it rests for longer");
    }
    process->operands = (tb_operand_cache){.disappointments = process->operands.disappointments};
    end_call(begin_call(0), 10, 10);
    CHECK(process->operands.disappointments == 0, "a copy that was right is no comfort");
}

/* Nothing is reached that is not the operand's: the address sanitizer looks, too. */
static void rubbish_is_no_notes(check_random *random)
{
    static char sound[sizeof notes];
    const size_t sound_bytes = notes_bytes;
    memcpy(sound, notes, sound_bytes);
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(notes, sound, sound_bytes);
        notes_bytes = check_between(random, 0, 3) ? sound_bytes
                                                  : (size_t)check_between(random, 1, (int64_t)sound_bytes);
        for (int64_t changes = check_between(random, 1, 3); changes > 0; changes--) {
            const int64_t most = check_between(random, 0, 1) ? 80 : (int64_t)sound_bytes - 8;
            const uint64_t numbers[] = {0, 1, UINT64_MAX, INT64_MAX, ROWS, ROWS + 1, 1 << 20};
            const uint64_t number = CHECK_PICK(random, numbers);
            memcpy(notes + check_between(random, 0, most), &number, (size_t)check_between(random, 1, 8));
        }
        begin_process();
        tb_cached_operand *operand = begin_call(0);
        for (int s = 0; operand->notes && s < operand->notes->strip_count; s++) {
            const tb_strip *strip = &operand->notes->strips[s];
            CHECK(strip->first_row >= 0 && strip->rows > 0 && strip->first_row + strip->rows <= ROWS,
                  "a strip of rows %ld to %ld", (long)strip->first_row,
                  (long)(strip->first_row + strip->rows));
            for (int column = 0; column < COLUMNS; column++)
                CHECK(strip->known[column] == false || strip->known[column] == true, "neither known nor not");
        }
        end_call(operand, 10, 10);
    }
}

/* Of prints by another key nothing is to be had. */
static void another_key_is_another_server(void)
{
    const int before = asked, keys_before = key_count;
    fingerprint_key[5] ^= 1;
    begin_process();
    CHECK(!begin_call(0) && asked == before && key_count == keys_before, "asked by another key");
    fingerprint_key[5] ^= 1;
}

int main(void)
{
    check_random random = {check_seed()};
    for (int i = 0; i < TB_FINGERPRINT_KEY_WORDS; i++)
        fingerprint_key[i] = check_next(&random);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        data[0][i] = check_uniform(&random);
        data[1][i] = check_uniform(&random);
    }
    tb_served_devices = &operations;
    CHECK(tb_fingerprints_ready_for(TB_SERVED_FIRST) && tb_fingerprints_are_by(fingerprint_key),
          "not the key that was given");
    the_third_process_finds();
    what_changes_is_not_offered_at_every_call();
    disappointments_are_rested_from();
    rubbish_is_no_notes(&random);
    another_key_is_another_server();
    return check_result();
}
