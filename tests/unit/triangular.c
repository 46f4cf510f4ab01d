/* Triangular products, as plain ones, and solves, by halves, on a device that stands in host memory: small triangles, products,
 * operands that are written out, and what is mended are computed there as they are launched, so that the result tells whether
 * each came in its turn, exactly once. What must not be read is NaN. All code is loaded before anything is launched.
 */
#include "kernels/catalog.h"
#include "dispatch/plan.h"
#include "dispatch/schedule.h"
#include "kernels/expand/expand.h"
#include "kernels/launch.h"
#include "kernels/triangular/mend.h"
#include "kernels/triangular/triangular.h"
#include "sequences/sequence.h"
#include "tests/in_place.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 24, ENTRIES = 64 };

/* ---- The device ------------------------------------------------------------------------------------------- */

static tb_entry *loaded[ENTRIES];
static int loaded_count, launches, loads_until_failure, mended, cut;
static bool in_one_launch; /* the row's way, which loads nothing before */

static bool is_loaded(const tb_entry *entry)
{
    for (int i = 0; i < loaded_count; i++)
        if (loaded[i] == entry)
            return true;
    return false;
}

static tb_status load(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher;
    if (loads_until_failure-- == 0)
        return TB_OUT_OF_MEMORY;
    if (!is_loaded(entry) && loaded_count < ENTRIES)
        loaded[loaded_count++] = entry;
    return TB_OK;
}

/* An element of L; its diagonal of ones is not read. */
static number factor(tb_element element, const tb_triangular_block *x, int64_t i, int64_t j)
{
    if (i == j && x->unit_diagonal)
        return 1;
    const number a = get(element, x->a, i * x->row_step + j * x->column_step);
    return x->conjugated ? conjl(a) : a;
}

/* A column of C, seen from L. */
static void compute_column(tb_element element, const tb_triangular_block *x, bool solves, int64_t column)
{
    const number alpha = tb_is_complex(element) ? CMPLXL(x->alpha_re, x->alpha_im) : x->alpha_re;
    for (int64_t step = 0; step < x->order; step++) {
        const int64_t i = solves ? step : x->order - 1 - step;
        const int64_t own = i * x->c_row_step + column * x->c_column_step;
        number sum = solves ? alpha * get(element, x->c, own) : 0;
        for (int64_t j = 0; j < i; j++) {
            const number term =
                factor(element, x, i, j) * get(element, x->c, j * x->c_row_step + column * x->c_column_step);
            sum += solves ? -term : term;
        }
        const number diagonal = factor(element, x, i, i);
        set(element, x->c, own, solves ? sum / diagonal : alpha * (sum + diagonal * get(element, x->c, own)));
    }
}

static tb_element element_of_symbol(const char *symbol)
{
    tb_element element = TB_FP32;
    while (tb_element_rows[element].letter != symbol[0] - 'a' + 'A')
        element++;
    return element;
}

static void compute_triangle(tb_element element, bool solves, const tb_triangular_block *x)
{
    CHECK(in_one_launch || x->order <= TB_TRIANGULAR_ROWS(tb_bytes_of(element)) *
                                           TB_TRIANGULAR_PANELS_SOLVED * TB_TRIANGULAR_LARGEST,
          "a small triangle of %lld", (long long)x->order);
    for (int64_t column = 0; column < x->columns; column++)
        compute_column(element, x, solves, column);
}

#define COMPUTE_PRODUCT(element, p)                                                                          \
    for (int64_t j = 0; j < (p)->n; j++)                                                                     \
        for (int64_t i = 0; i < (p)->m; i++) {                                                               \
            double sum = 0;                                                                                  \
            for (int64_t l = 0; l < (p)->k; l++)                                                             \
                sum += (double)(p)->a[(p)->transpose_a ? l + i * (p)->lda : i + l * (p)->lda] *              \
                       (double)(p)->b[(p)->transpose_b ? j + l * (p)->ldb : l + j * (p)->ldb];               \
            const double old = (p)->beta == 0 ? 0 : (double)(p)->beta * (double)(p)->c[i + j * (p)->ldc];    \
            set(element, (p)->c, i + j * (p)->ldc, (double)(p)->alpha * sum + old);                          \
        }

