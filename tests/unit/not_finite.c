/* Numbers that are not finite are seen wherever they lie in what is copied, and nothing else is: by rows, along stairs, at every
 * alignment, with and without older numbers in their place. Copies are right meanwhile.
 */
#include "lib/streaming/copy_rows.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { ROWS = 3, PITCH = 100, COUNT = 90, MARGIN = 16 };

typedef struct matrix {
    char bytes[(ROWS * PITCH + 2 * MARGIN) * sizeof(double)] __attribute__((aligned(64)));
} matrix;

static void put(void *where, tb_element element, double number)
{
    const float single = (float)number;
    memcpy(where, element == TB_FP32 ? (const void *)&single : &number, tb_bytes_of(element));
}

static char *at(matrix *matrix, size_t offset, tb_element element, size_t row, size_t column)
{
    return matrix->bytes + offset + (row * PITCH + column) * tb_bytes_of(element);
}

static void fill(matrix *matrix, size_t offset, tb_element element, double number)
{
    for (size_t i = 0; i < ROWS * PITCH; i++)
        put(at(matrix, offset, element, 0, i), element, number);
}

typedef struct setting {
    tb_element element;
    bool past_caches, has_stairs, only_looks;
    size_t target_offset, source_offset;
} setting;

static uint32_t see(const setting *s, matrix *target, matrix *source, bool has_older)
{
    _Atomic(uint32_t) seen = 0;
    const int64_t bytes = (int64_t)tb_bytes_of(s->element);
    const tb_host_copy copy = {
        .target = s->only_looks ? NULL : at(target, s->target_offset, s->element, 0, 0),
        .target_pitch = PITCH * (size_t)bytes,
        .source = at(source, s->source_offset, s->element, 0, 0),
        .source_pitch = PITCH * (size_t)bytes,
        .row_bytes = COUNT * (size_t)bytes,
        .rows = ROWS,
        .past_caches = s->past_caches,
        .stairs = s->has_stairs ? (tb_stairs){.step_bytes = bytes, .edge_bytes = bytes} : (tb_stairs){0},
        .seen = &seen,
        .element = s->element,
        .has_older = has_older,
    };
    tb_copy_rows(&copy, 0, ROWS);
    return atomic_load(&seen);
}

static bool is_copied(const setting *s, size_t row, size_t column)
{
    return column < COUNT && (!s->has_stairs || column > row);
}

/* One number among ordinary ones, the largest of which look most like it. */
static void check_number(const setting *s, double number, uint32_t expected)
{
    static matrix target, source;
    fill(&source, s->source_offset, s->element, s->element == TB_FP32 ? -3.4e38 : 1.7e308);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < PITCH; column++) {
            char *there = at(&source, s->source_offset, s->element, row, column), before[sizeof(double)];
            memcpy(before, there, tb_bytes_of(s->element));
            put(there, s->element, number);
            fill(&target, s->target_offset, s->element, 5);
            const uint32_t seen = see(s, &target, &source, false);
            const bool is_there = is_copied(s, row, column);
            CHECK(seen == (is_there ? expected : 0), "%g at %zu, %zu, element %d, offsets %zu %zu: seen %u",
                  number, row, column, s->element, s->target_offset, s->source_offset, seen);
            const char *copied = at(&target, s->target_offset, s->element, row, column);
            CHECK(s->only_looks || (memcmp(copied, there, tb_bytes_of(s->element)) == 0) == is_there,
                  "%zu, %zu is copied wrongly", row, column);
            memcpy(there, before, tb_bytes_of(s->element));
        }
}

static void numbers_are_seen_wherever_they_lie(void)
{
    for (int i = 0; i < 2 * 2 * 2 * 4; i++) {
        setting s = {.element = i % 2 ? TB_FP64 : TB_FP32,
                     .past_caches = i / 2 % 2,
                     .has_stairs = i / 4 % 2,
                     .target_offset = (size_t)(i / 8) * 20,
                     .source_offset = (size_t)(i / 8 % 2) * 12};
        check_number(&s, INFINITY, TB_SEEN_INFINITY);
        check_number(&s, -NAN, TB_SEEN_NAN);
        s.only_looks = true;
        check_number(&s, -INFINITY, TB_SEEN_INFINITY);
    }
}

/* What is older, and whether what comes in its place is explained by it. */
static void older_numbers_explain_their_own_place(void)
{
    static const struct {
        double older, now;
        uint32_t seen;
    } rows[] = {
        {1, INFINITY, TB_SEEN_INFINITY},
        {1, NAN, TB_SEEN_NAN},
        {INFINITY, INFINITY, 0},
        {-INFINITY, INFINITY, 0},
        {INFINITY, NAN, TB_SEEN_NAN},
        {NAN, NAN, 0},
        {NAN, INFINITY, 0},
        {INFINITY, 1, 0},
    };
    static matrix target, source;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++)
        for (size_t column = 0; column < COUNT; column++) {
            const setting s = {.element = i % 2 ? TB_FP64 : TB_FP32};
            fill(&source, 0, s.element, 2);
            fill(&target, 0, s.element, 3);
            put(at(&source, 0, s.element, 1, column), s.element, rows[i / 2].now);
            put(at(&target, 0, s.element, 1, column), s.element, rows[i / 2].older);
            /* It explains nothing of its neighbours. */
            put(at(&target, 0, s.element, 0, column), s.element, NAN);
            const uint32_t seen = see(&s, &target, &source, true);
            CHECK(seen == rows[i / 2].seen, "%g in place of %g, column %zu: seen %u", rows[i / 2].now,
                  rows[i / 2].older, column, seen);
        }
}

int main(void)
{
    numbers_are_seen_wherever_they_lie();
    older_numbers_explain_their_own_place();
    return check_result();
}
