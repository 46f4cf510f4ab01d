/* How dgemm_crt is launched: whatever the shape, rectangles cover C once, launches come in their order, and the
 * workspace holds all that they write, each in a place of its own; and what is left of A is where the next launch looks for it.
 */
#include "kernels/catalog.h"
#include "kernels/crt/crt.h"
#include "kernels/dgemm.h"
#include "tests/check.h"
#include "tests/unit/products.h"
#include "words/lowered.h"

#include <string.h>

enum { SHAPES = 400, LAUNCHES_MAXIMUM = 4096 };

static const char *symbols[LAUNCHES_MAXIMUM];
static tb_crt_arguments arguments[LAUNCHES_MAXIMUM];
static int64_t blocks[LAUNCHES_MAXIMUM];
static int launches;
static const int32_t *unless; /* of the native launch */

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

/* Stands in for a device: keeps what the launches were given. */
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t block_count, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher, (void)threads, (void)shared_bytes;
    CHECK(launches < LAUNCHES_MAXIMUM, "too many launches");
    if (launches == LAUNCHES_MAXIMUM)
        return TB_OK;
    if (strstr(entry->symbol, "_crt_"))
        memcpy(&arguments[launches], argument, sizeof arguments[launches]);
    else
        unless = ((const tb_dgemm *)argument)->unless; /* with which all arguments of native rows begin */
    symbols[launches] = entry->symbol;
    blocks[launches++] = block_count;
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t block_count, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    CHECK(block_count % cluster == 0, "%lld blocks in clusters of %d", (long long)block_count, cluster);
    return note_launch(launcher, entry, block_count, threads, shared_bytes, argument);
}

static tb_launcher launcher_for(int architecture)
{
    return (tb_launcher){.target = {.architecture = architecture, .multiprocessors = 132},
                         .load = note_nothing,
                         .launch = note_launch,
                         .launch_clusters = note_clusters};
}

static bool is(int launch, const char *end)
{
    const char *symbol = launch < launches ? symbols[launch] : "";
    const size_t length = strlen(symbol), end_length = strlen(end);
    return strstr(symbol, "_crt_") && length > end_length && strcmp(symbol + length - end_length, end) == 0;
}

/* ---- The workspace ------------------------------------------------------------------------------------------ */

typedef struct region {
    const char *name, *begin, *end;
} region;

static region region_of(const char *name, const void *begin, size_t bytes)
{
    return (region){name, begin, (const char *)begin + bytes};
}

static size_t census_bytes(const tb_crt_arguments *all, int64_t rows)
{
    const size_t blocks_k = (size_t)((all->problem.k + all->survey_k - 1) / all->survey_k);
    return (size_t)rows * blocks_k * sizeof(tb_crt_census);
}

static void regions_are_apart(const region *regions, int count, const char *memory, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        CHECK(regions[i].begin >= memory && regions[i].end <= memory + bytes, "%s is outside",
              regions[i].name);
        for (int j = 0; j < i; j++)
            CHECK(regions[i].end <= regions[j].begin || regions[j].end <= regions[i].begin, "%s overlaps %s",
                  regions[i].name, regions[j].name);
    }
}

