#include "lib/streaming/operand_cache.h"

#include "words/integers.h"
#include "lib/machine/machine.h"
#include "lib/process/leaving.h"

#include <string.h>

/* A sample's size: enough to tell data from other data, little enough to cost a microsecond. */
#define SAMPLE_BYTES 1024

/* After the first disappointment so many calls pass before the next attempt, then twice as many, and so on. */
#define REST_CALLS   8
#define DOUBLED_MOST 6

static void forget_strip(tb_notes *notes, int index)
{
    tb_strip *strip = &notes->strips[index];
    tb_unmake(strip->prints);
    tb_unmake(strip->known);
    *strip = notes->strips[--notes->strip_count];
}

static void drop_notes(tb_notes *notes)
{
    while (notes && notes->strip_count > 0)
        forget_strip(notes, 0);
    tb_unmake(notes);
}

/* Its memory is anybody's from now on. */
static void forget_copy(tb_cached_operand *operand)
{
    drop_notes(operand->notes);
    operand->notes = NULL;
    tb_forget_buffer_name(operand->name);
    operand->name = 0;
}

void tb_forget_operands(tb_operand_cache *cache)
{
    for (int i = 0; i < TB_OPERANDS_CACHED; i++)
        forget_copy(&cache->operands[i]);
}

/* ---- Finding ---------------------------------------------------------------------------------------------- */

/* Spread over rows and columns. */
static tb_fingerprint sample(const tb_matrix *operand, int number)
{
    const int64_t column = (2 * number + 1) * operand->columns / (2 * TB_SAMPLES_OF_OPERAND);
    const int64_t row = (5 * number + 3) % TB_SAMPLES_OF_OPERAND * operand->rows / TB_SAMPLES_OF_OPERAND;
    const size_t left = (size_t)(operand->rows - row) * tb_bytes_of(operand->element);
    return tb_fingerprint_of(tb_at(operand, row, column), left < SAMPLE_BYTES ? left : SAMPLE_BYTES);
}

/* Takes samples anew; whether all are as they were. */
static bool samples_hold(tb_cached_operand *operand)
{
    bool hold = true;
    for (int i = 0; i < TB_SAMPLES_OF_OPERAND; i++) {
        const tb_fingerprint now = sample(&operand->operand, i);
        hold = hold && tb_is_same_fingerprint(now, operand->samples[i]);
        operand->samples[i] = now;
    }
    return hold;
}

static bool is_that(const tb_cached_operand *cached, const tb_matrix *operand, const tb_copy_layout *layout)
{
    const tb_matrix *o = &cached->operand;
    const tb_copy_layout *l = &cached->layout;
    return o->data == operand->data && o->rows == operand->rows && o->columns == operand->columns &&
           o->ld == operand->ld && o->element == operand->element && l->role == layout->role &&
           l->ld == layout->ld && l->band_m == layout->band_m;
}

/* In place of what was used least recently. */
static void remember(tb_operand_cache *cache, const tb_matrix *operand, const tb_copy_layout *layout)
{
    tb_cached_operand *oldest = cache->operands;
    for (int i = 1; i < TB_OPERANDS_CACHED; i++)
        if (cache->operands[i].last_call < oldest->last_call)
            oldest = &cache->operands[i];
    forget_copy(oldest);
    *oldest = (tb_cached_operand){
        .operand = *operand, .layout = *layout, .first_call = cache->calls, .last_call = cache->calls};
    samples_hold(oldest);
    cache->fresh = oldest;
}

tb_cached_operand *tb_find_operand(tb_operand_cache *cache, const tb_matrix *operand,
                                   const tb_copy_layout *layout)
{
    cache->calls++;
    cache->fresh = NULL;
    for (int i = 0; i < TB_OPERANDS_CACHED; i++) {
        tb_cached_operand *cached = &cache->operands[i];
        if (!is_that(cached, operand, layout))
            continue;
        cached->last_call = cache->calls;
        cached->looked_at = cached->same = 0;
        cached->is_others = cached->is_doubted = false;
        if (cached->first_call > cache->answered)
            return NULL;
        if (cached->rest > 0) {
            cached->rest--;
            return NULL;
        }
        if (samples_hold(cached))
            return cached;
        forget_copy(cached);
        cache->fresh = cached;
        return NULL;
    }
    remember(cache, operand, layout);
    return NULL;
}

