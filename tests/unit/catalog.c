/* Every row of the catalog is complete and means what the layers above take it to mean. */
#include "kernels/catalog.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "tests/check.h"

#include <string.h>

static int64_t blocks_launched;

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

/* Stands in for a device: notes the blocks of a launch and holds it against the row. */
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher;
    CHECK(blocks > 0 && threads > 0 && threads <= 1024 && threads % 32 == 0, "%s: %lld blocks of %d threads",
          entry->symbol, (long long)blocks, threads);
    CHECK(shared_bytes <= entry->dynamic_shared_bytes,
          "%s: asks for %d bytes of shared memory, its entry for %d", entry->symbol, shared_bytes,
          entry->dynamic_shared_bytes);
    CHECK(argument != NULL, "%s: no argument", entry->symbol);
    blocks_launched += blocks;
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    CHECK(blocks % cluster == 0, "%s: %lld blocks in clusters of %d", entry->symbol, (long long)blocks,
          cluster);
    return note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

static void a_row_is_complete(const tb_kernel *kernel)
{
    CHECK(kernel->name[0] != '\0' && kernel->summary[0] != '\0', "a row has no name or summary");
    CHECK(strcmp(kernel->name, "auto") != 0, "\"auto\" is no kernel's name");
    CHECK(tb_find_kernel(kernel->name) == kernel, "%s: the name is not unique", kernel->name);
    CHECK(kernel->architecture >= 50, "%s: architecture %d", kernel->name, kernel->architecture);
    CHECK(kernel->architecture_end == 0 || kernel->architecture_end >= kernel->architecture,
          "%s: architectures %d to %d", kernel->name, kernel->architecture, kernel->architecture_end);
    CHECK(kernel->tile_m > 0 && kernel->tile_n > 0 && kernel->tile_k > 0, "%s: tile", kernel->name);
    CHECK(kernel->threads > 0 && kernel->blocks > 0, "%s: threads and blocks", kernel->name);
    CHECK(kernel->efficiency > 0 && kernel->efficiency <= 4, "%s: efficiency", kernel->name);
    CHECK(kernel->alignment == 1 || kernel->alignment == 2 || kernel->alignment == 4, "%s: alignment",
          kernel->name);
    CHECK(!kernel->pads || kernel->alignment > 1, "%s: pads what needs no padding", kernel->name);
    CHECK(kernel->k_limit >= 0, "%s: limit", kernel->name);
    CHECK((kernel->launch == NULL) == (kernel->sequence != TB_NO_SEQUENCE), "%s: launch function",
          kernel->name);
}

static void a_row_has_an_entry_for_each_transposition(const tb_kernel *kernel)
{
    static const char *const endings[] = {"nn", "nt", "tn", "tt"};
    if (strstr(kernel->entries[0].symbol, "_begin") ||
        strstr(kernel->entries[0].symbol, "_survey")) /* its pre-pass turns the operands */
        return;
    if (kernel->launch == tb_launch_skinny) /* it chooses otherwise: skinny.c */
        return;
    if (kernel->in_place != TB_OUT_OF_PLACE) /* they are of small triangles alone: triangular.c */
        return;
    if (kernel->reads == TB_READS_STRUCTURED) { /* one serves all */
        CHECK(strcmp(kernel->entries[0].symbol, kernel->name) == 0, "%s: its entry is %s", kernel->name,
              kernel->entries[0].symbol);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const tb_entry *entry = &kernel->entries[i];
        const char *ending = strrchr(entry->symbol, '_');
        CHECK(ending != NULL && strcmp(ending + 1, endings[i]) == 0, "%s: entry %d is %s", kernel->name, i,
              entry->symbol);
        CHECK(entry->module != NULL && entry->dynamic_shared_bytes >= kernel->shared_bytes, "%s: entry %s",
              kernel->name, entry->symbol);
    }
}

/* Its file, its row and its kernels have one name, which begins with the tile. */
static void a_shape_has_one_name(const tb_kernel *kernel)
{
    static const char *const endings[] = {"_nn",        "_nt",        "_tn",        "_tt",
                                          "_nn_vector", "_nt_vector", "_tn_vector", "_tt_vector"};
    char tile[64], symbol[128];
    if (kernel->launch != tb_launch_simt)
        return;
    int length = snprintf(tile, sizeof tile, "sgemm_simt_%dx%d", kernel->tile_m, kernel->tile_n);
    CHECK(strncmp(kernel->name, tile, (size_t)length) == 0 &&
              (kernel->name[length] == '_' || kernel->name[length] == '\0'),
          "%s has tiles of %d x %d", kernel->name, kernel->tile_m, kernel->tile_n);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const tb_entry *entry = &kernel->entries[i];
        snprintf(symbol, sizeof symbol, "%s%s", kernel->name, endings[i]);
        CHECK(strcmp(entry->symbol, symbol) == 0 && strcmp(entry->module->name, kernel->name) == 0,
              "%s: entry %zu is %s of %s", kernel->name, i, entry->symbol, entry->module->name);
    }
}

/* As many blocks as the row says fit a multiprocessor of 9.0 at a time: its shared memory, of which each
 * block takes 1 KiB besides, and its threads. tests/ptxas compares the registers. */
static void a_rows_blocks_have_room(const tb_kernel *kernel)
{
    enum { SHARED_BYTES = 228 << 10, SHARED_BYTES_OF_BLOCK = 1 << 10, THREADS = 2048 };
    const int blocks = kernel->blocks > kernel->blocks_along_k ? kernel->blocks : kernel->blocks_along_k;
    CHECK(blocks * (kernel->shared_bytes + SHARED_BYTES_OF_BLOCK) <= SHARED_BYTES &&
              blocks * kernel->threads <= THREADS,
          "%s: there is no room for %d blocks of %d bytes of shared memory and %d threads", kernel->name,
          blocks, kernel->shared_bytes, kernel->threads);
}

