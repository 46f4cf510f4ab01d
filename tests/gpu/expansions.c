/* Operands written out on a device (words/lowered.h), of every element, structure and op, embedded and not, scaled and not, at
 * every alignment, against a plain loop. A number that is not scaled keeps every bit; what is not stored is not read; around the
 * target's columns nothing changes. With --bench: what they reach of the memory's rate, beside a copy; with --small: matrices
 * of which a device has one tile or two, for one that has none.
 */
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/gpu/drawn_operand.h"
#include "tests/gpu/open_device.h"
#include "words/lowered.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 513, BENCHED = 4096, CANARY = 0xa5 };

/* Rows and columns of op(source). */
static const int64_t sizes[][2] = {{1, 1},   {2, 2},    {31, 31},          {33, 33},
                                   {64, 64}, {100, 37}, {LARGEST, LARGEST}};
#define SIZES (int)(sizeof sizes / sizeof *sizes)

/* Where columns begin: all aligned to 16 bytes; the source, or the target, to numbers or less; neither. */
typedef struct alignment {
    int source_shift, target_shift; /* reals before the first number */
    int64_t source_gap, target_gap; /* numbers, and reals, between columns */
    bool even;                      /* columns of these sizes are filled up to 16 bytes */
} alignment;
static const alignment alignments[] = {
    {0, 0, 4, 8, true}, {0, 0, 0, 0, false}, {2, 0, 1, 4, true}, {1, 2, 1, 2, false}, {1, 1, 2, 3, false}};
#define ALIGNMENTS (int)(sizeof alignments / sizeof *alignments)

static const tb_scalar factors[] = {{1, 0}, {0.5, 0}, {0.75, -1.25}};
#define FACTORS (int)(sizeof factors / sizeof *factors)

typedef struct setting {
    tb_stream *stream;
    void *source, *target; /* room on the device */
    check_random random;
    bool is_small; /* the largest matrices are left out */
} setting;

/* Writes what is expected into a copy of the target. */
static void expect(const drawn *source, const tb_expansion *expansion, unsigned char *target)
{
    const tb_element element = source->operand.element;
    const size_t bytes = drawn_part_bytes(element);
    const int64_t parts = tb_is_complex(element) ? 2 : 1, wide = expansion->embedded ? 2 : 1;
    const tb_scalar factor = expansion->factor;
    for (int64_t j = 0; j < expansion->target.columns / wide; j++)
        for (int64_t i = 0; i < expansion->target.rows / parts; i++) {
            bits x = drawn_number(source, i, j);
            if (!tb_is_one(factor)) {
                const double re = drawn_value(x.re, element), im = drawn_value(x.im, element);
                x.re = drawn_part(parts == 2 ? re * factor.re - im * factor.im : re * factor.re, element);
                x.im = drawn_part(re * factor.im + im * factor.re, element);
            }
            const uint64_t block[2][2] = {{x.re, x.im}, {drawn_negative(x.im, element), x.re}};
            for (int64_t column = 0; column < wide; column++)
                for (int64_t part = 0; part < parts; part++)
                    memcpy(target + (size_t)(parts * i + part + (wide * j + column) * expansion->target.ld) *
                                        bytes,
                           &block[column][part], bytes);
        }
}

/* The first number of the target that is not as expected, counted by columns, or -1; numbers near enough are made equal, as the
 * rounding of a sum of two products may differ. */
static int64_t find_difference(const tb_expansion *expansion, unsigned char *found,
                               const unsigned char *expected)
{
    const tb_matrix *target = &expansion->target;
    const size_t bytes = tb_bytes_of(target->element);
    const double error = 8 * tb_element_rows[target->element].roundoff;
    int64_t number = 0;
    for (int64_t column = 0; column < target->columns; column++)
        for (int64_t row = 0; row < target->rows; row++, number++) {
            const size_t at = (size_t)(row + column * target->ld) * bytes;
            uint64_t x = 0, y = 0;
            memcpy(&x, found + at, bytes);
            memcpy(&y, expected + at, bytes);
            if (x == y)
                continue;
            if (tb_is_one(expansion->factor) ||
                !(fabs(drawn_value(x, target->element) - drawn_value(y, target->element)) <= error))
                return number;
            memcpy(found + at, expected + at, bytes);
        }
    return -1;
}

