/* What is known of an operand's copy: columns are, when all of them have been loaded, and until anything is loaded over them. */
#include "lib/streaming/operand_cache.h"
#include "tests/check.h"

enum { ROWS = 128, COLUMNS = 16 };

static float data[2 * ROWS * COLUMNS]; /* of the matrix, or of one of doubles */
static tb_operand_cache cache;

static const tb_matrix matrix = {.data = data, .rows = ROWS, .columns = COLUMNS, .ld = ROWS};
static const tb_copy_layout layout = {.ld = ROWS};

/* It comes again, and its copy is not there yet. */
static tb_cached_operand *begin_call(tb_buffer *buffer)
{
    tb_cached_operand *operand = tb_find_operand(&cache, &matrix, &layout);
    if (operand)
        tb_take_copy(operand, 0, sizeof data / 2, buffer);
    return operand;
}

static void columns_are_known_when_all_are(tb_cached_operand *operand)
{
    tb_strip *whole = tb_find_strip(operand, 0, ROWS, 0, COLUMNS);
    CHECK(whole && !tb_know(whole, 0, 4), "known before they were loaded");
    CHECK(tb_know(whole, 0, 4), "not known");
    CHECK(!tb_know(whole, 2, 4), "two that are known make four known");
    CHECK(tb_know(whole, 0, 6), "not known");
    CHECK(!tb_know(whole, 5, 2) && !tb_know(whole, 8, COLUMNS - 8), "known before they were loaded");
}

static void what_is_loaded_over_is_not_known(tb_cached_operand *operand)
{
    tb_strip *whole = tb_find_strip(operand, 0, ROWS, 0, COLUMNS);
    tb_know(whole, 0, COLUMNS);
    tb_strip *half = tb_find_strip(operand, 0, ROWS / 2, 3, 2);
    whole = tb_find_strip(operand, 0, ROWS, 0, 0);
    CHECK(half && half != whole && !tb_know(half, 3, 2), "known before they were loaded");
    CHECK(tb_know(whole, 0, 3) && tb_know(whole, 5, COLUMNS - 5), "columns beside them are not known");
    CHECK(!tb_know(whole, 0, COLUMNS), "what others have loaded over is known");
    tb_forget_columns(whole, 7, 1);
    CHECK(tb_know(whole, 0, 7) && !tb_know(whole, 0, COLUMNS), "what is forgotten is known");
}

/* The second of two strips is loaded over what the first one knows where they have rows in common, and else not. */
static void strips_know_until_they_overlap(tb_cached_operand *operand)
{
    static const struct {
        int64_t first, rows, second, other_rows;
        bool overlap;
    } pairs[] = {{0, 32, 32, 32, false}, {32, 32, 0, 32, false}, {0, 33, 32, 32, true}, {32, 32, 0, 33, true},
                 {40, 8, 36, 16, true},  {36, 16, 40, 8, true},  {64, 8, 64, 9, true},  {64, 9, 64, 8, true},
                 {70, 10, 69, 11, true}, {69, 11, 70, 10, true}, {90, 5, 100, 5, false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tb_know(tb_find_strip(operand, pairs[i].first, pairs[i].rows, 0, COLUMNS), 0, COLUMNS);
        tb_find_strip(operand, pairs[i].second, pairs[i].other_rows, 0, COLUMNS);
        tb_strip *first = tb_find_strip(operand, pairs[i].first, pairs[i].rows, 0, 0);
        CHECK(tb_know(first, 0, COLUMNS) != pairs[i].overlap, "rows %d to %d, %s by rows %d to %d",
              (int)pairs[i].first, (int)(pairs[i].first + pairs[i].rows),
              pairs[i].overlap ? "known although loaded over" : "not known although not loaded over",
              (int)pairs[i].second, (int)(pairs[i].second + pairs[i].other_rows));
    }
}

/* Whether the cache has seen an operand before, in a product that succeeded. */
static bool is_known(const tb_matrix *operand, const tb_copy_layout *of_copy)
{
    tb_operand_cache fresh = {0};
    tb_find_operand(&fresh, &matrix, &layout);
    tb_note_answered(&fresh);
    return tb_find_operand(&fresh, operand, of_copy) != NULL;
}

/* A copy is of one matrix, laid out in one way: what lies at the same address, with the same bytes, may be another. */
static void others_at_the_same_address_are_others(void)
{
    CHECK(is_known(&matrix, &layout), "it has come before");
    static const tb_copy_layout layouts[] = {
        {.role = TB_B, .ld = ROWS}, {.ld = ROWS + 1}, {.ld = ROWS, .band_m = 8}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        CHECK(!is_known(&matrix, &layouts[i]), "layout %zu", i);
#define CHECK_OTHER(field, value)                                                                            \
    do {                                                                                                     \
        tb_matrix changed = matrix;                                                                          \
        changed.field = (value);                                                                             \
        CHECK(!is_known(&changed, &layout), "another " #field);                                              \
    } while (0)
    CHECK_OTHER(element, TB_FP64);
    CHECK_OTHER(element, TB_COMPLEX_FP32);
    CHECK_OTHER(data, data + 1);
    CHECK_OTHER(rows, ROWS - 1);
    CHECK_OTHER(columns, COLUMNS - 1);
    CHECK_OTHER(ld, ROWS - 1);
}

int main(void)
{
    tb_buffer buffer = {0};
    CHECK(tb_fingerprints_ready(), "there is no key");
    others_at_the_same_address_are_others();
    CHECK(!begin_call(&buffer), "it has not come before");
    CHECK(!begin_call(&buffer), "no product has succeeded");
    tb_note_answered(&cache);
    tb_cached_operand *operand = begin_call(&buffer);
    CHECK(operand, "it has come before");
    if (operand) {
        columns_are_known_when_all_are(operand);
        what_is_loaded_over_is_not_known(operand);
        strips_know_until_they_overlap(operand);
        tb_give_operand(operand, &buffer, false);
        CHECK(!operand->notes && operand->name == 0, "what has not arrived is remembered");
    }
    return check_result();
}