/* ---- The copy --------------------------------------------------------------------------------------------- */

int tb_rest_after(int *disappointments)
{
    const int rest = REST_CALLS << tb_smaller(*disappointments, DOUBLED_MOST);
    ++*disappointments;
    return rest;
}

static void rest_a_while(tb_cached_operand *operand)
{
    operand->rest = tb_rest_after(&operand->disappointments);
}

/* Takes the copy, with what is known of it, if it is still there. If others have taken its memory, the operand
 * rests: its next copy would only be lost again. */
void tb_take_copy(tb_cached_operand *operand, int device, size_t bytes, tb_buffer *buffer)
{
    operand->copy_bytes = bytes;
    if (tb_take_buffer_named(operand->name, buffer, &operand->notes) && buffer->device == device &&
        buffer->bytes >= bytes)
        return;
    if (operand->name != 0)
        rest_a_while(operand);
    tb_give_buffer(buffer);
    forget_copy(operand);
}

void tb_give_operand(tb_cached_operand *operand, tb_buffer *buffer, bool arrived)
{
    const bool was_there = operand->looked_at > 0 && !operand->is_others,
               disappoints = was_there && 2 * operand->same < operand->looked_at;
    if (arrived && !disappoints) {
        if (was_there)
            operand->disappointments = 0;
        const tb_device_description *device = tb_machine_device(buffer->device);
        operand->name =
            tb_give_buffer_named(buffer, device ? device->memory_bytes : 0, operand->notes, drop_notes);
        operand->notes = NULL;
        return;
    }
    if (arrived)
        rest_a_while(operand);
    tb_give_buffer(buffer);
    forget_copy(operand);
}

/* ---- Strips ----------------------------------------------------------------------------------------------- */

static bool knows_any(const tb_cached_operand *operand, const tb_strip *strip)
{
    return memchr(strip->known, true, (size_t)operand->operand.columns);
}

static void make_room(tb_cached_operand *operand)
{
    tb_notes *notes = operand->notes;
    for (int i = notes->strip_count - 1; i >= 0 && notes->strip_count == TB_STRIPS_MAXIMUM; i--)
        if (!knows_any(operand, &notes->strips[i]))
            forget_strip(notes, i);
}

static tb_strip *add_strip(tb_cached_operand *operand, int64_t first_row, int64_t rows)
{
    tb_notes *notes = operand->notes;
    make_room(operand);
    if (notes->strip_count == TB_STRIPS_MAXIMUM)
        return NULL;
    const size_t columns = (size_t)operand->operand.columns,
                 of_column = tb_prints_of((size_t)rows * tb_bytes_of(operand->operand.element));
    tb_strip strip = {.first_row = first_row, .rows = rows, .prints_a_column = of_column};
    strip.prints = tb_make(columns * of_column * sizeof *strip.prints);
    strip.known = tb_make(columns * sizeof *strip.known);
    if (!strip.prints || !strip.known) {
        tb_unmake(strip.prints);
        tb_unmake(strip.known);
        return NULL;
    }
    notes->strips[notes->strip_count] = strip;
    return &notes->strips[notes->strip_count++];
}

/* Other strips forget what they know of these rows and columns, which are about to be overwritten on the device. */
tb_strip *tb_find_strip(tb_cached_operand *operand, int64_t first_row, int64_t rows, int64_t first_column,
                        int64_t columns)
{
    tb_strip *found = NULL;
    if (!operand->notes)
        operand->notes = tb_make(sizeof *operand->notes);
    if (!operand->notes)
        return NULL;
    for (int i = 0; i < operand->notes->strip_count; i++) {
        tb_strip *strip = &operand->notes->strips[i];
        if (strip->first_row == first_row && strip->rows == rows)
            found = strip;
        else if (strip->first_row < first_row + rows && first_row < strip->first_row + strip->rows)
            tb_forget_columns(strip, first_column, columns);
    }
    return found ? found : add_strip(operand, first_row, rows);
}

bool tb_know(tb_strip *strip, int64_t first_column, int64_t columns)
{
    bool *known = strip->known + first_column;
    const bool all = !memchr(known, false, (size_t)columns);
    memset(known, true, (size_t)columns);
    return all;
}

void tb_forget_columns(tb_strip *strip, int64_t first_column, int64_t columns)
{
    memset(strip->known + first_column, false, (size_t)columns);
}
