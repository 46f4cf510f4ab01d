#include "kernels/simt/launch_simt.h"

#include "kernels/launch.h"
#include "kernels/simt/simt.h"

/* Warps that keep a multiprocessor's four schedulers busy, two each, given this family's independent work in
 * every thread. */
#define SATURATING_THREADS 256

/* A piece of k shorter than this many steps costs more to start and to add up than it gains. */
#define SPLIT_MINIMUM_K 256
#define SPLITS_MAXIMUM  64

/* The second pass: enough blocks to fill any device, each looping over its share of the elements. */
#define REDUCE_THREADS        256
#define REDUCE_BLOCKS_MAXIMUM 4096

extern tb_entry tb_entry_simt_reduce;

static int64_t count_tiles(const tb_kernel *kernel, const tb_problem *problem)
{
    return tb_pieces(problem->m, kernel->tile_m) * tb_pieces(problem->n, kernel->tile_n);
}

/* As many pieces as it takes to give every multiprocessor its share of blocks. */
int tb_simt_splits(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors)
{
    int64_t saturating = tb_pieces(SATURATING_THREADS, kernel->threads);
    int64_t wanted = multiprocessors * saturating / count_tiles(kernel, problem);
    int64_t worthwhile = problem->k / SPLIT_MINIMUM_K;
    int64_t splits = wanted < worthwhile ? wanted : worthwhile;
    return splits < 1 ? 1 : splits > SPLITS_MAXIMUM ? SPLITS_MAXIMUM : (int)splits;
}

size_t tb_simt_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem)
{
    int splits = tb_simt_splits(kernel, problem, launcher->multiprocessors);
    return splits == 1 ? 0 : (size_t)splits * (size_t)problem->m * (size_t)problem->n * sizeof(float);
}

/* The variant that moves 16 bytes at a time, where both operands allow it in every batch. */
static int choose_variant(const tb_problem *problem, int64_t stride_a, int64_t stride_b)
{
    const tb_kernel aligned = {.alignment = 4};
    bool vector = tb_kernel_takes(&aligned, problem->a, problem->lda) && stride_a % 4 == 0 &&
                  tb_kernel_takes(&aligned, problem->b, problem->ldb) && stride_b % 4 == 0;
    return tb_transposition(problem) + (vector ? TB_SIMT_VECTOR : 0);
}

/* Before sm_80 there are two stages, whatever the row says: the panels in between wait in registers. */
static int shared_bytes(const tb_launcher *launcher, const tb_kernel *kernel)
{
    if (launcher->architecture >= 80)
        return kernel->shared_bytes;
    return 2 * TB_SIMT_STAGE_BYTES(kernel->tile_m, kernel->tile_n, kernel->tile_k);
}

static tb_status launch_reduce(const tb_launcher *launcher, const tb_simt_arguments *arguments)
{
    int64_t elements = arguments->problem.m * arguments->problem.n * arguments->batches;
    int64_t blocks = tb_pieces(elements, REDUCE_THREADS);
    blocks = blocks < REDUCE_BLOCKS_MAXIMUM ? blocks : REDUCE_BLOCKS_MAXIMUM;
    return launcher->launch(launcher, &tb_entry_simt_reduce, blocks, REDUCE_THREADS, 0, arguments);
}

tb_status tb_launch_simt_batched(const tb_launcher *launcher, const tb_kernel *kernel,
                                 const tb_problem *problem, int32_t batches, int64_t stride_a,
                                 int64_t stride_b, int64_t stride_c, void *workspace)
{
    tb_simt_arguments arguments = {
        .problem = *problem,
        .stride_a = stride_a,
        .stride_b = stride_b,
        .stride_c = stride_c,
        .partial = workspace,
        .batches = batches,
        .splits = tb_simt_splits(kernel, problem, launcher->multiprocessors),
    };
    /* Whole steps, so that only the last piece has a remainder; rounding up may leave fewer pieces. */
    arguments.chunk = tb_pieces(tb_pieces(problem->k, arguments.splits), kernel->tile_k) * kernel->tile_k;
    if (arguments.splits > 1)
        arguments.splits = (int32_t)tb_pieces(problem->k, arguments.chunk);

    int64_t tiles = count_tiles(kernel, problem);
    if (tiles > TB_BLOCKS_MAXIMUM / batches / arguments.splits)
        return TB_UNSUPPORTED;
    TB_TRY(launcher->launch(launcher, &kernel->entries[choose_variant(problem, stride_a, stride_b)],
                            tiles * batches * arguments.splits, kernel->threads,
                            shared_bytes(launcher, kernel), &arguments));
    return arguments.splits > 1 ? launch_reduce(launcher, &arguments) : TB_OK;
}

tb_status tb_launch_simt(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                         void *workspace)
{
    return tb_launch_simt_batched(launcher, kernel, problem, 1, 0, 0, 0, workspace);
}
