/* Products of steps as rows compute them, and room for what is written out. */
#include "sequences/sequence.h"
#include "words/integers.h"

enum { WORKSPACE_ALIGNMENT = 256, LINE_BYTES = 128 };

void tb_place_operand(tb_matrix *operand, void *workspace, size_t *used)
{
    operand->ld = tb_round_up(operand->rows, LINE_BYTES / (int64_t)tb_bytes_of(operand->element));
    operand->data = workspace ? (char *)workspace + *used : NULL;
    *used += (tb_pitch(operand) * (size_t)operand->columns + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT *
             WORKSPACE_ALIGNMENT;
}

const tb_product *tb_lower_step(const tb_product *product, void *workspace, size_t *used, tb_product *lowered)
{
    if (tb_is_plain(product) || product->in_place != TB_OUT_OF_PLACE)
        return product;
    *lowered = tb_lowered(product);
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (lowered->expanded[role].from > 0)
            tb_place_operand(&lowered->operands[role].matrix, workspace, used);
    return lowered;
}
