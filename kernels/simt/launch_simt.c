/* Launching the SIMT family as its schedule says: the tiles and pieces, and what adds pieces up. */
#include "kernels/simt/launch_simt.h"

#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/simt/simt.h"
#include "words/integers.h"

#define REDUCE_THREADS 256

/* Before sm_80 there are two stages, whatever the row says, and not more shared memory than this. */
#define SHARED_MAXIMUM_SM75 65536

/* Compute capabilities whose code cuts chains. */
#define TOTALS_FIRST 90
#define TOTALS_END   100

/* Shared memory for totals, where a block has chains to cut. */
static int totals_bytes(const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_simt_schedule *schedule, int64_t dealt)
{
    const int64_t steps = schedule->whole > 0 ? schedule->steps : tb_ceil_div(dealt, schedule->pieces);
    if (launcher->target.architecture < TOTALS_FIRST || launcher->target.architecture >= TOTALS_END ||
        steps * kernel->segment_k <= TB_SIMT_CHAIN_LEAST)
        return 0;
    return TB_SIMT_TOTALS_BYTES(kernel->tile_m, kernel->tile_n, kernel->tile_k / kernel->segment_k,
                                kernel->shared_bytes, kernel->blocks);
}

static int shared_bytes(const tb_launcher *launcher, const tb_kernel *kernel, int totals)
{
    bool small = launcher->target.architecture < 80 && kernel->shared_bytes > SHARED_MAXIMUM_SM75;
    return small ? SHARED_MAXIMUM_SM75 : kernel->shared_bytes + totals;
}

static tb_module module_sgemm_simt_reduce = {.name = "sgemm_simt_reduce"};
tb_entry tb_entry_simt_reduce = {&module_sgemm_simt_reduce, "sgemm_simt_reduce", 0, NULL, 0, TB_EARLY};

static tb_status launch_reduce(const tb_launcher *launcher, const tb_kernel *kernel,
                               tb_simt_arguments *arguments)
{
    int64_t parts = tb_ceil_div(arguments->steps * arguments->pieces, arguments->dealt);
    arguments->reduce_lanes = tb_reduce_lanes(parts);
    int64_t lanes_a_tile = kernel->tile_m * kernel->tile_n / 4;
    int64_t blocks = arguments->dealt / arguments->steps * (lanes_a_tile / arguments->reduce_lanes);
    return launcher->launch(launcher, &tb_entry_simt_reduce, blocks, REDUCE_THREADS, 0, arguments);
}

/* Whether panels behind a short one are aligned as vectors along k have to be. */
static bool may_begin_short(const tb_product *product)
{
    return product->k % 4 == 0 || !tb_moves_vectors(product) ||
           (!product->a.transposed && product->b.transposed);
}

/* The variant that moves 16 bytes at a time, where both operands allow it in every product. */
static tb_entry *choose_entry(const tb_kernel *kernel, const tb_product *product)
{
    const bool vectors = tb_moves_vectors(product);
    return &kernel->entries[tb_transposition(product) + (vectors ? TB_SIMT_VECTOR : 0)];
}

tb_status tb_launch_simt(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                         const tb_schedule *schedule, void *workspace)
{
    const tb_simt_schedule *own = TB_DEAL(schedule, tb_simt_schedule);
    if (own->tiles_m * own->tiles_n > TB_BLOCKS_MAXIMUM / tb_members_of(product) || own->steps > INT32_MAX)
        return TB_UNSUPPORTED;
    if (own->tiles == 0)
        return TB_OK;
    const int64_t dealt = (own->tiles - own->whole) * own->steps;
    const int totals = totals_bytes(launcher, kernel, own, dealt);
    const int shared = shared_bytes(launcher, kernel, totals);
    const tb_tile_order order = tb_simt_order_of(kernel, own, product, launcher->target);
    const bool ascending = !order.zeros && may_begin_short(product);
    /* The last panel along k is not to come before what is spread over all of k. */
    const int32_t alternating = ascending ? tb_alternating_pieces(own->tiles, own->whole, own->pieces) : 1;
    const int64_t jump_k = (int64_t)alternating * kernel->tile_k;
    tb_simt_arguments arguments = {
        .problem = tb_sgemm_of(product),
        .batches = tb_batches_of(&product->batch),
        .tiles_m = own->tiles_m,
        .tiles_n = own->tiles_n,
        .whole = own->whole,
        .steps = own->steps,
        .dealt = dealt,
        .pieces = own->pieces,
        .jump_a = tb_panel_jump(product->a.ld, product->a.transposed, jump_k, sizeof(float)),
        .jump_b = tb_panel_jump(product->b.ld, !product->b.transposed, jump_k, sizeof(float)),
        .partial = workspace,
        .cluster = own->cluster,
        .alternating = alternating,
        .ascending = ascending,
        .tile_m = kernel->tile_m,
        .tile_n = kernel->tile_n,
        .tile_k = kernel->tile_k,
        .totals = totals > 0,
        .order = order,
        .masked = tb_simt_tiles_of(kernel, product),
    };
    tb_entry *entry = choose_entry(kernel, product);
    if (own->cluster > 1)
        return launcher->launch_clusters(launcher, entry, own->whole + own->pieces, own->cluster,
                                         kernel->threads, shared, &arguments);
    /* The first launch writes whole tiles of C: from there on nothing may fail that can be seen to before. */
    if (own->pieces > 0)
        TB_TRY(launcher->load(launcher, &tb_entry_simt_reduce));
    TB_TRY(launcher->launch(launcher, entry, own->whole + own->pieces, kernel->threads, shared, &arguments));
    return own->pieces > 0 ? launch_reduce(launcher, kernel, &arguments) : TB_OK;
}
