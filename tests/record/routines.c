/* Every routine in all its letters, as the library chooses its way; and every row of the catalog with every routine of
 * its precision. Both come from the tables of routines and of rows, so that what is added there is in the record.
 */
#include "record.h"

#include "kernels/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Letters ---------------------------------------------------------------------------------------------------- */

/* Each a string of the letters that a routine knows, "-" where it has none; transposes in pairs. */
typedef struct letters {
    const char *sides, *triangles, *diagonals, *transposes;
} letters;

static letters letters_of(tb_routine routine)
{
    const tb_class_row *class = tb_class_of(routine);
    const bool complex = tb_is_complex(tb_routine_rows[routine].element),
               in_place = class->in_place != TB_OUT_OF_PLACE;
    const char *two = complex ? "NNNTNCTNTTTCCNCTCC" : "NNNTTNTT", *one = complex ? "N-T-C-" : "N-T-",
               *symmetric = class->is_hermitian ? "N-C-" : "N-T-";
    return (letters){.sides = strchr(class->letters, 'S') ? "LR" : "-",
                     .triangles = strchr(class->letters, 'U') ? "LU" : "-",
                     .diagonals = in_place ? "NU" : "-",
                     .transposes = class->is_symmetric ? "N-"
                                   : in_place          ? one
                                   : class->turns_b    ? symmetric
                                                       : two};
}

static size_t ways_of(const letters *letters)
{
    return strlen(letters->sides) * strlen(letters->triangles) * strlen(letters->diagonals) *
           (strlen(letters->transposes) / 2);
}

static char take(const char *letters, size_t *number)
{
    const char letter = letters[*number % strlen(letters)];
    *number /= strlen(letters);
    return letter == '-' ? '\0' : letter;
}

/* The number-th way of all that the letters allow, in the case; the text holds its transposes. */
static void set_letters(record_case *now, const letters *letters, size_t number, char text[3])
{
    now->side = take(letters->sides, &number);
    now->triangle = take(letters->triangles, &number);
    now->diagonal = take(letters->diagonals, &number);
    const char *pair = &letters->transposes[2 * (number % (strlen(letters->transposes) / 2))];
    snprintf(text, 3, "%c%.1s", pair[0], pair[1] == '-' ? "" : &pair[1]);
    now->transposes = text;
}

/* ---- Cases ------------------------------------------------------------------------------------------------------ */

static const char *const streams[] = {"streamed", "resident"};
static const char *const places[] = {"HHH", "DDD"};

/* Scalars, spelling and padding go round, each with a period of its own. */
static void run(record_case now, tb_routine routine, size_t way, size_t index)
{
    static const double alphas[] = {1, -1.25, 0.75, -1, 2}, betas[] = {0, 1, -0.5, 0, 1.5, -1, 0};
    const letters letters = letters_of(routine);
    char transposes[3];
    now.routine = routine;
    set_letters(&now, &letters, way, transposes);
    now.alpha = alphas[index % COUNT(alphas)];
    now.beta = betas[index % COUNT(betas)];
    if (tb_is_complex(tb_routine_rows[routine].element)) {
        now.alpha_im = index % 4 < 2 ? now.alpha / 2 : 0;
        now.beta_im = index % 8 < 2 ? now.beta / 2 : 0; /* the host's, where matrices lie there */
    }
    now.spelling = "cfr"[index % 3];
    record_run(&now);
}

static record_case with_extents(record_case now, int m, int n, int k, bool simulated)
{
    const int times = simulated ? 1 : 4;
    now.m = times * m + (m % 2 != 0 && !simulated);
    now.n = times * n + (n % 2 != 0 && !simulated);
    now.k = times * k + (k % 2 != 0 && !simulated);
    return now;
}

/* The text is what there is no case of. */
static void refuse_gaps(int gaps, const char *text)
{
    if (gaps == 0)
        return;
    fprintf(stderr, "record: no line of a device's with%s\n", text);
    exit(EXIT_FAILURE);
}

static void add_name(char *text, size_t size, const char *name)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, " %s", name);
}

void record_routines(bool simulated)
{
    char missing[2048] = "";
    int gaps = 0;
    size_t index = 0;
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        const letters letters = letters_of(routine);
        for (size_t way = 0; way < ways_of(&letters); way++)
            for (size_t i = 0; i < COUNT(streams); i++, index++) {
                const record_case now = {
                    .route = streams[i], .places = places[i], .pad = (int)index % 4, .skew = index % 5 == 4};
                run(with_extents(now, 61, 75, 40, simulated), routine, way, index);
                if (way % 4 == i)
                    run(with_extents((record_case){.route = streams[i], .places = places[i]}, 128, 96, 160,
                                     simulated),
                        routine, way, index);
            }
        if (!record_has_routine(routine) && ++gaps)
            add_name(missing, sizeof missing, tb_routine_rows[routine].name);
    }
    refuse_gaps(gaps, missing);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Answers as far as the tables tell; what a row refuses all the same is the library's own choice, or the host's. */
static bool may_serve(const tb_kernel *row, tb_routine routine)
{
    const tb_class_row *class = tb_class_of(routine);
    const tb_element element = tb_routine_rows[routine].element, real = tb_real_of(element);
    return (row->element == element || row->element == real) && row->in_place == class->in_place &&
           (row->masks || !class->updates) && (row->batches || !class->is_batch);
}

void record_rows(bool simulated)
{
    char missing[2048] = "";
    int gaps = 0;
    size_t index = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
            const letters letters = letters_of(routine);
            for (size_t i = 0; may_serve(&tb_catalog[row], routine) && i < COUNT(streams); i++, index++) {
                record_case now = {.kernel = tb_catalog[row].name, .route = streams[i], .places = places[i]};
                now = with_extents(now, 64, 96, 80, simulated);
                if (tb_catalog[row].k_limit > 0 && now.k > tb_catalog[row].k_limit)
                    now.k = (int)tb_catalog[row].k_limit;
                run(now, routine, index % ways_of(&letters), index);
            }
        }
        if (!record_has_row(row) && ++gaps)
            add_name(missing, sizeof missing, tb_catalog[row].name);
    }
    refuse_gaps(gaps, missing);
}