static void describe(const shape *s, const tb_expansion *expansion, int alignment, char *text, size_t length)
{
    static const char *const structures[] = {"general", "symmetric", "Hermitian", "triangular"};
    snprintf(text, length, "%c %s%s%s%s%s%s %lld x %lld at (%lld, %lld), times %g %+gi, alignment %d",
             tb_element_rows[s->element].letter, structures[s->structure],
             s->stored == TB_UPPER ? " upper" : " lower", s->unit_diagonal ? " unit" : "",
             s->transposed ? " transposed" : "", s->conjugated ? " conjugated" : "",
             expansion->embedded ? " embedded" : "", (long long)s->rows, (long long)s->columns,
             (long long)s->row, (long long)s->column, expansion->factor.re, expansion->factor.im, alignment);
}

static void check_target(const setting *setting, const drawn *source, const shape *shape,
                         const tb_expansion *expansion, int alignment, unsigned char *expected, size_t start,
                         size_t bytes)
{
    char text[256];
    unsigned char *found = malloc(bytes);
    describe(shape, expansion, alignment, text, sizeof text);
    const tb_status status = tb_enqueue_expansion(setting->stream, expansion);
    CHECK(status == TB_OK && tb_synchronize(setting->stream) == TB_OK, "%s: status %d", text, (int)status);
    arena_copy(found, (char *)expansion->target.data - start, bytes);
    expect(source, expansion, expected + start);
    const int64_t difference = find_difference(expansion, found + start, expected + start);
    if (CHECK(difference < 0, "%s: row %lld of column %lld is wrong", text,
              (long long)(difference % expansion->target.rows),
              (long long)(difference / expansion->target.rows)))
        CHECK(memcmp(found, expected, bytes) == 0, "%s: bytes beside the target have changed", text);
    free(found);
}

static void expand(setting *setting, const shape *shape, bool embedded, tb_scalar factor, int alignment)
{
    const struct alignment *a = &alignments[alignment];
    const int64_t parts = tb_is_complex(shape->element) ? 2 : 1;
    const size_t bytes = drawn_part_bytes(shape->element);
    const drawn source = draw_operand(shape, setting->source, &setting->random);
    tb_matrix target = {.rows = parts * (shape->transposed ? shape->columns : shape->rows),
                        .columns = (shape->transposed ? shape->rows : shape->columns) * (embedded ? 2 : 1),
                        .element = tb_real_of(shape->element),
                        .data = (char *)setting->target + (size_t)a->target_shift * bytes};
    target.ld = (a->even ? (target.rows + 3) / 4 * 4 : target.rows) + a->target_gap;
    const tb_expansion expansion = {
        .source = source.operand, .target = target, .factor = factor, .embedded = embedded};
    const size_t start = (size_t)a->target_shift * bytes,
                 all = start + (size_t)(target.ld * target.columns + 4) * bytes;
    unsigned char *expected = malloc(all);
    memset(expected, CANARY, all);
    arena_copy(setting->target, expected, all);
    check_target(setting, &source, shape, &expansion, alignment, expected, start, all);
    free(expected);
    free(source.block);
}

/* Expands a matrix where it lies. */
static void expand_in_place(setting *setting, const shape *shape, tb_scalar factor, int alignment)
{
    const drawn source = draw_operand(shape, setting->source, &setting->random);
    tb_expansion expansion = {.source = source.operand, .target = source.operand.matrix, .factor = factor};
    if (tb_is_complex(shape->element))
        expansion.target = tb_real_view(&source.operand.matrix);
    unsigned char *expected = malloc(source.bytes);
    memcpy(expected, source.block, source.bytes);
    check_target(setting, &source, shape, &expansion, alignment, expected, source.start, source.bytes);
    free(expected);
    free(source.block);
}

