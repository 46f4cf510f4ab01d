/* How the tensor-core families cut a product: whatever the shape, the shares cover k once, no work goes without a
 * block, the launches come in their order, and the workspace holds all that they write.
 */
#include "kernels/catalog.h"
#include "kernels/tensor/launch_split_sm80.h"
#include "kernels/tensor/launch_tensor.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MULTIPROCESSORS = 132, SHAPES = 1000, SHAPES_WITH_ZEROS = 200, LAUNCHES_MAXIMUM = 16, WAVES_MOST = 4 };

static tb_split_arguments launched; /* of what multiplies: the last one's */
static const char *symbols[LAUNCHES_MAXIMUM];
static tb_split_arguments arguments[LAUNCHES_MAXIMUM];
static int64_t blocks[LAUNCHES_MAXIMUM];
static int launches;

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
    CHECK(block_count > 0, "%lld blocks of %s", (long long)block_count, entry->symbol);
    memcpy(&launched, argument, sizeof launched);
    if (launches < LAUNCHES_MAXIMUM) {
        arguments[launches] = launched;
        symbols[launches] = entry->symbol;
        blocks[launches++] = block_count;
    }
    return TB_OK;
}

static const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = MULTIPROCESSORS},
                                     .load = note_nothing,
                                     .launch = note_launch};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int cut_with_zeros; /* products of which k was shared out */
static int cut_in_waves;   /* the same, of more tiles than there are blocks */
static int split_once;     /* products whose B is A's transpose */
static tb_product asked_for;

/* The tiles of both blocks of a cluster, one of which may lie outside of C or of its mask. */
static int64_t tiles_of(const tb_split_arguments *mine, const tb_product *product)
{
    return TB_SPLIT_CLUSTER_BLOCKS *
           product_tiles(product, TB_SPLIT_CLUSTER_BLOCKS * mine->panel_a, mine->panel_b);
}

/* Looks at launches from this one on; returns what comes after them. */
static int products_come_in_order(int first)
{
    const tb_split_arguments *mine = &arguments[first];
    const char *tile = mine->panel_b == TB_SPLIT_WIDE ? "_128x192" : "_128x128";
    CHECK(ends_with(symbols[first], tile) && !strstr(symbols[first], "_add"), "%s multiplies",
          symbols[first]);
    const char *behind = first + 1 < launches ? symbols[first + 1] : "nothing";
    const bool adds = strstr(behind, "_add") != NULL;
    CHECK(adds == (mine->shares_of_k > 1) && (!adds || ends_with(behind, tile)), "%d shares, then %s",
          mine->shares_of_k, behind);

    const int64_t works = tiles_of(mine, &asked_for) * mine->shares_of_k;
    CHECK(blocks[first] >= 1 && blocks[first] <= works && blocks[first] <= MULTIPROCESSORS &&
              blocks[first] % TB_SPLIT_CLUSTER_BLOCKS == 0,
          "%lld blocks for %lld works", (long long)blocks[first], (long long)works);
    /* Each share has room of its own. */
    CHECK(mine->shares_of_k == 1 || works <= WAVES_MOST * MULTIPROCESSORS, "%lld works in %d shares of k",
          (long long)works, mine->shares_of_k);
    cut_in_waves += mine->shares_of_k > 1 && works > mine->shares_of_k * MULTIPROCESSORS;
    return first + 1 + adds;
}

static void launches_come_in_order(const tb_kernel *kernel)
{
    static const char *const plain[] = {"_begin", "_split"},
                             *const scaled[] = {"_begin", "_largest", "_split"},
                             *const surveyed[] = {"_begin", "_survey", "_split"};
    const bool scales = kernel->accuracy == TB_ACCURACY_FAST, surveys = strstr(symbols[1], "_survey") != NULL;
    const int passes = scales || surveys ? 3 : 2;
    for (int i = 0; i < passes; i++)
        CHECK(ends_with(symbols[i], (surveys  ? surveyed
                                     : scales ? scaled
                                              : plain)[i]),
              "launch %d is %s", i, symbols[i]);
    const int end = products_come_in_order(passes);
    CHECK(end == launches, "%s comes behind", symbols[end]);
}