/* first: of the survey; launch: of a rectangle. */
static void workspace_holds_it(const tb_crt_arguments *first, const tb_crt_arguments *launch,
                               const char *memory, size_t bytes)
{
    const int64_t parts = first->parts, m = first->problem.m / parts, n = first->problem.n,
                  most = first->moduli_most * (parts > 1 ? TB_CRT_SETS : 1);
    const size_t of_b = first->same ? 0 : (size_t)n; /* where B is A, what is made of it is A's */
    const region regions[] = {
        region_of("the decision", first->decision, sizeof *first->decision),
        region_of("A's records", first->a.records, (size_t)m * sizeof *first->a.records),
        region_of("B's records", first->b.records, of_b * sizeof *first->b.records),
        region_of("A's quanta", first->a.quantum, (size_t)m * sizeof *first->a.quantum),
        region_of("B's quanta", first->b.quantum, of_b * sizeof *first->b.quantum),
        region_of("A's census", first->a.census, census_bytes(first, m)),
        region_of("B's census", first->b.census, census_bytes(first, (int64_t)of_b)),
        region_of("A's residues", launch->a.residues, (size_t)(most * launch->a.plane)),
        region_of("B's residues", launch->b.residues, first->same ? 0 : (size_t)(most * launch->b.plane)),
        region_of("C's residues", launch->residues_c,
                  (size_t)(first->moduli_most * launch->tiles * launch->cluster * parts * TB_CRT_TILE_M *
                           (launch->cluster > 1 ? TB_CRT_SM90_TILE_N : TB_CRT_MMA_TILE_N))),
    };
    regions_are_apart(regions, (int)(sizeof regions / sizeof *regions), memory, bytes);
    CHECK(launch->a.plane == (int64_t)launch->a.panels * launch->a.panel * launch->stages * TB_CRT_STAGE_K &&
              (int64_t)launch->a.panels * launch->a.panel * parts >= launch->problem.m &&
              (int64_t)launch->b.panels * launch->b.panel >= launch->problem.n &&
              launch->a.panel == launch->cluster * TB_CRT_TILE_M && launch->a.panel == launch->b.panel,
          "planes of %d and %d panels", launch->a.panels, launch->b.panels);
}

/* ---- Launches ----------------------------------------------------------------------------------------------- */

/* Rectangles, each of residues that are made or have been, their products, and what they are joined to. */
static int rectangles_cover_c(const tb_product *product, int at, const char *memory, size_t bytes)
{
    const tb_crt_arguments *first = &arguments[0];
    const double *c = product->c.data;
    double elements = 0;
    int64_t row_of_a = -1, column_of_b = -1; /* where begins what the residues are of */
    while (at < launches && strstr(symbols[at], "_crt_")) {
        const bool makes = is(at, first->parts > 1 ? "_residues_of_pairs" : "_residues");
        at += makes;
        const tb_crt_arguments *now = &arguments[makes ? at - 1 : at];
        CHECK(is(at, first->parts > 1 ? "_multiply_pairs" : "_multiply") && is(at + 1, "_join"),
              "launch %d is %s", at, symbols[at]);
        const tb_dgemm *part = &now->problem;
        elements += (double)part->m * (double)part->n;
        CHECK(now->tiles == now->tiles_m * now->tiles_n &&
                  (int64_t)now->tiles_m * now->cluster * TB_CRT_TILE_M * now->parts >= part->m &&
                  now->tiles_m <= now->a.panels && now->tiles_n <= now->b.panels,
              "%d x %d tiles", now->tiles_m, now->tiles_n);
        const int64_t offset = part->c - c, row = offset % product->c.ld, column = offset / product->c.ld;
        CHECK(offset >= 0 && row + part->m <= product->m && column + part->n <= product->n,
              "a rectangle at %lld, %lld", (long long)row, (long long)column);
        CHECK(now->a.quantum == first->a.quantum + row / now->parts &&
                  now->b.quantum == first->b.quantum + column,
              "quanta of other rows");
        if (now->pieces_a > 0)
            row_of_a = row;
        if (now->pieces_b > 0 || now->same)
            column_of_b = column;
        CHECK(row_of_a == row && column_of_b == column, "residues of A from row %lld, of B from column %lld",
              (long long)row_of_a, (long long)column_of_b);
        workspace_holds_it(first, now, memory, bytes);
        at += 2;
    }
    CHECK(elements == (double)product->m * (double)product->n, "%g elements in rectangles", elements);
    return at;
}

/* Blocks for every part of both operands, also of an A that is kept, since it may not be known. */
static void the_survey_covers_operands(void)
{
    const tb_crt_arguments *first = &arguments[0];
    const int64_t k = first->problem.k, blocks_k = (k + first->survey_k - 1) / first->survey_k,
                  rows_a = first->a.rows, rows_b = first->same ? 0 : first->b.rows,
                  rows = (rows_a + TB_CRT_BLOCK_ROWS - 1) / TB_CRT_BLOCK_ROWS +
                         (rows_b + TB_CRT_BLOCK_ROWS - 1) / TB_CRT_BLOCK_ROWS;
    CHECK(is(0, "_survey") && is(1, "_gather") && is(2, "_decide"), "the survey comes first");
    CHECK(blocks[0] == TB_CRT_SCOUTS + rows * blocks_k && blocks[1] * TB_CRT_PASS_THREADS >= rows_a + rows_b,
          "%lld and %lld blocks for %lld and %lld outer indices, %lld blocks of k", (long long)blocks[0],
          (long long)blocks[1], (long long)rows_a, (long long)rows_b, (long long)blocks_k);
}

