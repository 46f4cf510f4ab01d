/* GEQRF's panels on the host (block.h), by the real launch function: a block, a cluster, and a grid whose blocks run at a time. Reflectors,
 * R and T are the reference's but for roundings (geqrf_reference.h), whatever the columns' scales are and whichever are zero; numbers that
 * are none, or infinite, are seen in their column and all later ones, and in no earlier one. All else keeps its bits.
 */
#include "kernels/panels/geqrf.h"
#include "kernels/panels/launch_geqrf.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/geqrf_reference.h"
#include "tests/emulated/guarded.h"
#include "words/routine.h"

enum { MOST = TB_GEQRF_COLUMNS, ARCHITECTURE = 90 };

static tb_status run_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                              int threads, int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol))
        emulated_run(kernel, blocks, cluster, threads, shared_bytes, argument);
    return TB_OK;
}

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

/* Blocks wait for each other. */
static tb_status run_together(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                              int shared_bytes, const void *argument)
{
    return run_clusters(launcher, entry, blocks, (int)blocks, threads, shared_bytes, argument);
}

/* ---- Panels ------------------------------------------------------------------------------------------------- */

typedef enum kind {
    ANY,          /* numbers */
    TINY,         /* below the smallest normal number */
    LARGE,        /* whose squares overflow */
    ANY_SCALES,   /* some columns are tiny, some large */
    TINY_BELOW,   /* but for the first row, the numbers' squares are 0 */
    SMALL_WHOLE,  /* -1, 0 and 1 */
    EMPTY_COLUMN, /* the first but one and the last */
    ALL_ZERO,
    TRIANGLE, /* nothing is below the diagonal */
    ALIKE,    /* all columns are the same */
    NONE,     /* one number is none */
    INFINITE, /* one is infinite */
    KINDS
} kind;

typedef struct panel {
    tb_matrix a;
    tb_geqrf_shape shape;
    kind kind;
    int64_t steps, odd_row, odd_column;
    memory in_a, in_v, in_t, in_tau;
    void *before;
    bool wants_v;
    int64_t ld_of_v, ld_of_t;
    char what[160];
} panel;

static bool is_double(const panel *x)
{
    return tb_real_of(x->a.element) == TB_FP64;
}

static int parts_of(const panel *x)
{
    return tb_is_complex(x->a.element) ? 2 : 1;
}

static size_t bytes_between(const panel *x, int64_t rows, int64_t columns, int64_t ld)
{
    return (size_t)(ld * (columns - 1) + rows) * tb_bytes_of(x->a.element);
}

static void put_part(const panel *x, int64_t row, int64_t column, int part, double value)
{
    if (is_double(x))
        ((double *)tb_at(&x->a, row, column))[part] = value;
    else
        ((float *)tb_at(&x->a, row, column))[part] = (float)value;
}

static double draw(const panel *x, int64_t row, int64_t column, check_random *random)
{
    const double any = (double)check_uniform(random), tiny = is_double(x) ? 0x1p-1030 : 0x1p-130,
                 large = is_double(x) ? 0x1p1010 : 0x1p115;
    switch (x->kind) {
    case TINY:
        return any * tiny;
    case LARGE:
        return any * large;
    case ANY_SCALES:
        return any * (column % 3 == 0 ? tiny : column % 3 == 1 ? large : 1);
    case TINY_BELOW:
        return row == 0 ? any : any * (is_double(x) ? 0x1p-900 : 0x1p-120);
    case SMALL_WHOLE:
        return (double)check_between(random, -1, 1);
    case EMPTY_COLUMN:
        return column == 1 || column == x->a.columns - 1 ? 0 : any;
    case ALL_ZERO:
        return 0;
    case TRIANGLE:
        return row <= column ? any : 0;
    case NONE:
    case INFINITE:
        return row != x->odd_row || column != x->odd_column ? any
               : x->kind == NONE                            ? (double)NAN
                                                            : (double)-INFINITY;
    default:
        return any;
    }
}