static void shares_cover_k(const tb_product *p)
{
    CHECK(launched.stages * TB_SPLIT_STAGE_K >= p->k && launched.shares_of_k >= 1 &&
              launched.share_stages * launched.shares_of_k >= launched.stages &&
              launched.share_stages * (launched.shares_of_k - 1) < launched.stages,
          "%lld stages in %d shares of %lld", (long long)launched.stages, launched.shares_of_k,
          (long long)launched.share_stages);
}

static size_t row_bytes_of(const tb_kernel *kernel)
{
    return strstr(kernel->name, "fp16x3")  ? TB_SPLIT_FP16_ROW_BYTES
           : strstr(kernel->name, "split") ? TB_SPLIT_MIXED_ROW_BYTES
                                           : TB_SPLIT_BF16_ROW_BYTES;
}

/* What the kernels write, in the order of the addresses; where something is not used its place is not looked at. */
static void workspace_holds_it(const tb_kernel *kernel, const tb_product *product, const char *memory,
                               size_t bytes)
{
    const tb_split_arguments *l = &launched;
    const size_t rows_a = (size_t)l->panels_a * (size_t)l->panel_a,
                 rows_b = (size_t)l->panels_b * (size_t)l->panel_b;
    const size_t stages = (size_t)l->stages, row_bytes = row_bytes_of(kernel);
    const size_t tile = TB_SPLIT_TILE_M * (size_t)l->panel_b * sizeof(float);
    const size_t sums = sizeof *l->sums_a, words = sizeof(uint32_t);
    const size_t tiles = (size_t)tiles_of(l, product);
    const struct {
        const void *first;
        size_t size;
    } places[] = {
        {l->findings, sizeof *l->findings},
        {l->largest_a, l->largest_a ? rows_a * words : 0},
        {l->sums_a, l->sums_a ? rows_a * sums : 0},
        {l->surveyed_a, l->sums_a ? rows_a / TB_SPLIT_BLOCK_ROWS * words : 0},
        {l->used_a, rows_a / TB_SPLIT_BLOCK_ROWS * stages},
        {l->parts_a, rows_a * stages * row_bytes},
        {l->largest_b, l->largest_b ? rows_b * words : 0},
        {l->sums_b, l->sums_b ? rows_b * sums : 0},
        {l->surveyed_b, l->sums_b ? rows_b / TB_SPLIT_BLOCK_ROWS * words : 0},
        {l->used_b, rows_b / TB_SPLIT_BLOCK_ROWS * stages},
        {l->parts_b, rows_b * stages * row_bytes},
        {l->pace, (size_t)l->pace_words * words},
        {l->segments, l->share_stages > TB_SPLIT_SEGMENT_STAGES ? tile : 0},
        {l->shares, l->shares_of_k > 1 ? tile * tiles * (size_t)l->shares_of_k : 0},
    };
    const char *end = memory;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].size > 0) {
            CHECK((const char *)places[i].first >= end, "%s: place %zu begins within the one before",
                  kernel->name, i);
            end = (const char *)places[i].first + places[i].size;
        }
    CHECK(end <= memory + bytes, "%s: the workspace ends too soon", kernel->name);
}

