#include "lib/streaming/others_copies.h"

#include "dispatch/mix.h"
#include "lib/device/platform.h"

#include <string.h>

/* NULL: nobody keeps copies for others, or their fingerprints have another key than this process's. */
static const tb_others_copies *others_at(int device)
{
    const tb_others_copies *others = tb_device_at(device)->others;
    const uint64_t *key = others ? others->fingerprint_key() : NULL;
    return key && tb_fingerprints_are_by(key) ? others : NULL;
}

bool tb_fingerprints_ready_for(int device)
{
    const tb_others_copies *others = tb_device_at(device)->others;
    return tb_fingerprints_ready_by(others ? others->fingerprint_key() : NULL);
}

/* The same in all processes. It only says where to look. */
static uint64_t key_of(const tb_cached_operand *operand, int device)
{
    const tb_matrix *matrix = &operand->operand;
    const tb_copy_layout *layout = &operand->layout;
    const int64_t facts[] = {device,       matrix->rows, matrix->columns, (int64_t)matrix->element,
                             layout->role, layout->ld,   layout->band_m};
    uint64_t hash = 1;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        hash = tb_mix(hash, (uint64_t)facts[i]);
    for (int i = 0; i < TB_SAMPLES_OF_OPERAND; i++)
        hash = tb_mix(tb_mix(hash, operand->samples[i].sums[0]), operand->samples[i].sums[1]);
    return hash != 0 ? hash : 1;
}

/* Smaller ones are sent sooner than they are asked for and compared: of 4 MiB in 0.1 ms less, on an H200; of 64 MiB, copies gain about
 * 0.7 of the 8.2 ms of a process's first product. */
enum { SLOTS_LEAST = 4 };

static bool is_long_enough(const tb_cached_operand *operand, const tb_pipeline *pipeline)
{
    return (size_t)tb_matrix_bytes(&operand->operand) >= SLOTS_LEAST * pipeline->slot_bytes;
}

tb_cached_operand *tb_find_elsewhere(tb_pipeline *pipeline)
{
    tb_operand_cache *cache = &pipeline->operands;
    const tb_others_copies *others = others_at(pipeline->device);
    if (!others || !cache->fresh || !is_long_enough(cache->fresh, pipeline))
        return NULL;
    const uint64_t key = key_of(cache->fresh, pipeline->device);
    if (!others->knows(key)) {
        others->tell(key);
        return NULL;
    }
    if (cache->rest > 0) {
        cache->rest--;
        return NULL;
    }
    return cache->fresh;
}

/* ---- Notes as bytes ---------------------------------------------------------------------------------------
 *
 * A head; of each strip a head, which columns are known, and their fingerprints. Whoever reads them believes no number that
 * memory is reached by.
 */
typedef struct notes_head {
    int64_t rows, columns, ld, band_m;
    uint32_t element, role, strips, unused;
} notes_head;

typedef struct strip_head {
    int64_t first_row, rows;
} strip_head;

static notes_head head_of(const tb_cached_operand *operand)
{
    const tb_matrix *matrix = &operand->operand;
    const tb_copy_layout *layout = &operand->layout;
    return (notes_head){.rows = matrix->rows,
                        .columns = matrix->columns,
                        .ld = layout->ld,
                        .band_m = layout->band_m,
                        .element = matrix->element,
                        .role = layout->role,
                        .strips = operand->notes ? (uint32_t)operand->notes->strip_count : 0};
}

/* Of which columns are known; a whole number of words. */
static size_t known_bytes(const tb_matrix *matrix)
{
    return ((size_t)matrix->columns + 7) / 8 * 8;
}

static size_t prints_bytes(const tb_matrix *matrix, int64_t rows)
{
    return (size_t)matrix->columns * tb_prints_of((size_t)rows * tb_bytes_of(matrix->element)) *
           sizeof(tb_fingerprint);
}

static size_t bytes_of_strip(const tb_matrix *matrix, int64_t rows)
{
    return sizeof(strip_head) + known_bytes(matrix) + prints_bytes(matrix, rows);
}

static size_t bytes_of_notes(const tb_cached_operand *operand)
{
    size_t bytes = sizeof(notes_head);
    for (int i = 0; operand->notes && i < operand->notes->strip_count; i++)
        bytes += bytes_of_strip(&operand->operand, operand->notes->strips[i].rows);
    return bytes;
}