static void fill(panel *x, check_random *random)
{
    for (int64_t j = 0; j < x->a.columns; j++)
        for (int64_t i = 0; i < x->a.rows; i++)
            for (int part = 0; part < parts_of(x); part++)
                put_part(x, i, j, part, draw(x, i, j, random));
    for (int64_t j = 1; j < x->a.columns && x->kind == ALIKE; j++)
        memcpy(tb_at(&x->a, 0, j), tb_at(&x->a, 0, 0), (size_t)x->a.rows * tb_bytes_of(x->a.element));
}

static void make(panel *x, tb_element element, int64_t rows, int64_t columns, check_random *random)
{
    static const char *const kinds[KINDS] = {"any numbers", "tiny",        "large",        "any scales",
                                             "tiny below",  "small whole", "empty column", "zero",
                                             "triangle",    "alike",       "none",         "infinite"};
    static const char *const elements[TB_ELEMENTS] = {
        [TB_FP32] = "s", [TB_FP64] = "d", [TB_COMPLEX_FP32] = "c", [TB_COMPLEX_FP64] = "z"};
    x->a = (tb_matrix){
        .rows = rows, .columns = columns, .ld = rows + check_between(random, 0, 3), .element = element};
    x->steps = rows < columns ? rows : columns;
    x->ld_of_v = rows + check_between(random, 0, 2);
    x->ld_of_t = x->steps + check_between(random, 0, 2);
    x->wants_v = check_between(random, 0, 2) != 0;
    x->odd_row = check_between(random, 0, rows - 1);
    x->odd_column = check_between(random, 0, columns - 1);
    x->in_a = guarded(bytes_between(x, rows, columns, x->a.ld));
    x->in_v = guarded(bytes_between(x, rows, x->steps, x->ld_of_v));
    x->in_t = guarded(bytes_between(x, x->steps, x->steps, x->ld_of_t));
    x->in_tau = guarded((size_t)x->steps * tb_bytes_of(element));
    x->a.data = x->in_a.start;
    fill(x, random);
    x->before = malloc(bytes_between(x, rows, columns, x->a.ld));
    memcpy(x->before, x->a.data, bytes_between(x, rows, columns, x->a.ld));
    snprintf(x->what, sizeof x->what, "%s, %lld x %lld, ld %lld, %d blocks of form %d, %s", elements[element],
             (long long)rows, (long long)columns, (long long)x->a.ld, x->shape.blocks, (int)x->shape.form,
             kinds[x->kind]);
}

static void drop(panel *x)
{
    release(&x->in_a);
    release(&x->in_v);
    release(&x->in_t);
    release(&x->in_tau);
    free(x->before);
}

static void factor(const panel *x)
{
    const tb_launcher launcher = {.target = {.architecture = ARCHITECTURE, .multiprocessors = 132},
                                  .launch = run,
                                  .launch_clusters = run_clusters,
                                  .launch_together = run_together};
    const tb_geqrf_results results = {.tau = x->in_tau.start,
                                      .t = x->in_t.start,
                                      .ld_of_t = x->ld_of_t,
                                      .v = x->wants_v ? x->in_v.start : NULL,
                                      .ld_of_v = x->ld_of_v};
    char *const workspace = calloc(1, tb_geqrf_workspace(x->a.element) + 16);
    CHECK(tb_launch_geqrf(&launcher, x->shape, &x->a, &results, workspace) == TB_OK, "%s: not launched",
          x->what);
    for (int i = 0; i < TB_GEQRF_FLAG_BYTES; i++)
        CHECK(workspace[i] == 0, "%s: flags stay set", x->what);
    free(workspace);
}

/* ---- What has to hold --------------------------------------------------------------------------------------- */

/* Between columns all bytes are 0xff. */
static void check_between_columns(const panel *x, const memory *in, int64_t rows, int64_t columns, int64_t ld,
                                  const char *name)
{
    const int64_t bytes = (int64_t)tb_bytes_of(x->a.element);
    bool good = true;
    for (int64_t j = 0; j + 1 < columns; j++)
        for (int64_t at = (rows + j * ld) * bytes; at < (j + 1) * ld * bytes; at++)
            good = good && in->start[at] == (char)0xff;
    CHECK(good, "%s: written between columns of %s", x->what, name);
}