/* Sizes are at, below and above a tile's, with every transposition, and with k = 0. */
static void a_launch_covers_all_of_c(const tb_kernel *kernel)
{
    tb_launcher launcher = {.target = {.architecture = kernel->architecture, .multiprocessors = 132},
                            .load = note_nothing,
                            .launch = note_launch,
                            .launch_clusters = note_clusters};
    for (int64_t m = kernel->tile_m - 1; m <= kernel->tile_m + 1; m++)
        for (int64_t k = 0; k <= 16; k += 16)
            for (int transposition = 0; transposition < 4; transposition++) {
                if (m == 0)
                    continue;
                int64_t n = 3 * kernel->tile_n;
                const tb_product product =
                    tb_gemm(tb_gemm_routine(kernel->element), transposition / 2, transposition % 2, m, n, k,
                            1, NULL, 1024, NULL, 1024, 0, NULL, 1024);
                blocks_launched = 0;
                const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
                void *workspace = malloc(schedule.workspace + 1);
                tb_status status = kernel->launch(&launcher, kernel, &product, &schedule, workspace);
                free(workspace);
                CHECK(status == TB_OK || (kernel->k_limit != 0 && k > kernel->k_limit), "%s: status %d",
                      kernel->name, status);
                CHECK(status != TB_OK || blocks_launched > 0, "%s: nothing was launched", kernel->name);
            }
}

/* A row serves as long a k as it says. The workspace is nowhere: nobody writes to it. */
static void the_longest_k_is_launched(const tb_kernel *kernel)
{
    void *const nowhere = (void *)(uintptr_t)(1 << 12);
    const tb_launcher launcher = {.target = {.architecture = kernel->architecture, .multiprocessors = 132},
                                  .load = note_nothing,
                                  .launch = note_launch,
                                  .launch_clusters = note_clusters};
    const tb_product product = tb_gemm(tb_gemm_routine(kernel->element), true, false, 1, 1, kernel->k_limit,
                                       1, NULL, kernel->k_limit, NULL, kernel->k_limit, 0, NULL, 1);
    const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
    CHECK(kernel->k_limit == 0 || kernel->launch(&launcher, kernel, &product, &schedule, nowhere) == TB_OK,
          "%s: k = %lld", kernel->name, (long long)kernel->k_limit);
}

/* A stride of 0 says that some matrices are less than a number apart. */
static void an_uneven_batch_is_taken_when_all_is_aligned(const tb_kernel *kernel, const tb_product *aligned)
{
    tb_product batch = *aligned;
    tb_members *members = &batch.batch.members[TB_A];
    batch.batch.count = 3;
    *members = (tb_members){.uneven = true, .stride = 1};
    CHECK(tb_kernel_takes(kernel, &batch, TB_A), "%s: matrices a number apart", kernel->name);
    members->stride = 0;
    CHECK(tb_kernel_takes(kernel, &batch, TB_A) == (kernel->alignment == 1),
          "%s: matrices less than a number apart", kernel->name);
    members->uneven = false;
    CHECK(tb_kernel_takes(kernel, &batch, TB_A), "%s: one matrix for all", kernel->name);
}

static void an_operand_is_taken_when_it_is_aligned(const tb_kernel *kernel)
{
    double elements[8] __attribute__((aligned(64)));
    const bool is_complex = tb_is_complex(kernel->element);
    int step = is_complex ? 1 : kernel->alignment;
    const tb_product aligned = {
        .a = {.data = elements, .ld = 4 * step, .rows = 1, .element = kernel->element}};
    tb_product off_by_one = aligned, longer = aligned;
    off_by_one.a.data = tb_at(&aligned.a.matrix, 1, 0);
    longer.a.ld++;
    CHECK(tb_kernel_takes(kernel, &aligned, TB_A), "%s: aligned", kernel->name);
    CHECK(tb_kernel_takes(kernel, &off_by_one, TB_A) == (step == 1), "%s: address off by one element",
          kernel->name);
    if (is_complex) {
        tb_product off_by_one_part = aligned;
        off_by_one_part.a.data = (char *)elements + tb_bytes_of(tb_real_of(kernel->element));
        CHECK(tb_kernel_takes(kernel, &off_by_one_part, TB_A) == (kernel->alignment == 1),
              "%s: address off by a real number", kernel->name);
        an_uneven_batch_is_taken_when_all_is_aligned(kernel, &aligned);
    }
    CHECK(tb_kernel_takes(kernel, &longer, TB_A) == (step == 1), "%s: leading dimension off by one",
          kernel->name);
}

int main(void)
{
    CHECK(tb_catalog_size > 0, "the catalog is empty");
    CHECK(tb_find_kernel("no such kernel") == NULL && tb_find_kernel("") == NULL,
          "found a kernel that is not there");
    CHECK(tb_find_kernel("naive") != NULL && tb_find_kernel("dgemm_naive") != NULL,
          "the kernels that serve everything are missing");
    for (size_t row = 0; row < tb_catalog_size; row++) {
        a_row_is_complete(&tb_catalog[row]);
        a_row_has_an_entry_for_each_transposition(&tb_catalog[row]);
        a_shape_has_one_name(&tb_catalog[row]);
        a_rows_blocks_have_room(&tb_catalog[row]);
        if (tb_catalog[row].in_place == TB_OUT_OF_PLACE) { /* else triangular.c */
            a_launch_covers_all_of_c(&tb_catalog[row]);
            the_longest_k_is_launched(&tb_catalog[row]);
        }
        an_operand_is_taken_when_it_is_aligned(&tb_catalog[row]);
    }
    return check_result();
}