/* A bit for each column of the tile, or row, that has a number which is not finite. */
static uint32_t note_of(tb_element element, const tb_expand *x, int64_t row, int64_t column)
{
    uint32_t note = 0;
    for (int64_t j = column; j < x->columns && j < column + TB_EXPAND_TILE; j++)
        for (int64_t i = row; i < x->rows && i < row + TB_EXPAND_TILE; i++)
            if (!is_finite(get(element, x->source, i + j * x->source_ld)))
                note |= 1u << (x->notes_rows ? i - row : j - column);
    return note;
}

static void compute_expansion(tb_element element, const tb_expand *x)
{
    uint32_t *notes = x->notes;
    for (int64_t column = 0; notes && column < x->columns; column += TB_EXPAND_TILE)
        for (int64_t row = 0; row < x->rows; row += TB_EXPAND_TILE)
            *notes++ = note_of(element, x, row, column);
    CHECK(!notes || (!x->transposed && x->structure == TB_GENERAL), "notes of what is not C");
    const bool is_complex = tb_is_complex(element);
    const int64_t tall = is_complex ? 2 : 1, wide = x->embedded ? 2 : 1;
    const tb_expansion expansion = {
        .source = {.data = (void *)x->source,
                   .rows = x->transposed ? x->columns : x->rows,
                   .columns = x->transposed ? x->rows : x->columns,
                   .ld = x->source_ld,
                   .element = element,
                   .transposed = x->transposed,
                   .conjugated = x->conjugated,
                   .structure = (tb_structure)x->structure,
                   .stored = (tb_triangle)x->stored,
                   .diagonal = x->diagonal,
                   .unit_diagonal = x->unit_diagonal},
        .target = {.data = x->target,
                   .rows = tall * x->rows,
                   .columns = wide * x->columns,
                   .ld = x->target_ld,
                   .element = tb_real_of(element)},
        .factor = {x->re, x->im},
        .embedded = x->embedded,
    };
    sim_expand(&expansion, expansion.target.columns);
}

/* Columns of C of which a note tells: their copy is put back, and multiplied where it lies. */
static void compute_mending(tb_element element, const tb_mend *mend)
{
    const tb_mend_matrix *l = &mend->l, *c = &mend->c, *copy = &mend->copy;
    const tb_triangular_block x = {
        .order = mend->order,
        .a = l->first,
        .row_step = l->row_step,
        .column_step = l->column_step,
        .c = c->first,
        .c_row_step = c->row_step,
        .c_column_step = c->column_step,
        .alpha_re = mend->alpha_re,
        .alpha_im = mend->alpha_im,
        .conjugated = mend->conjugated,
        .unit_diagonal = mend->unit_diagonal,
    };
    for (int64_t column = 0; column < mend->groups * TB_MEND_COLUMNS; column++) {
        uint32_t noted = 0;
        for (int64_t note = 0; note < mend->notes_of_columns; note++)
            noted |= mend->notes[column / TB_MEND_COLUMNS * mend->group_step + note * mend->note_step];
        if ((noted >> column % TB_MEND_COLUMNS & 1) == 0)
            continue;
        for (int64_t i = 0; i < mend->order; i++)
            set(element, c->first, i * c->row_step + column * c->column_step,
                get(element, copy->first, i * copy->row_step + column * copy->column_step));
        compute_column(element, &x, false, column);
        mended++;
    }
}

static tb_status launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                        int shared_bytes, const void *argument)
{
    (void)blocks, (void)threads;
    launches++;
    CHECK(in_one_launch || is_loaded(entry), "%s is not loaded", entry->symbol);
    CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%s: %d bytes of shared memory", entry->symbol,
          shared_bytes);
    if (launcher->target.architecture >= 75) /* other rows' launches, which are not computed */
        return TB_OK;
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        for (int vector = 0; vector < 2; vector++)
            if (entry == &tb_entries_expand[element][vector])
                return compute_expansion(element, argument), TB_OK;
    if (strstr(entry->symbol, "_block"))
        compute_triangle(element_of_symbol(entry->symbol), strstr(entry->symbol, "trsm") != NULL, argument);
    else if (strstr(entry->symbol, "_mend"))
        compute_mending(element_of_symbol(entry->symbol), argument);
    else if (strncmp(entry->symbol, "naive_", 6) == 0)
        COMPUTE_PRODUCT(TB_FP32, (const tb_sgemm *)argument)
    else if (strncmp(entry->symbol, "dgemm_naive_", 12) == 0)
        COMPUTE_PRODUCT(TB_FP64, (const tb_dgemm *)argument)
    else
        CHECK(false, "%s is launched", entry->symbol);
    return TB_OK;
}