static bool is_finite(wide a)
{
    return isfinite(a.re) && isfinite(a.im);
}

/* From the column on that has the odd number nothing is right, but what is above it in columns that are none of its. */
static void check_odd(const panel *x, const factored *factored)
{
    for (int64_t j = x->odd_column; j < x->a.columns; j++) {
        bool seen = false;
        for (int64_t i = 0; i < x->a.rows; i++)
            seen = seen || !is_finite(wide_at(factored->a, i, j));
        CHECK(seen || (j > x->odd_column && x->odd_column >= x->steps),
              "%s: not seen in column %lld, of (%lld, %lld)", x->what, (long long)j, (long long)x->odd_row,
              (long long)x->odd_column);
    }
}

static void check(const panel *x)
{
    const tb_element element = x->a.element;
    const factored factored = {.rows = x->a.rows,
                               .columns = x->a.columns,
                               .before = {element, x->before, x->a.ld},
                               .a = {element, x->a.data, x->a.ld},
                               .tau = {element, x->in_tau.start, 1},
                               .t = {element, x->in_t.start, x->ld_of_t},
                               .v = {element, x->wants_v ? x->in_v.start : NULL, x->ld_of_v},
                               .terms = 8 * (x->shape.rows_of_block / TB_GEQRF_ROWS_OF_LAYER + 1)};
    const bool has_odd = x->kind == NONE || x->kind == INFINITE;
    const finding found = check_factored(&factored, has_odd ? x->odd_column : x->a.columns);
    CHECK(found.worst <= 1, "%s: %s at (%lld, %lld) is off by %Lg of what is allowed", x->what, found.what,
          (long long)found.row, (long long)found.column, found.worst);
    if (has_odd)
        check_odd(x, &factored);
    check_between_columns(x, &x->in_a, x->a.rows, x->a.columns, x->a.ld, "the panel");
    check_between_columns(x, &x->in_t, x->steps, x->steps, x->ld_of_t, "T");
    check_between_columns(x, &x->in_v, x->wants_v ? x->a.rows : 0, x->steps, x->ld_of_v, "V");
}

static void try_panel(tb_element element, tb_geqrf_shape shape, int64_t rows, int64_t columns, kind kind,
                      check_random *random)
{
    panel x = {.shape = shape, .kind = kind};
    make(&x, element, rows, columns, random);
    emulated_seed(check_next(random));
    factor(&x);
    check(&x);
    drop(&x);
}

/* Of so many kinds, from any one on. */
static void try_form(tb_element element, tb_geqrf_form form, int blocks, int64_t rows, int kinds,
                     check_random *random)
{
    static const int64_t widths[] = {1, 5, 31, MOST};
    const tb_geqrf_shape shape = tb_shape_geqrf(form, element, ARCHITECTURE, rows, blocks);
    const int64_t first = check_between(random, 0, KINDS - 1);
    for (int i = 0; i < kinds; i++)
        try_panel(element, shape, rows, CHECK_PICK(random, widths), (kind)((first + i) % KINDS), random);
    try_panel(element, shape, rows, MOST, ANY, random);
}

/* Of any sizes, in any form. */
static void try_sizes(tb_element element, check_random *random)
{
    enum { PANELS = 30 };
    for (int i = 0; i < PANELS; i++) {
        const int64_t rows = check_between(random, 1, 300), columns = check_between(random, 1, MOST);
        const tb_geqrf_form form = (tb_geqrf_form)check_between(random, TB_GEQRF_ALONE, TB_GEQRF_GRID);
        const int blocks = form != TB_GEQRF_ALONE ? 1 << check_between(random, 1, 2) : 1;
        const tb_geqrf_shape shape = tb_shape_geqrf(form, element, ARCHITECTURE, rows, blocks);
        if (shape.form != TB_GEQRF_NONE)
            try_panel(element, shape, rows, columns, (kind)check_between(random, 0, KINDS - 1), random);
    }
}

