/* What is known of an operand's copy: columns are, when all of them have been loaded, and until anything is loaded over them. */
#include "lib/streaming/operand_cache.h"
#include "tests/check.h"

enum { ROWS = 128, COLUMNS = 16 };

static float data[ROWS * COLUMNS];
static tb_operand_cache cache;

static const tb_operand matrix = {.data = data, .rows = ROWS, .columns = COLUMNS, .ld = ROWS};
static const tb_copy_layout layout = {.ld = ROWS};

/* It comes again, and its copy is not there yet. */
static tb_cached_operand *begin_call(tb_buffer *buffer)
{
    tb_cached_operand *operand = tb_find_operand(&cache, &matrix, &layout);
    if (operand)
        tb_take_copy(operand, 0, sizeof data, buffer);
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

int main(void)
{
    tb_buffer buffer = {0};
    CHECK(tb_fingerprints_ready(), "there is no key");
    CHECK(!begin_call(&buffer), "it has not come before");
    CHECK(!begin_call(&buffer), "no product has succeeded");
    tb_note_answered(&cache);
    tb_cached_operand *operand = begin_call(&buffer);
    CHECK(operand, "it has come before");
    if (operand) {
        columns_are_known_when_all_are(operand);
        what_is_loaded_over_is_not_known(operand);
        tb_give_operand(operand, &buffer, false);
        CHECK(!operand->notes && operand->name == 0, "what has not arrived is remembered");
    }
    return check_result();
}