/* Every stage that a tile needs is in one work, of one tile and share; clusters have about as many of all. */
static void works_with_zeros_are_done_once(int32_t clusters)
{
    const tb_split_arguments *l = &launched;
    const int32_t works = l->tiles * l->shares_of_k;
    tb_split_work *found = calloc((size_t)works, sizeof *found);
    double all = 0, most = 0, longest = 0;
    int wrong = 0;
    for (int32_t cluster = 0; cluster < clusters; cluster++) {
        double own = 0;
        for (int32_t index = cluster; index < works; index += clusters) {
            const tb_split_work work = tb_split_work_with_zeros(l, clusters, index);
            const int32_t place = work.number * l->shares_of_k + work.share;
            if (work.share < 0 || work.share >= l->shares_of_k || place < 0 || place >= works)
                wrong++;
            else
                found[place] = work;
            own += work.end - work.first;
            longest = fmax(longest, work.end - work.first);
        }
        all += own;
        most = fmax(most, own);
    }
    for (int32_t number = 0; number < l->tiles; number++) {
        const tb_needed needed = tb_needed_steps(l->order.zeros, tb_locate_tile(&l->order, (uint32_t)number),
                                                 TB_SPLIT_CLUSTER_BLOCKS * l->panel_a, l->panel_b,
                                                 TB_SPLIT_STAGE_K, (int32_t)l->stages);
        int32_t end = needed.first;
        for (int32_t share = 0; share < l->shares_of_k; share++) {
            const tb_split_work *work = &found[number * l->shares_of_k + share];
            wrong += work->number != number || work->share != share || work->first != end;
            end = work->end;
        }
        wrong += end != needed.end;
    }
    CHECK(wrong == 0, "zeros %d: %d of %d works are wrong", l->order.zeros, wrong, works);
    CHECK(most <= all / clusters + 1.5 * longest, "zeros %d: a cluster has %g stages, %g of each of %d",
          l->order.zeros, most, all / clusters, clusters);
    free(found);
}

/* A count for each wave of tiles and every few stages. */
static void pace_has_its_counts(int64_t works, int64_t blocks_launched)
{
    const int64_t waves = (works + blocks_launched - 1) / blocks_launched;
    const int64_t each = (launched.stages + TB_SPLIT_PACE_STAGES - 1) / TB_SPLIT_PACE_STAGES;
    CHECK(launched.pace_words == 0 || (launched.shares_of_k == 1 && launched.pace_words >= waves * each),
          "%lld counts for %lld waves", (long long)launched.pace_words, (long long)waves);
}

/* Blocks of the pre-pass, so many stages each: all stages, and as many blocks as there is room for or as there are stages. */
static void a_pass_covers_all(const tb_split_arguments *l, int64_t blocks_launched)
{
    const int64_t rows = (int64_t)l->panels_a * l->panel_a + (int64_t)l->panels_b * l->panel_b;
    const int64_t each = l->block_stages, groups = rows / TB_SPLIT_BLOCK_ROWS;
    CHECK(blocks_launched == groups * ((l->stages + each - 1) / each), "%lld blocks of %lld stages",
          (long long)blocks_launched, (long long)each);
    CHECK(each >= 1 && each <= TB_SPLIT_BLOCK_STAGES_MOST &&
              (each == 1 || blocks_launched >= (int64_t)TB_SPLIT_BLOCKS * MULTIPROCESSORS),
          "%lld blocks, though each has %lld stages", (long long)blocks_launched, (long long)each);
    CHECK(each == TB_SPLIT_BLOCK_STAGES_MOST ||
              groups * ((l->stages + 2 * each - 1) / (2 * each)) < (int64_t)TB_SPLIT_BLOCKS * MULTIPROCESSORS,
          "%lld blocks, and each has %lld stages only", (long long)blocks_launched, (long long)each);
}

/* Another B, after which what was made of A is to be where it was. */
static void a_stays(const tb_kernel *kernel, const tb_product *p, int64_t n, char *memory)
{
    const tb_split_arguments before = launched;
    tb_launcher again = launcher;
    const tb_product other = product_sized(p->m, n, p->k);
    again.same_a = true;
    launches = 0;
    const tb_schedule schedule = tb_prepare(kernel, &other, again.target);
    CHECK(kernel->launch(&again, kernel, &other, &schedule, memory) == TB_OK, "%s refuses another B",
          kernel->name);
    CHECK(launched.parts_a == before.parts_a && launched.used_a == before.used_a &&
              launched.largest_a == before.largest_a && launched.sums_a == before.sums_a,
          "%s: A is elsewhere for %lld columns", kernel->name, (long long)n);
    workspace_holds_it(kernel, &other, memory, schedule.workspace);
    launched = before;
}