static tb_status launch_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                                 int threads, int shared_bytes, const void *argument)
{
    (void)cluster;
    return launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

/* The linker puts these in front of launch functions of rows that compute a sequence's products: each is launched as has been prepared
 * for this very product. Deals have bytes between their fields, which are whatever was there. */
static int wrong_schedules, right_schedules, seen_schedules;

static void look_at_schedule(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                             const tb_schedule *schedule)
{
    const tb_schedule own = tb_prepare(kernel, product, launcher->target);
    const bool is_right = schedule->clocks == own.clocks && schedule->clocks_of_a == own.clocks_of_a &&
                          schedule->workspace == own.workspace;
    right_schedules += is_right;
    wrong_schedules += !is_right;
}

#define LOOK_AT(family)                                                                                      \
    tb_status __real_tb_launch_##family(const tb_launcher *, const tb_kernel *, const tb_product *,          \
                                        const tb_schedule *, void *);                                        \
    tb_status __wrap_tb_launch_##family(const tb_launcher *, const tb_kernel *, const tb_product *,          \
                                        const tb_schedule *, void *);                                        \
    tb_status __wrap_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *product, const tb_schedule *schedule,              \
                                        void *workspace)                                                     \
    {                                                                                                        \
        look_at_schedule(launcher, kernel, product, schedule);                                               \
        return __real_tb_launch_##family(launcher, kernel, product, schedule, workspace);                    \
    }
LOOK_AT(simt)
LOOK_AT(dgemm_mma)
LOOK_AT(bf16x6)
LOOK_AT(split)

/* Before 7.5 no row forecasts, and products are naive, and take so long on a small device that they are cut in pieces. */
static tb_launcher device_of(int architecture)
{
    loaded_count = 0;
    launches = 0;
    loads_until_failure = -1;
    return (tb_launcher){
        .target = {.architecture = architecture, .multiprocessors = architecture < 75 ? 4 : 132},
        .load = load,
        .launch = launch,
        .launch_clusters = launch_clusters};
}

/* What lies across the triangle's extent is cut anywhere, or not. The second part finds what the first one has left in the
 * workspace of a triangle on the left. */
static tb_status run_in_parts(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                              check_random *random)
{
    const bool left = tb_is_triangle_left(product);
    const int64_t across = left ? product->n : product->m, first = check_between(random, 0, across);
    const tb_range ranges[] = {{0, first}, {first, across - first}};
    tb_launcher again = *launcher;
    tb_status status = TB_OK;
    size_t bytes = 1;
    for (int i = 0; i < 2; i++) {
        const tb_product part = left ? tb_columns_of(product, ranges[i]) : tb_rows_of(product, ranges[i]);
        bytes += tb_make_schedule(kernel, &part, launcher->target).workspace;
    }
    void *workspace = aligned_alloc(256, (bytes + 255) / 256 * 256);
    again.same_a = left && first > 0;
    for (int i = 0; i < 2 && status == TB_OK; i++) {
        const tb_product part = left ? tb_columns_of(product, ranges[i]) : tb_rows_of(product, ranges[i]);
        CHECK(part.k == product->k && (left ? part.b.data : part.a.data) == part.c.data &&
                  (left ? part.b.rows : part.a.rows) == 0,
              "a part has an operand of its own beside the triangle");
        const tb_schedule schedule = tb_make_schedule(kernel, &part, launcher->target);
        status = tb_launch_row(i > 0 ? &again : launcher, kernel, &part, &schedule, workspace);
    }
    free(workspace);
    return status;
}

/* ---- What is tested --------------------------------------------------------------------------------------- */

static tb_scalar draw_alpha(tb_element element, check_random *random)
{
    static const tb_scalar alphas[] = {{1, 0}, {1, 0}, {-0.5, 0}, {0, 0}, {0.75, -0.5}};
    const int64_t last = tb_is_complex(element) ? 4 : 3;
    return alphas[check_between(random, 0, last)];
}

