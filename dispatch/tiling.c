#include "dispatch/tiling.h"

/* A slab of about this size keeps the link and the device busy, and is little to wait for at the start. */
#define SLAB_BYTES ((int64_t)64 << 20)
/* Each slab makes the kernel read and write C once more: 1024 steps of k outweigh that twenty to one on an H200. */
#define SLAB_K_LEAST 1024
#define SLAB_K_MOST  2048
/* So many slabs at least, where k allows it, or there is nothing to overlap. */
#define SLABS_LEAST     4
#define SLAB_K_MULTIPLE 128

/* Slabs on the device when not all of them fit: one multiplied, one loaded, one to spare. */
#define RING 3

/* Products with fewer multiply-adds are over before a second block could overlap with the first. */
#define TWO_BLOCKS_VOLUME 1e9

/* Multiply-adds of a panel: 60 to 160 microseconds on an H200. */
#define PANEL_VOLUME_LEAST INT64_C(4000000000)

/* From so many multiply-adds on, what remains to be done when all has been loaded shows. */
#define NARROW_BLOCKS_VOLUME 2e10
#define FIRST_BLOCK_SHARE    0.6
#define NARROW_BLOCKS        2

/* Blocks are not cut finer than this, and only at multiples of it: where an operand lies on the device already,
 * its parts stay as aligned as it is. */
#define BLOCK_LEAST 16

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int64_t pieces(int64_t length, int64_t piece)
{
    return (length + piece - 1) / piece;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
    return pieces(value, multiple) * multiple;
}

int64_t tb_pitched(int64_t rows)
{
    /* A line of 128 bytes; short columns would be mostly padding, and need 16 bytes for float4. */
    return rows < 128 ? round_up(rows, 4) : round_up(rows, 32);
}

int64_t tb_slab_floats(int64_t outer, int64_t k)
{
    return round_up(larger(tb_pitched(outer) * k, tb_pitched(k) * outer), 32);
}

static double slab_bytes(int64_t outer, int64_t k)
{
    return (double)sizeof(float) * (double)tb_slab_floats(outer, k);
}

double tb_tiling_bytes(const tb_problem *problem, const tb_tiling *tiling)
{
    int64_t columns = tiling->ring_c > 0 ? tiling->ring_c * tiling->block_n : problem->n;
    return (double)tiling->ring_a * slab_bytes(tiling->block_m, tiling->slab_k) +
           (double)tiling->ring_b * slab_bytes(tiling->block_n, tiling->slab_k) +
           (double)sizeof(float) * (double)tb_pitched(tiling->block_m) * (double)columns;
}

double tb_tiling_traffic(const tb_problem *problem, const tb_tiling *tiling)
{
    double a = (double)problem->m * (double)problem->k, b = (double)problem->k * (double)problem->n;
    double loads_a = tiling->ring_a < tiling->slabs ? (double)pieces(problem->n, tiling->block_n) : 1;
    return (double)sizeof(float) * (a * loads_a + b * (double)pieces(problem->m, tiling->block_m));
}

static int64_t choose_slab(const tb_problem *problem)
{
    int64_t k = larger(problem->k, 1);
    int64_t slab = SLAB_BYTES / ((int64_t)sizeof(float) * (problem->m + problem->n));
    slab = smaller(larger(slab, SLAB_K_LEAST), SLAB_K_MOST);
    return smaller(round_up(smaller(slab, pieces(k, SLABS_LEAST)), SLAB_K_MULTIPLE), k);
}

/* Columns that one round of blocks over the multiprocessors covers: a smaller panel would leave some idle, and a short
 * launch costs more to start than it brings forward. */
static int64_t choose_panel(const tb_tiling *tiling, const tb_kernel *kernel, int multiprocessors)
{
    int64_t tiles_m = pieces(tiling->block_m, kernel->tile_m);
    int64_t columns = larger((int64_t)multiprocessors * larger(kernel->blocks, 1) / tiles_m, 1);
    columns = larger(columns, pieces(pieces(tiling->block_n, TB_PANELS_MAXIMUM), kernel->tile_n));
    columns =
        larger(columns, PANEL_VOLUME_LEAST / larger(tiling->block_m * tiling->slab_k, 1) / kernel->tile_n);
    return smaller(columns * kernel->tile_n, tiling->block_n);
}

/* What a tiling has to fit into. */
typedef struct budget {
    double bytes;
    const tb_kernel *kernel;
    int multiprocessors;
} budget;

int tb_tiling_sizes(const tb_problem *problem, const tb_tiling *tiling, tb_part_size sizes[TB_PART_SIZES])
{
    const int64_t first = smaller(tiling->block_n, problem->n),
                  next = smaller(tiling->next_n, problem->n - first);
    const int64_t last = next > 0 ? (problem->n - first) % next : 0, panel = smaller(tiling->panel_n, first);
    const int64_t widths[] = {first, next, last, panel, first % panel, next % panel, last % panel};
    const int64_t lengths[] = {smaller(tiling->slab_k, problem->k), problem->k % tiling->slab_k};
    int count = 0;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++)
            if (widths[i] > 0 && (lengths[j] > 0 || j == 0)) {
                sizes[count++] = (tb_part_size){widths[i], lengths[j], problem->beta};
                if (tiling->slabs > 1)
                    sizes[count++] = (tb_part_size){widths[i], lengths[j], 1};
            }
    return count;
}

