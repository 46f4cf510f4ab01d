#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/masked/masked_copy.h"
#include "words/integers.h"

static tb_module module_masked_copy = {.name = "masked_copy"};
tb_entry tb_entries_masked_copy[TB_REAL_ELEMENTS] = {
    [TB_FP32] = {&module_masked_copy, "masked_copy_fp32", 0, NULL, 0, TB_EARLY},
    [TB_FP64] = {&module_masked_copy, "masked_copy_fp64", 0, NULL, 0, TB_EARLY},
};

tb_status tb_launch_masked_copy(const tb_launcher *launcher, const tb_masked_copy *copy)
{
    const tb_matrix *source = &copy->source, *target = &copy->target;
    if (!tb_is_masked_copy(copy))
        return TB_UNSUPPORTED;
    const int64_t parts = tb_is_complex(source->element) ? 2 : 1,
                  blocks_of_rows = tb_ceil_div(parts * source->rows, TB_MASKED_ROWS),
                  blocks_of_columns = tb_ceil_div(source->columns, TB_MASKED_COLUMNS);
    if (blocks_of_rows == 0 || blocks_of_columns == 0)
        return TB_OK;
    if (blocks_of_columns > TB_BLOCKS_MAXIMUM / blocks_of_rows)
        return TB_UNSUPPORTED;
    const tb_masked_arguments arguments = {
        .source = source->data,
        .target = target->data,
        .rows = parts * source->rows,
        .columns = source->columns,
        .ld_source = parts * source->ld,
        .ld_target = parts * target->ld,
        .diagonal = copy->diagonal,
        .row_bits = tb_is_complex(source->element) + copy->pairs,
        .lower = copy->mask == TB_LOWER,
        .blocks_of_rows = (uint32_t)blocks_of_rows,
    };
    return launcher->launch(launcher, &tb_entries_masked_copy[tb_real_of(source->element)],
                            blocks_of_rows * blocks_of_columns, TB_MASKED_ROWS, 0, &arguments);
}
