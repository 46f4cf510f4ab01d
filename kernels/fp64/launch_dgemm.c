/* Launching dgemm_mma, by the schedule that has been prepared (schedule_dgemm.c). */
#include "kernels/fp64/launch_dgemm.h"

#include "kernels/launch.h"
#include "kernels/pieces.h"
#include "words/integers.h"
#include "words/lowered.h"

#define REDUCE_THREADS 256
#define SIGN_BIT       0x80000000u /* in the upper word of a double */

static tb_module module_dgemm_mma_reduce = {.name = "dgemm_mma_reduce"};
tb_entry tb_entry_dgemm_mma_reduce = {&module_dgemm_mma_reduce, "dgemm_mma_reduce", 0, NULL, 0, true};

static tb_status launch_reduce(const tb_launcher *launcher, const tb_kernel *kernel,
                               tb_dgemm_arguments *arguments)
{
    const int64_t parts = arguments->order.zeros
                              ? arguments->tile_pieces
                              : tb_ceil_div(arguments->steps * arguments->pieces, arguments->dealt);
    arguments->reduce_lanes = tb_reduce_lanes(parts);
    const int64_t lanes_a_tile = kernel->tile_m * kernel->tile_n / 2;
    const int64_t blocks = arguments->dealt / arguments->steps * (lanes_a_tile / arguments->reduce_lanes);
    return launcher->launch(launcher, &tb_entry_dgemm_mma_reduce, blocks, REDUCE_THREADS, 0, arguments);
}

/* Its operands are the first one's in each other's place, which lie alike. */
static void tell_second_term(tb_dgemm_arguments *arguments)
{
    const int64_t b_behind_a = (int64_t)((uintptr_t)arguments->problem.b - (uintptr_t)arguments->problem.a);
    arguments->second_steps = (int32_t)(arguments->steps / 2);
    arguments->to_second_a = b_behind_a - arguments->second_steps * arguments->jump_a;
    arguments->to_second_b = -b_behind_a - arguments->second_steps * arguments->jump_b;
}

/* The product is real; where the row is for complex numbers, A and B lie as these. */
static tb_status launch(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *given,
                        const tb_schedule *schedule, void *workspace)
{
    const tb_product all = tb_dgemm_all_terms(given), *product = &all;
    const tb_dgemm_schedule *own = TB_DEAL(schedule, tb_dgemm_schedule);
    if (own->tiles_m > TB_BLOCKS_MAXIMUM / own->tiles_n / tb_members_of(product) ||
        product->k > TB_DGEMM_K_LIMIT)
        return TB_UNSUPPORTED;
    if (own->tiles == 0)
        return TB_OK;
    const int32_t chains = tb_dgemm_chains_of(kernel, product, own);
    const int32_t alternating =
        own->piece_steps > 0 ? 1 : tb_alternating_pieces(own->tiles, own->whole, own->pieces);
    const int32_t apart = chains * alternating;
    /* A line of numbers across k is `parts` steps of the real product's k. */
    const int64_t jump_k = (int64_t)apart * kernel->tile_k, parts = tb_dgemm_reals_of(kernel);
    tb_dgemm_arguments arguments = {
        .problem = tb_dgemm_of(product),
        .batches = tb_batches_of(&product->batch),
        .whole = own->whole,
        .steps = own->steps,
        .dealt = (own->tiles - own->whole) * own->steps,
        .pieces = own->pieces,
        .chains = chains,
        .alternating = alternating,
        .apart = apart,
        .tile_k = kernel->tile_k,
        .jump_a = tb_panel_jump(product->a.ld / parts, product->a.transposed, jump_k, sizeof(double)),
        .jump_b = tb_panel_jump(product->b.ld / parts, !product->b.transposed, jump_k, sizeof(double)),
        .partial = workspace,
        .cluster = own->cluster,
        .tile_m = kernel->tile_m,
        .tile_n = kernel->tile_n,
        .tile_pieces = own->tile_pieces,
        .piece_steps = own->piece_steps,
        .alone = tb_dgemm_alone_in(kernel, product),
        .order = tb_dgemm_order_of(kernel, own, product, launcher->target),
        .masked = tb_dgemm_tiles_of(kernel, product),
    };
    if (product->terms == 2)
        tell_second_term(&arguments);
    arguments.problem.unless = launcher->unless;
    arguments.problem.conjugate_b = product->a.conjugated != product->b.conjugated ? SIGN_BIT : 0;
    arguments.problem.conjugate_sums = product->a.conjugated ? SIGN_BIT : 0;
    const bool as_vectors = kernel->alignment == 1 && tb_moves_vectors(product);
    tb_entry *entry = &kernel->entries[tb_transposition(product) + (as_vectors ? TB_DGEMM_VECTOR : 0)];
    if (own->cluster > 1)
        return launcher->launch_clusters(launcher, entry, own->pieces, own->cluster, kernel->threads,
                                         kernel->shared_bytes, &arguments);
    /* The first launch writes whole tiles of C: from there on nothing may fail that can be seen to before. */
    if (own->pieces > 0)
        TB_TRY(launcher->load(launcher, &tb_entry_dgemm_mma_reduce));
    TB_TRY(launcher->launch(launcher, entry, own->whole + own->pieces, kernel->threads, kernel->shared_bytes,
                            &arguments));
    return own->pieces > 0 ? launch_reduce(launcher, kernel, &arguments) : TB_OK;
}

tb_status tb_launch_dgemm_mma(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                              const tb_schedule *schedule, void *workspace)
{
    return launch(launcher, kernel, product, schedule, workspace);
}

/* The real product that a complex one is, with A and B as they lie, whose leading dimensions count reals. Of
 * a product that does not read them they may lie anywhere, but no copy of 16 bytes may begin just there, not
 * even one of nothing. */
static tb_product real_product(const tb_product *product)
{
    const tb_product first = tb_term_of(product, 0);
    tb_product real = tb_lowered(&first);
    real.terms = product->terms;
    for (tb_role role = TB_A; role <= TB_B; role++) {
        real.operands[role] = product->operands[role];
        real.operands[role].matrix = tb_real_view(&product->operands[role].matrix);
        real.expanded[role] = (tb_expanded){.from = 0};
        real.batch.members[role] = product->batch.members[role];
        real.batch.members[role].stride *= 2;
        if (product->k == 0) {
            real.operands[role].data = NULL;
            real.batch.members[role] = (tb_members){.stride = 0};
        }
    }
    return real;
}

void tb_zgemm_mma_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                          tb_schedule *schedule)
{
    const tb_product real = real_product(product);
    tb_dgemm_mma_prepare(kernel, &real, target, schedule);
}

tb_status tb_launch_zgemm_mma(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                              const tb_schedule *schedule, void *workspace)
{
    const tb_product real = real_product(product);
    return launch(launcher, kernel, &real, schedule, workspace);
}