static char *put(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static void write_notes(const tb_cached_operand *operand, char *to)
{
    const tb_matrix *matrix = &operand->operand;
    const notes_head head = head_of(operand);
    to = put(to, &head, sizeof head);
    for (uint32_t i = 0; i < head.strips; i++) {
        const tb_strip *strip = &operand->notes->strips[i];
        const strip_head of_strip = {strip->first_row, strip->rows};
        to = put(to, &of_strip, sizeof of_strip);
        memset(to + matrix->columns, 0, known_bytes(matrix) - (size_t)matrix->columns);
        memcpy(to, strip->known, (size_t)matrix->columns);
        to = put(to + known_bytes(matrix), strip->prints, prints_bytes(matrix, strip->rows));
    }
}

/* The next strip, of so many bytes that are left; answers how many it takes: 0 where it is none. */
static size_t read_strip(tb_cached_operand *operand, const char *from, size_t left)
{
    const tb_matrix *matrix = &operand->operand;
    strip_head head;
    if (left < sizeof head)
        return 0;
    memcpy(&head, from, sizeof head);
    if (head.first_row < 0 || head.rows <= 0 || head.rows > matrix->rows ||
        head.first_row > matrix->rows - head.rows || left < bytes_of_strip(matrix, head.rows))
        return 0;
    tb_strip *strip = tb_find_strip(operand, head.first_row, head.rows, 0, 0);
    if (!strip)
        return 0;
    const char *known = from + sizeof head;
    for (int64_t column = 0; column < matrix->columns; column++)
        strip->known[column] = known[column] == 1;
    memcpy(strip->prints, known + known_bytes(matrix), prints_bytes(matrix, head.rows));
    return bytes_of_strip(matrix, head.rows);
}

static void read_notes(tb_cached_operand *operand, const char *from, size_t bytes)
{
    notes_head head, own = head_of(operand);
    if (bytes < sizeof head)
        return;
    memcpy(&head, from, sizeof head);
    own.strips = head.strips;
    if (memcmp(&head, &own, sizeof head) != 0 || head.strips > TB_STRIPS_MAXIMUM)
        return;
    size_t at = sizeof head, taken = 1;
    for (uint32_t i = 0; i < head.strips && taken > 0; i++, at += taken)
        taken = read_strip(operand, from + at, bytes - at);
}

/* ---- Copies ----------------------------------------------------------------------------------------------- */

static bool has_notes_room(tb_pipeline *pipeline)
{
    tb_buffer *room = &pipeline->notes_room;
    return room->memory ||
           tb_take_buffer(tb_pinned_for(pipeline->device), TB_NOTES_BYTES_MOST, room) == TB_OK;
}

static tb_others_copy copy_in(const tb_pipeline *pipeline, const tb_cached_operand *operand,
                              const tb_buffer *buffer, size_t notes_bytes)
{
    return (tb_others_copy){.key = key_of(operand, pipeline->device),
                            .memory = buffer->memory,
                            .bytes = operand->copy_bytes,
                            .notes = pipeline->notes_room.memory,
                            .notes_bytes = notes_bytes};
}

tb_status tb_fetch_copy(tb_pipeline *pipeline, tb_cached_operand *operand, const tb_buffer *buffer)
{
    const tb_others_copies *others = others_at(pipeline->device);
    if (!others || pipeline->operands.rest > 0 || !is_long_enough(operand, pipeline) ||
        !has_notes_room(pipeline))
        return TB_OK;
    tb_others_copy copy = copy_in(pipeline, operand, buffer, TB_NOTES_BYTES_MOST);
    if (!others->knows(copy.key))
        return TB_OK;
    TB_TRY(others->find(pipeline->load, &copy));
    if (copy.notes_bytes == 0)
        return TB_OK;
    operand->is_others = true;
    operand->rest = 0; /* if its own copy was lost */
    read_notes(operand, copy.notes, copy.notes_bytes);
    return TB_OK;
}

/* Copies that were of other data than their samples, or came in other pieces than this call's: for a while nobody asks for more. */
static void judge_others(tb_operand_cache *cache, const tb_cached_operand *operand)
{
    if (!operand->is_others)
        return;
    if (operand->same == 0 || 2 * operand->same < operand->looked_at)
        cache->rest = tb_rest_after(&cache->disappointments);
    else
        cache->disappointments = 0;
}

/* What has just been loaded whole, or has been seen to stay as it is: what changes a little at every call is not offered at every
 * call. */
static bool is_worth_offering(const tb_cached_operand *operand)
{
    return operand->is_unoffered && (operand->looked_at == 0 || operand->same == operand->looked_at ||
                                     (operand->is_others && operand->is_doubted));
}

void tb_offer_copy(tb_pipeline *pipeline, tb_cached_operand *operand, const tb_buffer *buffer)
{
    const tb_others_copies *others = others_at(pipeline->device);
    judge_others(&pipeline->operands, operand);
    if (!others || !buffer->memory || !is_long_enough(operand, pipeline) || !is_worth_offering(operand))
        return;
    const size_t bytes = bytes_of_notes(operand);
    operand->is_unoffered = false;
    if (bytes > TB_NOTES_BYTES_MOST || !has_notes_room(pipeline))
        return;
    write_notes(operand, pipeline->notes_room.memory);
    const tb_others_copy copy = copy_in(pipeline, operand, buffer, bytes);
    (void)others->keep(pipeline->load, &copy);
}
