#include "kernels/structured/launch_structured.h"

#include "kernels/launch.h"
#include "kernels/structured/structured.h"
#include "words/integers.h"
#include "words/lowered.h"

static tb_structured_operand operand_of(const tb_operand *operand)
{
    return (tb_structured_operand){.data = operand->data,
                                   .ld = operand->ld,
                                   .diagonal = operand->diagonal,
                                   .structure = (int32_t)operand->structure,
                                   .stored = (int32_t)operand->stored,
                                   .transposed = operand->transposed,
                                   .conjugated = operand->conjugated && tb_is_complex(operand->element),
                                   .unit_diagonal = operand->unit_diagonal};
}

static tb_structured arguments_of(const tb_product *product, int64_t tiles)
{
    return (tb_structured){.m = product->m,
                           .n = product->n,
                           .k = product->k,
                           .a = operand_of(&product->a),
                           .b = operand_of(&product->b),
                           .c = product->c.data,
                           .ldc = product->c.ld,
                           .alpha_re = product->alpha.re,
                           .alpha_im = product->alpha.im,
                           .beta_re = product->beta.re,
                           .beta_im = product->beta.im,
                           .mask_diagonal = product->diagonal,
                           .c_diagonal = product->c.diagonal,
                           .mask = (int32_t)product->mask,
                           .mask_step = (int32_t)tb_mask_step(product),
                           .c_hermitian = product->c.structure == TB_HERMITIAN,
                           .batches = tb_batches_of(&product->batch),
                           .tiles = (int32_t)tiles};
}

tb_status tb_launch_structured(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    (void)schedule, (void)workspace;
    const int64_t tiles_m = tb_ceil_div(product->m, TB_STRUCTURED_TILE_M),
                  tiles_n = tb_ceil_div(product->n, TB_STRUCTURED_TILE_N);
    const int64_t tiles = tiles_m * tiles_n, members = tb_members_of(product);
    if (tiles == 0)
        return TB_OK;
    if (tiles_m > TB_BLOCKS_MAXIMUM / tiles_n / members)
        return TB_UNSUPPORTED;
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        const tb_structured arguments = arguments_of(&one, tiles);
        TB_TRY(launcher->launch(launcher, kernel->entries, tiles * members, kernel->threads, 0, &arguments));
    }
    return TB_OK;
}
