#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/masked/masked_copy.h"
#include "words/integers.h"

static tb_module module_masked_copy = {.name = "masked_copy"};
tb_entry tb_entries_masked_copy[] = {[TB_FP32] = {&module_masked_copy, "masked_copy_fp32", 0, NULL, 0, TB_EARLY},
                                     [TB_FP64] = {&module_masked_copy, "masked_copy_fp64", 0, NULL, 0,
                                                  TB_EARLY}};

tb_status tb_launch_masked_copy(const tb_launcher *launcher, const tb_masked_copy *copy)
{
    const tb_matrix *source = &copy->source, *target = &copy->target;
    const int64_t parts = tb_is_complex(source->element) ? 2 : 1;
    const tb_masked_arguments arguments = {
        .source = source->data,
        .target = target->data,
        .rows = parts * source->rows,
        .columns = source->columns,
        .ld_source = parts * source->ld,
        .ld_target = parts * target->ld,
        .edge = parts * (copy->diagonal + (copy->mask == TB_UPPER ? 1 : 0)),
        .step = parts,
        .row_blocks = tb_ceil_div(parts * source->rows, TB_MASKED_ROWS),
        .from_edge = copy->mask == TB_LOWER,
    };
    const int64_t lines = tb_ceil_div(source->columns, TB_MASKED_COLUMNS);
    if (arguments.row_blocks == 0 || lines == 0)
        return TB_OK;
    if (copy->mask == TB_FULL || lines > TB_BLOCKS_MAXIMUM / arguments.row_blocks)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, &tb_entries_masked_copy[tb_real_of(source->element)],
                            lines * arguments.row_blocks, TB_MASKED_ROWS, 0, &arguments);
}