/* A large one, or any. */
static tb_product draw_product(const tb_kernel *kernel, bool is_large, check_random *random)
{
    const tb_element element = kernel->element;
    const bool left = check_between(random, 0, 1), lower = check_between(random, 0, 1),
               unit = check_between(random, 0, 1);
    const int64_t order = is_large                      ? check_between(random, 600, 800)
                          : check_between(random, 0, 5) ? check_between(random, 1, 300)
                                                        : check_between(random, 0, 2),
                  most = order > 300   ? 4
                         : order > 100 ? 30
                                       : 3 * TB_EXPAND_TILE,
                  other = check_between(random, order > 300, most);
    const int64_t m = left ? order : other, n = left ? other : order;
    const int64_t lda = order + check_between(random, 0, 3), ldc = m + check_between(random, 0, 3);
    return tb_triangular(kernel->in_place, element, left, lower ? TB_LOWER : TB_UPPER,
                         check_between(random, 0, 1), check_between(random, 0, 1), unit, m, n,
                         draw_alpha(element, random), draw_triangle(element, order, lda, lower, unit, random),
                         lda, draw_c(element, m, n, ldc, random), ldc);
}

static void a_product_is_computed(const tb_kernel *kernel, bool is_large, check_random *random)
{
    const tb_product product = draw_product(kernel, is_large, random), *p = &product;
    const bool is_spoilt = kernel->in_place == TB_MULTIPLIES && check_between(random, 0, 1);
    if (is_spoilt)
        spoil(p, random);
    const size_t bytes = (size_t)p->c.ld * (size_t)p->n * tb_bytes_of(p->c.element);
    const tb_operand *a = tb_triangle_of(p);
    void *before = malloc(bytes + 1);
    memcpy(before, p->c.data, bytes);
    const tb_launcher device = device_of(60);
    /* Zeros take one launch, of code that is loaded with it. */
    if (tb_is_zero(p->alpha))
        for (size_t row = 0; row < tb_catalog_size; row++)
            for (int i = 0;
                 i < 4 && strstr(tb_catalog[row].name, "naive") && !strstr(tb_catalog[row].name, "ladder");
                 i++)
                load(&device, &tb_catalog[row].entries[i]);
    CHECK(run_in_parts(&device, kernel, p, random) == TB_OK, "%s: not launched", kernel->name);
    const double by = miss(p, before, p->c.data).largest / (double)(p->k + 4);
    const bool right_classes = kernel->in_place == TB_SOLVES || has_right_classes(p, before, p->c.data);
    CHECK(by <= 1 && right_classes && gaps_are_untouched(p),
          "%s%s: %lld x %lld, the triangle %s, %s, %c%s%s, alpha %g + %g i: off by %g, classes %s",
          kernel->name, is_spoilt ? ", spoilt" : "", (long long)p->m, (long long)p->n,
          tb_is_triangle_left(p) ? "left" : "right", a->stored == TB_LOWER ? "lower" : "upper",
          a->transposed ? 'T' : 'N', a->conjugated ? ", conjugated" : "", a->unit_diagonal ? ", of ones" : "",
          p->alpha.re, p->alpha.im, by, right_classes ? "right" : "wrong");
    cut += kernel->sequence == TB_TRIANGLE_TIMES && launches > 2 * 4; /* of both parts */
    free(before);
    free(a->data);
    free(p->c.data);
}

static void *const nowhere = (void *)4096;

static tb_product large(const tb_kernel *kernel, int64_t m, int64_t n)
{
    return tb_triangular(kernel->in_place, kernel->element, true, TB_LOWER, false, false, false, m, n,
                         (tb_scalar){1, 0}, (void *)4096, m, (void *)4096, m);
}

/* Launches of a device that has all rows are counted, and none comes before all code is there. */
static void code_is_loaded_first(const tb_kernel *kernel)
{
    static const int64_t orders[] = {64, 1000, 5000};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const tb_product product = large(kernel, orders[i], i % 2 ? 4096 : 64);
        tb_launcher device = device_of(90);
        const tb_schedule schedule = tb_make_schedule(kernel, &product, device.target);
        CHECK(schedule.clocks > 0, "%s: no forecast", kernel->name);
        CHECK(tb_launch_row(&device, kernel, &product, &schedule, nowhere) == TB_OK && launches > 0,
              "%s: not launched", kernel->name);
        const int all = launches, entries = loaded_count;
        for (int n = 0; n < entries; n++) {
            device = device_of(90);
            loads_until_failure = n;
            CHECK(tb_launch_row(&device, kernel, &product, &schedule, nowhere) == TB_OUT_OF_MEMORY &&
                      launches == 0,
                  "%s: %d launches of %d though the %dth entry is not loaded", kernel->name, launches, all,
                  n);
        }
    }
}