static bool has_the_mask(const tb_split_arguments *l, const tb_product *product)
{
    return l->problem.mask == (int32_t)product->mask && l->problem.diagonal == product->diagonal &&
           l->masked.mask == l->problem.mask && l->masked.count == l->tiles &&
           l->masked_plainly.count == product_tiles(product, TB_SPLIT_PLAIN_TILE, TB_SPLIT_PLAIN_TILE);
}

static void a_masked_product_is_cut(const tb_kernel *kernel, const tb_product *product)
{
    char *memory = (char *)((uintptr_t)1 << 40); /* only addresses are formed */
    launches = 0;
    asked_for = *product;
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, memory) == TB_OK, "%s refuses", kernel->name);
    if (tb_is_masked_out(product)) {
        CHECK(ends_with(symbols[launches - 1], "_split"), "%s: %s for nothing", kernel->name,
              symbols[launches - 1]);
        return;
    }
    launches_come_in_order(kernel);
    for (int i = 0; i < launches; i++) {
        launched = arguments[i];
        CHECK(TB_SPLIT_CLUSTER_BLOCKS * launched.tiles == tiles_of(&launched, product) &&
                  has_the_mask(&launched, product),
              "%s: %d pairs of tiles", kernel->name, launched.tiles);
        shares_cover_k(product);
        workspace_holds_it(kernel, product, memory, schedule.workspace);
        if (ends_with(symbols[i], "_split"))
            a_pass_covers_all(&launched, blocks[i]);
        if (strstr(symbols[i], "_128x") && !strstr(symbols[i], "_add"))
            pace_has_its_counts(tiles_of(&launched, product) * launched.shares_of_k, blocks[i]);
    }
    a_stays(kernel, product, product->n > 1 ? product->n / 2 : 3, memory);
}

/* op(A) or op(B) is a triangle, the lower or the upper one. */
static void a_product_with_zeros_is_cut(const tb_kernel *kernel, int kind, int64_t m, int64_t n)
{
    char *memory = (char *)((uintptr_t)1 << 40);
    tb_product product = product_sized(m, n, kind % 4 < 2 ? m : n);
    *(kind % 4 < 2 ? &product.a_nonzero : &product.b_nonzero) = kind % 2 ? TB_UPPER : TB_LOWER;
    launches = 0;
    asked_for = product;
    const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, &product, &schedule, memory) == TB_OK, "%s refuses",
          kernel->name);
    launches_come_in_order(kernel);
    CHECK(strcmp(kernel->name, "sgemm_split_sm90") != 0 || !ends_with(symbols[1], "_survey"),
          "a survey of zeros");
    launched = arguments[launches - 1];
    CHECK(launched.order.zeros == tb_zeros_of(&product) && launched.pace_words == 0, "zeros %d, %lld counts",
          launched.order.zeros, (long long)launched.pace_words);
    workspace_holds_it(kernel, &product, memory, schedule.workspace);
    works_with_zeros_are_done_once((int32_t)blocks[launches - 1 - (launched.shares_of_k > 1)] /
                                   TB_SPLIT_CLUSTER_BLOCKS);
    cut_with_zeros += launched.shares_of_k > 1;
}