/* Expands by every way to scale and to embed. */
static void expand_all_ways(setting *setting, shape shape, int alignment)
{
    const bool is_complex = tb_is_complex(shape.element),
               moves = shape.transposed || shape.structure != TB_GENERAL;
    for (int factor = 0; factor < (is_complex ? FACTORS : FACTORS - 1); factor++) {
        shape.any_bits = tb_is_one(factors[factor]);
        for (int embedded = 0; embedded < (is_complex ? 2 : 1); embedded++)
            expand(setting, &shape, embedded, factors[factor], alignment);
        if (!moves)
            expand_in_place(setting, &shape, factors[factor], alignment);
    }
}

static void expand_general(setting *setting, tb_element element, int size, int alignment)
{
    shape shape = {.element = element,
                   .gap = alignments[alignment].source_gap,
                   .shift = alignments[alignment].source_shift};
    for (int op = 0; op < (tb_is_complex(element) ? 4 : 2); op++) {
        shape.transposed = op % 2;
        shape.conjugated = op / 2;
        shape.rows = sizes[size][shape.transposed];
        shape.columns = sizes[size][!shape.transposed];
        if (alignments[alignment].even)
            shape.gap = alignments[alignment].source_gap + (4 - shape.rows % 4) % 4;
        expand_all_ways(setting, shape, alignment);
    }
}

/* Whole ones, and rectangles that the diagonal runs through or not; triangular ones by every op. */
static void expand_structured(setting *setting, tb_element element, tb_structure structure, int size,
                              int alignment)
{
    static const int64_t places[][2] = {{0, 0}, {5, 0}, {2, 33}, {33, 2}};
    const int ops = structure != TB_TRIANGULAR ? 1 : tb_is_complex(element) ? 4 : 2;
    for (int place = 0; place < 4; place++)
        for (int choice = 0; choice < 2 * ops; choice++) {
            shape shape = {.element = element,
                           .structure = structure,
                           .stored = choice % 2 ? TB_UPPER : TB_LOWER,
                           .unit_diagonal = structure == TB_TRIANGULAR && (size + place) % 2,
                           .transposed = choice / 2 % 2,
                           .conjugated = choice / 4,
                           .row = places[place][0],
                           .column = places[place][1],
                           .gap = alignments[alignment].source_gap,
                           .shift = alignments[alignment].source_shift};
            shape.rows = sizes[size][shape.transposed];
            shape.columns = sizes[size][!shape.transposed];
            /* Large ones take their time: at each alignment, one of the places. */
            if ((place == 0 && shape.rows != shape.columns) ||
                (sizes[size][0] == LARGEST && place != alignment % 4))
                continue;
            expand_all_ways(setting, shape, alignment);
        }
}

static void expand_everything(setting *setting, tb_element element)
{
    for (int size = 0; size < SIZES - (setting->is_small ? 1 : 0); size++)
        for (int alignment = 0; alignment < ALIGNMENTS; alignment++) {
            expand_general(setting, element, size, alignment);
            for (tb_structure structure = TB_SYMMETRIC; structure <= TB_TRIANGULAR; structure++)
                if (structure != TB_HERMITIAN || tb_is_complex(element))
                    expand_structured(setting, element, structure, size, alignment);
        }
}