static void a_product_is_launched(const tb_kernel *kernel, const tb_product *product, int architecture)
{
    tb_launcher launcher = launcher_for(architecture);
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    char *const memory = (char *)4096;
    launches = 0;
    unless = NULL;
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, memory) == TB_OK, "not launched");
    the_survey_covers_operands();
    const tb_crt_arguments *first = &arguments[0];
    CHECK(first->same == (first->leaves_a && tb_has_one_operand(product)) &&
              (!first->same || first->b.residues == first->a.residues),
          "one operand is taken for two, or two for one");
    const int at = rectangles_cover_c(product, 3, memory, schedule.workspace);
    CHECK(at < launches && unless == &arguments[0].decision->moduli,
          "the native row computes C unless that has been done");

    /* Another panel of B. */
    tb_product next = *product;
    next.n = next.c.columns = product->n / 2 + 1;
    if (next.b.transposed)
        next.b.rows = next.n;
    else
        next.b.columns = next.n;
    const tb_crt_arguments before = arguments[0];
    const tb_schedule again = tb_prepare(kernel, &next, launcher.target);
    launches = 0;
    launcher.same_a = true;
    CHECK(kernel->launch(&launcher, kernel, &next, &again, memory) == TB_OK, "not launched");
    const tb_crt_arguments *now = &arguments[0];
    CHECK(now->decision == before.decision && now->a.records == before.a.records &&
              now->a.quantum == before.a.quantum && now->a.residues == before.a.residues,
          "what was made of A is looked for elsewhere");
    CHECK(now->keeps_a == now->leaves_a, "A is %s", now->keeps_a ? "kept" : "made anew");
    the_survey_covers_operands();
    CHECK(now->ticket != before.ticket && now->ticket != 0, "two launches have one ticket");
}

int main(void)
{
    check_random random = {check_seed()};
    const tb_kernel *const sm90 = tb_find_kernel("dgemm_crt_sm90"),
                           *const sm80 = tb_find_kernel("dgemm_crt_sm80"),
                           *const sm75 = tb_find_kernel("dgemm_crt_sm75");
    for (int i = 0; i < SHAPES; i++) {
        const int64_t most = i % 4 == 0 ? 40000 : 3000;
        const int64_t m = check_between(&random, 1, most), n = check_between(&random, 1, most),
                      k = check_between(&random, 1, i % 4 == 1 ? TB_CRT_K_MOST : most);
        const bool transpose_a = check_between(&random, 0, 1), transpose_b = check_between(&random, 0, 1),
                   one_operand = i % 3 == 0;
        tb_product product = one_operand
                                 ? tb_rank_k(TB_DSYRK, TB_FULL, transpose_a, m, k, 1, (void *)(1 << 12),
                                             transpose_a ? k : m, 0, (void *)(1 << 14), m + 3)
                                 : tb_gemm(TB_DGEMM, transpose_a, transpose_b, m, n, k, 1, (void *)(1 << 12),
                                           transpose_a ? k : m, (void *)(1 << 13), transpose_b ? n : k, 0,
                                           (void *)(1 << 14), m + 3);
        if (i % 5 == 1) {
            const int64_t less = (k + 7) / 8;
            product = tb_gemm(TB_ZGEMM, false, false, m, n, less, 1, (void *)(1 << 12), m, (void *)(1 << 13),
                              less, 0, (void *)(1 << 14), m + 3);
            product = tb_lowered(&product);
            product.a.data = (void *)(1 << 12);
        }
        a_product_is_launched(sm90, &product, 90);
        a_product_is_launched(sm80, &product, i % 2 ? 89 : 80);
        a_product_is_launched(sm75, &product, 75);
        if (atomic_load(&check_failures) > 0) {
            printf("%lld x %lld x %lld\n", (long long)m, (long long)n, (long long)k);
            break;
        }
    }
    return check_result();
}