/* Launches the product of a matrix and its transpose, or of two. */
static void launch_square(const tb_launcher *on, const tb_kernel *kernel, int64_t n, int64_t k, bool one)
{
    static char operands[2];
    tb_product product = tb_rank_k(TB_SSYRK, TB_LOWER, k % 2 == 0, n, k, 1, operands, n + k, 0, NULL, n);
    if (!one)
        product.b.data = operands + 1;
    launches = 0;
    const tb_schedule schedule = tb_prepare(kernel, &product, on->target);
    CHECK(kernel->launch(on, kernel, &product, &schedule, (char *)((uintptr_t)1 << 40)) == TB_OK,
          "%s refuses", kernel->name);
}

static int64_t blocks_of(const char *end)
{
    int64_t sum = 0;
    for (int i = 0; i < launches; i++)
        sum += ends_with(symbols[i], end) ? blocks[i] : 0;
    return sum;
}

/* Where panels of A and B are alike, what the passes make of A is all there is; and after a launch with this A there is
 * nothing left to do, but for looking whether its format is still the one. */
static void one_matrix_is_split_once(const tb_kernel *kernel, int64_t n, int64_t k)
{
    launch_square(&launcher, kernel, n, k, false);
    CHECK(!launched.b_is_a && launched.parts_b != launched.parts_a, "%s: two matrices are one", kernel->name);
    launch_square(&launcher, kernel, n, k, true);
    const tb_split_arguments *l = &launched;
    const int64_t pieces = (int64_t)l->panels_a * l->panel_a / TB_SPLIT_BLOCK_ROWS;
    CHECK(l->b_is_a == (l->panel_a == l->panel_b), "%s: panels of %d, split once: %d", kernel->name,
          l->panel_b, l->b_is_a);
    CHECK((l->parts_b == l->parts_a) == l->b_is_a && (l->used_b == l->used_a) == l->b_is_a &&
              (!l->largest_a || (l->largest_b == l->largest_a) == l->b_is_a) &&
              (!l->sums_a || (l->sums_b == l->sums_a) == l->b_is_a),
          "%s: B's parts are elsewhere", kernel->name);
    if (!l->b_is_a)
        return;
    split_once++;
    CHECK(blocks_of("_split") == tb_split_blocks(pieces * TB_SPLIT_BLOCK_ROWS, l->stages, l->block_stages) &&
              blocks_of("_survey") == (l->sums_a ? pieces * tb_ceil_div(l->stages, l->survey_stages) : 0) &&
              l->found_words_b == 0,
          "%s: %lld blocks split, %lld survey", kernel->name, (long long)blocks_of("_split"),
          (long long)blocks_of("_survey"));
    tb_launcher again = launcher;
    again.same_a = true;
    launch_square(&again, kernel, n, k, true);
    CHECK(blocks_of("_split") == l->turns_a && blocks_of("_survey") == 0 && blocks_of("_largest") == 0,
          "%s: %lld blocks split A again", kernel->name, (long long)blocks_of("_split"));
}

static void a_product_is_cut(const tb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    const tb_product product = product_sized(m, n, k);
    a_masked_product_is_cut(kernel, &product);
}

/* The kernel of sm_80 takes one tile after the other. */
static void tiles_of_sm80_touch_the_mask(const tb_product *product)
{
    const tb_kernel *kernel = tb_find_kernel("sgemm_bf16x6_sm80");
    const int64_t tiles = product_tiles(product, TB_SPLIT_SM80_TILE, TB_SPLIT_SM80_TILE);
    launches = 0;
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, NULL) == TB_OK, "%s refuses", kernel->name);
    const bool multiplies = ends_with(symbols[launches - 1], "_128x128");
    CHECK(multiplies == (tiles > 0) && launched.tiles == tiles && has_the_mask(&launched, product) &&
              (!multiplies || blocks[launches - 1] == tb_smaller(tiles, MULTIPROCESSORS)),
          "%d tiles of %lld, %lld blocks", launched.tiles, (long long)tiles, (long long)blocks[launches - 1]);
}

/* Each row's schedule and launch are of its own family: what a large product takes goes by the products of parts, and which
 * of these are computed by the last order. */