/* ---- What of the memory's rate they reach ---------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Bytes that are read and written, and the rate in GB/s; a copy where there is no expansion. */
static double measure(const setting *setting, const tb_expansion *expansion, const tb_copy *copy,
                      double bytes)
{
    enum { ROUNDS = 50 };
    double begin = 0;
    for (int round = -5; round < ROUNDS; round++) {
        if (round == 0) {
            tb_synchronize(setting->stream);
            begin = seconds_now();
        }
        const tb_status status = expansion ? tb_enqueue_expansion(setting->stream, expansion)
                                           : tb_enqueue_copy(setting->stream, copy);
        CHECK(status == TB_OK, "status %d", (int)status);
    }
    tb_synchronize(setting->stream);
    return bytes * ROUNDS / (seconds_now() - begin) * 1e-9;
}

static void bench(const setting *setting, tb_element element)
{
    typedef struct form {
        const char *name;
        tb_structure structure;
        bool transposed, embedded, in_place;
    } form;
    static const form forms[] = {{"as it lies", TB_GENERAL, false, false, false},
                                 {"in place", TB_GENERAL, false, false, true},
                                 {"transposed", TB_GENERAL, true, false, false},
                                 {"symmetric", TB_SYMMETRIC, false, false, false},
                                 {"Hermitian", TB_HERMITIAN, false, false, false},
                                 {"triangular", TB_TRIANGULAR, false, false, false},
                                 {"embedded", TB_GENERAL, false, true, false},
                                 {"embedded, transposed", TB_GENERAL, true, true, false},
                                 {"embedded, Hermitian", TB_HERMITIAN, false, true, false}};
    const bool is_complex = tb_is_complex(element);
    const size_t bytes = (size_t)BENCHED * BENCHED * tb_bytes_of(element);
    const tb_copy copy = {TB_DEVICE_TO_DEVICE, setting->target, bytes, setting->source, bytes, bytes, 1};
    printf("%c, %d x %d, GB/s read and written\n  %-22s %8.0f\n", tb_element_rows[element].letter, BENCHED,
           BENCHED, "copy", measure(setting, NULL, &copy, 2 * (double)bytes));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *form = &forms[i];
        if (!is_complex && (form->embedded || form->structure == TB_HERMITIAN))
            continue;
        tb_expansion expansion = {.source = {.data = setting->source,
                                             .rows = BENCHED,
                                             .columns = BENCHED,
                                             .ld = BENCHED,
                                             .element = element,
                                             .transposed = form->transposed,
                                             .structure = form->structure,
                                             .stored = form->structure == TB_GENERAL ? TB_FULL : TB_LOWER},
                                  .factor = {1, 0},
                                  .embedded = form->embedded};
        expansion.target = tb_real_view(&expansion.source.matrix);
        if (!is_complex)
            expansion.target = expansion.source.matrix;
        if (!form->in_place)
            expansion.target.data = setting->target;
        if (form->embedded)
            expansion.target.columns *= 2;
        const double moved = tb_stored_bytes(&expansion.source) + (double)tb_matrix_bytes(&expansion.target);
        printf("  %-22s %8.0f\n", form->name, measure(setting, &expansion, NULL, moved));
    }
}

int main(int argc, char **argv)
{
    const bool benches = argc > 1 && strcmp(argv[1], "--bench") == 0;
    tb_device_description description;
    setting setting = {.stream = open_device(&description),
                       .is_small = argc > 1 && strcmp(argv[1], "--small") == 0};
    /* A rectangle begins in row or column 33 at most, and gaps are short. */
    const size_t side = benches ? BENCHED : LARGEST + 50, room = side * side * tb_bytes_of(TB_COMPLEX_FP64);
    setting.source = arena_allocate(TB_MEMORY_DEVICE, room);
    setting.target = arena_allocate(TB_MEMORY_DEVICE, 2 * room);
    setting.random.state = check_seed();
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        if (benches)
            bench(&setting, element);
        else
            expand_everything(&setting, element);
    arena_release(TB_MEMORY_DEVICE, setting.source);
    arena_release(TB_MEMORY_DEVICE, setting.target);
    tb_destroy_stream(setting.stream);
    return check_result();
}