/* What the kernel needs beside its operands for a product of these rows. */
static double workspace_of_rows(const budget *budget, const tb_problem *problem, const tb_tiling *tiling,
                                int64_t rows)
{
    const tb_launcher launcher = {.architecture = budget->kernel->architecture,
                                  .multiprocessors = budget->multiprocessors};
    tb_part_size sizes[TB_PART_SIZES];
    const int count = tb_tiling_sizes(problem, tiling, sizes);
    double most = 0;
    for (int i = 0; i < count; i++) {
        tb_problem part = *problem;
        part.m = rows;
        part.n = sizes[i].columns;
        part.k = sizes[i].k;
        part.beta = sizes[i].beta;
        part.a = part.b = part.c = NULL;
        part.lda = part.ldb = part.ldc = tb_pitched(larger(larger(part.m, part.n), part.k));
        double bytes = (double)budget->kernel->workspace(&launcher, budget->kernel, &part);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The same for all products that the tiling makes it multiply: smaller ones may need more, where they are shared out. */
static double workspace_bytes(const budget *budget, const tb_problem *problem, const tb_tiling *tiling)
{
    if (!budget->kernel->workspace)
        return 0;
    tb_tiling complete = *tiling;
    complete.panel_n = choose_panel(tiling, budget->kernel, budget->multiprocessors);
    double whole = workspace_of_rows(budget, problem, &complete, tiling->block_m);
    const int64_t rest = problem->m % tiling->block_m;
    double last = rest > 0 ? workspace_of_rows(budget, problem, &complete, rest) : 0;
    return last > whole ? last : whole;
}

static bool fits(const budget *budget, const tb_problem *problem, const tb_tiling *tiling)
{
    double bytes = tb_tiling_bytes(problem, tiling);
    return bytes <= budget->bytes && bytes + workspace_bytes(budget, problem, tiling) <= budget->bytes;
}

/* With all_of_a, A's slabs stay for the blocks to the right; otherwise they take turns with B's. */
static void set_block(const tb_problem *problem, int64_t block_m, int64_t block_n, bool all_of_a,
                      int64_t ring, tb_tiling *tiling)
{
    tiling->slabs = pieces(larger(problem->k, 1), tiling->slab_k);
    tiling->block_m = block_m;
    tiling->block_n = block_n;
    tiling->next_n = block_n;
    tiling->ring_b = smaller(ring, tiling->slabs);
    tiling->ring_a = all_of_a ? tiling->slabs : tiling->ring_b;
    tiling->ring_c = block_n < problem->n ? 2 : 1;
}

/* Halves what is larger until the tiling fits; with all_of_a, A's rows are the last to be given up. */
static bool shrink(const tb_problem *problem, int64_t block_m, int64_t block_n, bool all_of_a,
                   const budget *budget, tb_tiling *tiling)
{
    for (;;) {
        set_block(problem, block_m, block_n, all_of_a, RING, tiling);
        if (fits(budget, problem, tiling))
            return true;
        if (block_n > BLOCK_LEAST && (all_of_a || block_n >= block_m))
            block_n = round_up(pieces(block_n, 2), BLOCK_LEAST);
        else if (block_m > BLOCK_LEAST)
            block_m = round_up(pieces(block_m, 2), BLOCK_LEAST);
        else
            return false;
    }
}

/* The better of keeping A and loading it again for every block, with slabs of the given size. */
static bool choose_blocks(const tb_problem *problem, int64_t block_m, int64_t block_n, const budget *budget,
                          tb_tiling *tiling)
{
    tb_tiling kept = *tiling, reloaded = *tiling;
    bool keeps = shrink(problem, block_m, block_n, true, budget, &kept);
    bool reloads = shrink(problem, block_m, block_n, false, budget, &reloaded);
    if (keeps && (!reloads || tb_tiling_traffic(problem, &kept) <= tb_tiling_traffic(problem, &reloaded)))
        *tiling = kept;
    else
        *tiling = reloaded;
    return keeps || reloads;
}

/* With room for everything: while the blocks to the right of the first are computed it travels back, and little is left
 * of the last. The widths suit a kernel that takes about as long as the link. */
static void narrow_blocks(const tb_problem *problem, const budget *budget, tb_tiling *tiling)
{
    const int64_t tile_n = budget->kernel->tile_n;
    tb_tiling narrow = *tiling;
    narrow.block_n = round_up((int64_t)((double)problem->n * FIRST_BLOCK_SHARE), tile_n);
    if (narrow.block_n >= problem->n)
        return;
    narrow.next_n = round_up(pieces(problem->n - narrow.block_n, NARROW_BLOCKS), tile_n);
    narrow.ring_c = 0;
    if (fits(budget, problem, &narrow))
        *tiling = narrow;
}

bool tb_choose_tiling(const tb_problem *problem, const tb_kernel *kernel, int multiprocessors, double bytes,
                      int64_t rows_most, tb_tiling *tiling)
{
    *tiling = (tb_tiling){.slab_k = choose_slab(problem)};
    double volume = (double)problem->m * (double)problem->n * (double)problem->k;
    int64_t blocks = volume < TWO_BLOCKS_VOLUME ? 1 : 2;
    int64_t block_m = smaller(problem->m, rows_most);
    int64_t block_n = smaller(round_up(pieces(problem->n, blocks), kernel->tile_n), problem->n);
    block_n = smaller(block_n, rows_most);

    const budget budget = {bytes, kernel, multiprocessors};
    set_block(problem, block_m, block_n, true, TB_RING_MAXIMUM, tiling);
    bool found = fits(&budget, problem, tiling);
    if (found && volume > NARROW_BLOCKS_VOLUME && block_m == problem->m && problem->n <= rows_most)
        narrow_blocks(problem, &budget, tiling);
    for (; !found && tiling->slab_k > 0; tiling->slab_k /= 2)
        if ((found = choose_blocks(problem, block_m, block_n, &budget, tiling)))
            break;
    if (found)
        tiling->panel_n = choose_panel(tiling, kernel, multiprocessors);
    return found;
}