/* As many rows as there is room for. */
static void the_largest(tb_element element, tb_geqrf_form form, int blocks, check_random *random)
{
    const int64_t most = tb_geqrf_rows_on_chip(form, element, ARCHITECTURE, blocks);
    const tb_geqrf_shape whole = tb_shape_geqrf(form, element, ARCHITECTURE, most, blocks),
                         beyond = tb_shape_geqrf(form, element, ARCHITECTURE, most + 1, blocks);
    CHECK(whole.on_chip && beyond.form == TB_GEQRF_NONE,
          "there is room for other numbers of rows than there is");
    try_panel(element, whole, most, MOST, ANY, random);
}

/* With layers in shared memory and in that of the panel. */
static void a_large_grid(tb_element element, check_random *random)
{
    const int64_t most = tb_geqrf_rows_on_chip(TB_GEQRF_GRID, element, ARCHITECTURE, 1);
    const tb_geqrf_shape whole = tb_shape_geqrf(TB_GEQRF_GRID, element, ARCHITECTURE, most, 1),
                         beyond = tb_shape_geqrf(TB_GEQRF_GRID, element, ARCHITECTURE, most + 333, 1);
    CHECK(whole.on_chip && !beyond.on_chip, "there is room for other numbers of rows than there is");
    try_panel(element, whole, most, MOST, ANY, random);
    try_panel(element, beyond, most + 333, MOST - 1, ANY_SCALES, random);
    try_panel(element, beyond, most + 333, MOST, TINY_BELOW, random);
}

static void try_element(tb_element element, check_random *random)
{
    static const int64_t rows[] = {1, 2, 20, 32, 33};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_form(element, TB_GEQRF_ALONE, 1, rows[i], KINDS, random);
    try_form(element, TB_GEQRF_ALONE, 1, 256, 2, random);
    try_sizes(element, random);
    try_form(element, TB_GEQRF_CLUSTER, 2, 3, 2, random); /* some blocks have no rows */
    try_form(element, TB_GEQRF_CLUSTER, 16, 500, 1, random);
    try_form(element, TB_GEQRF_GRID, 5, 700, 1, random);
    the_largest(element, TB_GEQRF_ALONE, 1, random);
    the_largest(element, TB_GEQRF_CLUSTER, 2, random);
    a_large_grid(element, random);
}

static void the_choice(void)
{
    static const tb_clusters wide = {.wide_at_a_time = 8};
    const tb_target h200 = {.architecture = 90, .multiprocessors = 132, .clusters = &wide},
                    narrow = {.architecture = 90, .multiprocessors = 132},
                    a100 = {.architecture = 80, .multiprocessors = 108};
    CHECK(tb_choose_geqrf(h200, TB_FP64, 256).form == TB_GEQRF_ALONE, "a few rows are not one block's");
    const tb_geqrf_shape some = tb_choose_geqrf(h200, TB_FP64, 1000),
                         most = tb_choose_geqrf(h200, TB_FP64, 8192);
    CHECK(some.form == TB_GEQRF_CLUSTER && some.blocks == 4, "1000 rows are %d blocks'", some.blocks);
    CHECK(most.form == TB_GEQRF_CLUSTER && most.blocks == 16, "8192 rows are %d blocks'", most.blocks);
    CHECK(tb_choose_geqrf(h200, TB_FP64, 12289).form == TB_GEQRF_GRID, "a cluster has room for 12289 rows");
    CHECK(tb_choose_geqrf(narrow, TB_FP64, 8192).form == TB_GEQRF_GRID, "8 blocks have room for 8192 rows");
    CHECK(tb_choose_geqrf(h200, TB_COMPLEX_FP64, 1000000).form == TB_GEQRF_GRID, "a grid has no room");
    CHECK(tb_choose_geqrf(a100, TB_FP64, 1000).form == TB_GEQRF_GRID, "there are clusters before 9.0");
}

int main(void)
{
    check_random random = {check_seed()};
    the_choice();
    for (int element = 0; element < TB_ELEMENTS; element++)
        try_element((tb_element)element, &random);
    return check_result();
}
