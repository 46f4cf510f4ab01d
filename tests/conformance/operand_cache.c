/* operand_cache [right] [few]: operands that come again. What has not changed crosses the link no more, and C is right
 * whatever the program has written in between, wherever it did. With `right` only the last is looked at: for devices
 * that fail, or have little memory, and for products that are cut at random. With `few` fewer products are drawn:
 * under sanitizers.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/oracle.h"

#include <string.h>

/* Slots of 128 KiB: operands from 64 KiB on are cached. */
#define PINNED_MIB "1"

enum { RUNS = 3, SHAPES = 12, FEW_SHAPES = 4, ROUNDS = 60, FEW_ROUNDS = 30, CALLS = 4, PRODUCTS = 3 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static check_random generator;
static bool few;

/* A product whose operands stay where they are. Those in memory that devices reach by themselves are copies of p's. */
typedef struct place {
    product p;
    tb_memory memory;
    float *a, *b;
    bool borrows_a; /* of another one, with as many rows and steps of k */
} place;

static int between(int low, int high)
{
    return (int)check_between(&generator, low, high);
}

static float *elements(const matrix *matrix, float *copy)
{
    return copy + matrix->first;
}

static void store(place *place)
{
    arena_copy(place->a, place->p.a.block, place->p.a.bytes);
    arena_copy(place->b, place->p.b.block, place->p.b.bytes);
}

static place make(int m, int n, int k, bool transpose_a, bool transpose_b, float beta, tb_memory memory)
{
    place place = {.memory = memory};
    product *p = &place.p;
    *p = (product){.m = m, .n = n, .k = k, .alpha = 1.5f, .beta = beta};
    p->transpose_a = transpose_a;
    p->transpose_b = transpose_b;
    p->a = transpose_a ? matrix_make(k, m, k + 3, 1) : matrix_make(m, k, m + 3, 1);
    p->b = transpose_b ? matrix_make(n, k, n, 0) : matrix_make(k, n, k, 0);
    p->c = matrix_make(m, n, m + 1, 2);
    matrix_fill(&p->a, MATRIX_UNIFORM, &generator);
    matrix_fill(&p->b, MATRIX_UNIFORM, &generator);
    matrix_fill(&p->c, beta == 0 ? MATRIX_NANS : MATRIX_UNIFORM, &generator);
    place.a = arena_allocate(memory, p->a.bytes);
    place.b = arena_allocate(memory, p->b.bytes);
    store(&place);
    return place;
}

static void borrow_a(place *place, const struct place *owner)
{
    arena_release(place->memory, place->a);
    matrix_free(&place->p.a);
    place->a = owner->a;
    place->p.a = owner->p.a;
    place->borrows_a = true;
}

static void drop(place *place)
{
    if (!place->borrows_a) {
        arena_release(place->memory, place->a);
        matrix_free(&place->p.a);
    }
    arena_release(place->memory, place->b);
    matrix_free(&place->p.b);
    matrix_free(&place->p.c);
}

/* Bytes that went to the device. C is right. */
static double multiply(const place *place, const char *when)
{
    const product *p = &place->p;
    char wrong[256];
    matrix c = matrix_clone(&p->c);
    tileblas_statistics before, after;
    tileblas_read_statistics(&before, sizeof before);
    cblas_sgemm(102, p->transpose_a ? 112 : 111, p->transpose_b ? 112 : 111, (int)p->m, (int)p->n, (int)p->k,
                (float)p->alpha, elements(&p->a, place->a), (int)p->a.ld, elements(&p->b, place->b),
                (int)p->b.ld, (float)p->beta, matrix_elements(&c), (int)c.ld);
    tileblas_read_statistics(&after, sizeof after);
    CHECK(product_holds(p, &c, wrong, sizeof wrong), "%s, m=%ld n=%ld k=%ld: %s", when, (long)p->m,
          (long)p->n, (long)p->k, wrong);
    matrix_free(&c);
    const double old_c = p->beta == 0 ? 0 : 1;
    return after.streamed.link_bytes - before.streamed.link_bytes -
           (1 + old_c) * (double)sizeof(float) * (double)(p->m * p->n);
}

static double bytes_of(const matrix *matrix)
{
    return (double)sizeof(float) * (double)matrix->length * (double)matrix->lines;
}

static double operand_bytes(const place *place)
{
    return bytes_of(&place->p.a) + bytes_of(&place->p.b);
}

static void change(place *place, matrix *matrix, int64_t line, int64_t element)
{
    float *value = matrix_elements(matrix) + line * matrix->ld + element;
    *value = -*value; /* twice, and it is what it was */
    store(place);
}

static void change_anywhere(place *place, matrix *matrix)
{
    change(place, matrix, check_between(&generator, 0, matrix->lines - 1),
           check_between(&generator, 0, matrix->length - 1));
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static void what_has_not_changed_is_not_loaded_again(tb_memory memory)
{
    place place = make(300, 260, 400, false, false, 0, memory);
    const double all = operand_bytes(&place);
    CHECK(multiply(&place, "first") >= all, "the first call loads everything");
    CHECK(multiply(&place, "second") >= all, "the second still does");
    for (int i = 0; i < CALLS; i++)
        CHECK(multiply(&place, "again") == 0, "the operands crossed the link again");
    /* What changes has no sample there: with other samples an operand is another one. */
    change(&place, &place.p.a, 1, 1);
    const double loaded = multiply(&place, "one element of A is another");
    CHECK(loaded > 0 && loaded < bytes_of(&place.p.a), "%g bytes were loaded", loaded);
    change(&place, &place.p.b, 1, 1);
    multiply(&place, "one element of B is another");
    CHECK(multiply(&place, "again") == 0, "what was loaded anew is not remembered");
    drop(&place);
}

static void any_element_counts(void)
{
    place place = make(130, 150, 1200, false, false, 0, TB_MEMORY_HOST);
    for (int i = 0; i < CALLS; i++)
        multiply(&place, "the same");
    matrix *const operands[] = {&place.p.a, &place.p.b};
    for (int i = 0; i < 2; i++) {
        const int64_t last_line = operands[i]->lines - 1, last = operands[i]->length - 1;
        const int64_t places[][2] = {
            {0, 0}, {0, last}, {last_line, 0}, {last_line, last}, {last_line / 2, 3}};
        for (int j = 0; j < 5; j++) {
            change(&place, operands[i], places[j][0], places[j][1]);
            multiply(&place, "one element is another");
        }
    }
    drop(&place);
}

/* Also as integers the same: zeros of either sign, and NaNs. */
static void bits_count(void)
{
    place place = make(200, 200, 200, false, false, 0, TB_MEMORY_HOST);
    float *value = matrix_elements(&place.p.a);
    *value = 0;
    store(&place);
    for (int i = 0; i < CALLS; i++)
        multiply(&place, "zero");
    *value = -0.0f;
    store(&place);
    CHECK(multiply(&place, "minus zero") > 0, "minus zero is not zero");
    drop(&place);
}

static void operands_that_always_change_cost_nothing_more(void)
{
    place place = make(300, 260, 400, false, false, 0, TB_MEMORY_HOST);
    const double all = operand_bytes(&place);
    multiply(&place, "first");
    for (int i = 0; i < 4 * CALLS; i++) {
        matrix_fill(&place.p.a, MATRIX_UNIFORM, &generator);
        matrix_fill(&place.p.b, MATRIX_UNIFORM, &generator);
        store(&place);
        const double loaded = multiply(&place, "all is new");
        CHECK(loaded >= all && loaded < 1.2 * all, "%g bytes of %g", loaded, all);
    }
    drop(&place);
}

/* Several products take turns; between their calls anything happens to their operands. Shapes that are cut in all ways
 * (with cuts.c), of all transposes and both kinds of memory. */
static void whatever_is_written(void)
{
    place places[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++)
        places[i] =
            make(between(130, 400), between(130, 400), between(130, 500), between(0, 1), between(0, 1),
                 between(0, 1) ? -2.0f : 0, between(0, 2) ? TB_MEMORY_HOST : TB_MEMORY_PINNED);
    /* One A, which two products cut in two ways. */
    const product *p = &places[0].p;
    drop(&places[1]);
    places[1] = make((int)p->m, between(130, 400), (int)p->k, p->transpose_a, between(0, 1), (float)p->beta,
                     places[0].memory);
    borrow_a(&places[1], &places[0]);
    for (int round = 0; round < (few ? FEW_ROUNDS : ROUNDS); round++) {
        place *place = &places[between(0, PRODUCTS - 1)];
        matrix *operand = between(0, 1) ? &place->p.a : &place->p.b;
        switch (between(0, 5)) {
        case 0:
            change_anywhere(place, operand);
            break;
        case 1: /* some lines */
            for (int64_t line = check_between(&generator, 0, operand->lines - 1); line < operand->lines;
                 line++)
                matrix_elements(operand)[line * operand->ld] = check_uniform(&generator);
            store(place);
            break;
        case 2:
            matrix_fill(operand, MATRIX_UNIFORM, &generator);
            store(place);
            break;
        case 3: /* all that is kept goes */
            if (between(0, 3) == 0)
                tileblas_set_option("KEEP_SECONDS", between(0, 1) ? "0" : "3600");
            break;
        default:
            break;
        }
        multiply(place, "whatever was written");
    }
    tileblas_set_option("KEEP_SECONDS", "3600");
    for (int i = PRODUCTS - 1; i >= 0; i--)
        drop(&places[i]);
}

/* Two products with one A, which they cut in two ways: what one has loaded over it the other does not take for what it
 * knows, where A is again what it was then. */
static void what_was_once_is_not_what_is(void)
{
    for (int shape = 0; shape < (few ? FEW_SHAPES : SHAPES); shape++) {
        const int m = between(130, 300), k = between(130, 500);
        place one = make(m, between(130, 400), k, shape % 4 > 0, false, 0, TB_MEMORY_HOST),
              other = make(m, between(130, 400), k, shape % 4 > 0, false, 0, TB_MEMORY_HOST);
        borrow_a(&other, &one);
        for (int call = 0; call < 2 * CALLS; call++) {
            const int64_t line = check_between(&generator, 0, one.p.a.lines - 1),
                          element = check_between(&generator, 0, one.p.a.length - 1);
            multiply(&one, "as it was");
            change(&one, &one.p.a, line, element);
            multiply(&other, "one element is another");
            change(&one, &one.p.a, line, element);
        }
        drop(&other);
        drop(&one);
    }
}

static void others_do_not_take_its_place(void)
{
    place kept = make(300, 260, 400, false, false, 0, TB_MEMORY_HOST);
    for (int i = 0; i < CALLS; i++)
        multiply(&kept, "the same");
    place other = make(300, 260, 400, false, false, 0, TB_MEMORY_HOST);
    multiply(&other, "another one");
    CHECK(multiply(&kept, "again") == 0, "another product has taken its place");
    drop(&other);
    drop(&kept);
}

static void it_can_be_switched_off(void)
{
    place place = make(300, 260, 400, false, false, 0, TB_MEMORY_HOST);
    tileblas_set_option("OPERAND_CACHE", "0");
    for (int i = 0; i < CALLS; i++)
        CHECK(multiply(&place, "switched off") >= operand_bytes(&place), "less was loaded");
    tileblas_set_option("OPERAND_CACHE", "1");
    tileblas_set_option("DEVICE_MEMORY", "64");
    for (int i = 0; i < CALLS; i++)
        CHECK(multiply(&place, "with a limit") >= operand_bytes(&place), "less was loaded");
    tileblas_set_option("DEVICE_MEMORY", "0");
    drop(&place);
}

int main(int count, char **arguments)
{
    const bool only_right = count > 1 && strcmp(arguments[1], "right") == 0;
    few = count > 1 && strcmp(arguments[count - 1], "few") == 0;
    if (!arena_has_device())
        SKIP("no device");
    generator.state = check_seed();
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", "3600");
    tileblas_set_option("PINNED_MEMORY", PINNED_MIB);
    for (int i = 0; i < (few ? 1 : RUNS) && only_right; i++)
        whatever_is_written();
    what_was_once_is_not_what_is();
    if (only_right)
        return check_result();
    what_has_not_changed_is_not_loaded_again(TB_MEMORY_HOST);
    what_has_not_changed_is_not_loaded_again(TB_MEMORY_PINNED);
    others_do_not_take_its_place();
    any_element_counts();
    bits_count();
    operands_that_always_change_cost_nothing_more();
    whatever_is_written();
    it_can_be_switched_off();
    return check_result();
}
