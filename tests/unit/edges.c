/* Few last rows and columns apart: the launches of a product cover C once, each with its own part of A and B, and the workspace
 * is what the largest of them needs.
 */
#include "kernels/catalog.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 400, PARTS_MOST = 3, LOADS_MOST = 8, EXTENT_MOST = 2600 };

/* m x n of C from a row and a column on, as a launch saw it. */
typedef struct part {
    int64_t row, column, m, n;
} part;

static tb_problem given;
static part parts[PARTS_MOST];
static int part_count, load_count, launches;
static const tb_entry *loaded[LOADS_MOST];

/* Nothing is read there. */
#define BASE(number) ((float *)((uintptr_t)(number) << 40))

static int64_t floats_between(const float *from, const float *to)
{
    return (int64_t)((intptr_t)to - (intptr_t)from) / (int64_t)sizeof(float);
}

static tb_status note_load(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    CHECK(launches == 0 && load_count < LOADS_MOST, "%s is loaded when C has been written", entry->symbol);
    loaded[load_count++ % LOADS_MOST] = entry;
    return TB_OK;
}

static bool is_loaded(const tb_entry *entry)
{
    for (int i = 0; i < load_count && i < LOADS_MOST; i++)
        if (loaded[i] == entry)
            return true;
    return false;
}

/* Where a and b would lie for the part of C that begins at c. */
static void note_part(const float *a, const float *b, const float *c, int64_t m, int64_t n)
{
    CHECK(part_count < PARTS_MOST, "too many parts");
    if (part_count == PARTS_MOST)
        return;
    const int64_t offset = floats_between(BASE(3), c);
    const part at = {offset % given.ldc, offset / given.ldc, m, n};
    CHECK(floats_between(BASE(1), a) == (given.transpose_a ? at.row * given.lda : at.row), "part %d: A",
          part_count);
    CHECK(floats_between(BASE(2), b) == (given.transpose_b ? at.column : at.column * given.ldb), "part %d: B",
          part_count);
    parts[part_count++] = at;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    (void)launcher, (void)blocks, (void)cluster, (void)threads, (void)shared_bytes;
    CHECK(launches++ == 0 || is_loaded(entry), "%s may fail when C has been written", entry->symbol);
    if (strstr(entry->symbol, "reduce"))
        return TB_OK;
    if (strstr(entry->symbol, "sgemm_simt_")) {
        const tb_problem *p = &((const tb_simt_arguments *)argument)->problem;
        note_part(p->a, p->b, p->c, p->m, p->n);
        return TB_OK;
    }
    const tb_skinny_arguments *s = argument;
    if (s->c_row == 1)
        note_part(s->x, s->y, s->c, s->length, s->shorts);
    else
        note_part(s->y, s->x, s->c, s->shorts, s->length);
    return TB_OK;
}

static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    return note_clusters(launcher, entry, blocks, 1, threads, shared_bytes, argument);
}

static const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132},
                                     .load = note_load,
                                     .launch = note_launch,
                                     .launch_clusters = note_clusters};

static bool are_apart(const part *x, const part *y)
{
    return x->row >= y->row + y->m || y->row >= x->row + x->m || x->column >= y->column + y->n ||
           y->column >= x->column + x->n;
}

static void parts_cover_c_once(const tb_kernel *kernel)
{
    int64_t elements = 0;
    for (int i = 0; i < part_count; i++) {
        CHECK(parts[i].row + parts[i].m <= given.m && parts[i].column + parts[i].n <= given.n,
              "%s: part %d goes beyond C", kernel->name, i);
        elements += parts[i].m * parts[i].n;
        for (int j = 0; j < i; j++)
            CHECK(are_apart(&parts[i], &parts[j]), "%s: parts %d and %d overlap", kernel->name, i, j);
    }
    CHECK(elements == given.m * given.n, "%s: %lld elements of %lld x %lld", kernel->name,
          (long long)elements, (long long)given.m, (long long)given.n);
}

/* Returns how many parts there were. */
static int launch(const tb_kernel *kernel)
{
    part_count = load_count = launches = 0;
    CHECK(tb_launch_simt(&launcher, kernel, &given, NULL) == TB_OK, "%s: not launched", kernel->name);
    parts_cover_c_once(kernel);
    CHECK(part_count == 1 + tb_simt_edges(kernel, &given, launcher.target), "%s: %d parts", kernel->name,
          part_count);
    const size_t bytes = tb_simt_workspace(&launcher, kernel, &given);
    for (int i = 0; i < part_count; i++) {
        tb_problem each = given;
        each.m = parts[i].m;
        each.n = parts[i].n;
        const size_t needed = i == 0 ? tb_simt_workspace_batched(&launcher, kernel, &each, 1)
                                     : tb_skinny_workspace(&launcher, tb_find_kernel("sgemm_skinny"), &each);
        CHECK(bytes >= needed, "%s: part %d needs %zu bytes of %zu", kernel->name, i, needed, bytes);
    }
    return part_count;
}

/* Often a few more than whole tiles. */
static int64_t draw_extent(int tile, check_random *random)
{
    if (check_between(random, 0, 3) == 0)
        return check_between(random, 1, EXTENT_MOST);
    return check_between(random, 0, EXTENT_MOST / tile) * tile + check_between(random, 1, 18);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    int with_parts[PARTS_MOST + 1] = {0};
    for (int i = 0; i < PRODUCTS; i++)
        for (size_t row = 0; row < tb_catalog_size; row++) {
            const tb_kernel *kernel = &tb_catalog[row];
            if (kernel->launch != tb_launch_simt)
                continue;
            given = (tb_problem){.m = draw_extent(kernel->tile_m, &random),
                                 .n = draw_extent(kernel->tile_n, &random),
                                 .k = i % 20 ? check_between(&random, 0, 3000) : 0,
                                 .a = BASE(1),
                                 .b = BASE(2),
                                 .c = BASE(3),
                                 .alpha = 1,
                                 .transpose_a = i % 2,
                                 .transpose_b = i / 2 % 2};
            const int64_t more = check_between(&random, 0, 3);
            given.lda = (given.transpose_a ? given.k : given.m) + more;
            given.ldb = (given.transpose_b ? given.n : given.k) + more;
            given.lda += given.lda == 0;
            given.ldb += given.ldb == 0;
            given.ldc = given.m + 1 + more;
            const int count = launch(kernel);
            with_parts[count]++;
            CHECK(given.k > 0 || count == 1, "%s: apart without a product", kernel->name);
        }
    CHECK(with_parts[1] > 0 && with_parts[2] > 0 && with_parts[3] > 0,
          "%d, %d and %d products of 1, 2, 3 parts", with_parts[1], with_parts[2], with_parts[3]);
    return check_result();
}