static void rows_are_of_their_families(void)
{
    static const struct {
        const char *name;
        int last_order;
        double products;
    } rows[] = {{"sgemm_bf16x6_sm90", 2, 6},
                {"sgemm_bf16x9_sm90", 4, 9},
                {"sgemm_fp16x3_sm90", 1, 3},
                {"sgemm_split_sm90", 2, 4.8}};
    const tb_product large = product_square(16384);
    const double clocks = tb_prepare(tb_find_kernel(rows[0].name), &large, launcher.target).clocks;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tb_kernel *kernel = tb_find_kernel(rows[i].name);
        const double times = tb_prepare(kernel, &large, launcher.target).clocks / clocks;
        CHECK(fabs(times * 6 / rows[i].products - 1) < 0.2, "%s takes %g times the first one's clocks",
              rows[i].name, times);
        a_product_is_cut(kernel, 1000, 1000, 1000);
        CHECK(launched.last_order == rows[i].last_order, "%s: last order %d", rows[i].name,
              launched.last_order);
    }
}

int main(void)
{
    static const char *const names[] = {"sgemm_bf16x6_sm90", "sgemm_bf16x9_sm90", "sgemm_fp16x3_sm90",
                                        "sgemm_split_sm90"};
    check_random random = {.state = check_seed()};
    rows_are_of_their_families();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const tb_kernel *kernel = tb_find_kernel(names[i]);
        for (int shape = 0; shape < SHAPES; shape++) {
            const int64_t m = check_between(&random, 1, shape % 3 ? 4000 : 300),
                          n = check_between(&random, 1, shape % 2 ? 4000 : 300);
            const tb_product product =
                product_masked(product_sized(m, n, check_between(&random, 1, shape % 5 ? 5000 : 200000)),
                               shape, check_between(&random, 0, m + n));
            a_masked_product_is_cut(kernel, &product);
            tiles_of_sm80_touch_the_mask(&product);
        }
        split_once = 0;
        for (int shape = 0; shape < SHAPES; shape++)
            one_matrix_is_split_once(kernel, check_between(&random, 2, 4000),
                                     check_between(&random, 1, 5000));
        CHECK(split_once > SHAPES / 10 && split_once < SHAPES, "%d of %d split once", split_once, SHAPES);
        for (int shape = 0; shape < SHAPES_WITH_ZEROS; shape++)
            a_product_with_zeros_is_cut(kernel, shape, 2 * check_between(&random, 1, shape % 3 ? 2500 : 200),
                                        2 * check_between(&random, 1, shape % 5 ? 2500 : 200));
        CHECK(cut_in_waves > 0, "k is never shared out where there is more than a wave of tiles");
        CHECK(cut_with_zeros > 0, "k is never shared out where there are zeros");
        if (strcmp(names[i], "sgemm_split_sm90") == 0) {
            a_product_is_cut(kernel, 500, 600, 700);
            CHECK(ends_with(symbols[1], "_survey"), "no survey, but %s", symbols[1]);
            a_product_is_cut(kernel, 300, 300, TB_SPLIT_SURVEY_MOST);
            CHECK(!ends_with(symbols[1], "_survey"), "a survey of too many elements to count");
            a_product_is_cut(kernel, 300, 300, TB_SPLIT_SURVEY_LEAST - 1);
            CHECK(!ends_with(symbols[1], "_survey"), "a survey of too few elements");
        }
        /* One wave of whole tiles needs no shares; sixteen tiles of a long k need many. */
        a_product_is_cut(kernel, 8192, 8192, 8192);
        CHECK(launched.shares_of_k == 1 && launched.pace_words > 0,
              "%d shares of a large product, %lld counts", launched.shares_of_k,
              (long long)launched.pace_words);
        a_product_is_cut(kernel, 512, 512, 65536);
        CHECK(launched.shares_of_k >= 8, "%d shares of a deep product", launched.shares_of_k);
    }
    return check_result();
}