/* However finely the task is cut: pieces of one size may differ in k. */
static void schedules_are_of_their_own(const tb_kernel *kernel)
{
    int64_t blocks[TB_BLOCKS_MOST];
    const tb_product product = large(kernel, 5000, 640);
    const int count = tb_blocks_of(kernel->sequence, &product, blocks);
    const int before = right_schedules;
    for (int i = 0; i < count; i++) {
        const tb_launcher device = device_of(90);
        tb_schedule schedule = tb_make_schedule(kernel, &product, device.target);
        tb_sequence_deal deal = *TB_DEAL(&schedule, tb_sequence_deal);
        deal.block = blocks[i];
        TB_SET_DEAL(&schedule, tb_sequence_deal, deal);
        wrong_schedules = 0;
        const tb_status status = tb_launch_row(&device, kernel, &product, &schedule, nowhere);
        CHECK(status == TB_OK && wrong_schedules == 0,
              "%s, block %lld: %d launches by the schedule of another product", kernel->name,
              (long long)blocks[i], wrong_schedules);
    }
    seen_schedules += right_schedules - before;
}

/* A product, or a solve, in C's place is served by rows for just that. */
static void rows_serve_their_kind(const tb_kernel *kernel)
{
    const tb_chip chip = {.architecture = 90, .multiprocessors = 132};
    for (tb_in_place in_place = TB_MULTIPLIES; in_place <= TB_SOLVES; in_place++)
        for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++) {
            const tb_product product =
                tb_triangular(in_place, element, true, TB_LOWER, false, false, false, 100, 50,
                              (tb_scalar){1, 0}, (void *)4096, 100, (void *)4096, 100);
            CHECK(tb_kernel_serves(kernel, &product, &chip, false) ==
                      (kernel->in_place == in_place && kernel->element == element),
                  "%s and %c, in place %d", kernel->name, tb_element_rows[element].letter, (int)in_place);
        }
}

/* Prints for people each row's launches, and what the forecast says and takes. */
static void print_launches(const tb_kernel *kernel)
{
    enum { REPEATS = 100 };
    for (int64_t order = 512; order <= 16384; order *= 2) {
        const tb_product product = large(kernel, order, order);
        const tb_launcher device = device_of(90);
        tb_schedule schedule;
        struct timespec start, middle, end;
        timespec_get(&start, TIME_UTC);
        for (int i = 0; i < REPEATS; i++)
            schedule = tb_make_schedule(kernel, &product, device.target);
        timespec_get(&middle, TIME_UTC);
        for (int i = 0; i < REPEATS; i++)
            tb_launch_row(&device, kernel, &product, &schedule, nowhere);
        timespec_get(&end, TIME_UTC);
        printf("%-20s %5lld: %4d launches, %.2f ms forecast, %zu MiB of workspace, %.0f us to forecast, %.0f "
               "to launch\n",
               kernel->name, (long long)order, launches / REPEATS, schedule.clocks / 1.7e6,
               schedule.workspace >> 20,
               ((double)(middle.tv_sec - start.tv_sec) * 1e9 + (double)(middle.tv_nsec - start.tv_nsec)) *
                   1e-3 / REPEATS,
               ((double)(end.tv_sec - middle.tv_sec) * 1e9 + (double)(end.tv_nsec - middle.tv_nsec)) * 1e-3 /
                   REPEATS);
    }
}

int main(int argc, char **argv)
{
    const bool prints = argc > 1 && strcmp(argv[1], "--launches") == 0,
               is_few = argc > 1 && strcmp(argv[1], "few") == 0;
    check_random random = {.state = check_seed()};
    int kernels = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        rows_serve_their_kind(kernel);
        if (kernel->in_place == TB_OUT_OF_PLACE)
            continue;
        in_one_launch = kernel->sequence == TB_NO_SEQUENCE;
        kernels++;
        if (prints) {
            print_launches(kernel);
            continue;
        }
        for (int i = 0; i < (is_few ? CASES / 4 : CASES); i++)
            a_product_is_computed(kernel, i % 6 == 0, &random);
        if (!in_one_launch) {
            code_is_loaded_first(kernel);
            schedules_are_of_their_own(kernel);
        }
    }
    CHECK(kernels == 20, "%d rows", kernels);
    CHECK(prints || mended > 0, "nothing was mended");
    CHECK(prints || cut > 0, "no product was cut in pieces");
    CHECK(prints || seen_schedules > (is_few ? 25 : 100), "%d schedules were looked at", seen_schedules);
    return check_result();
}
